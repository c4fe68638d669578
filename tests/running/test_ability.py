"""Whether an engine can compute on a machine."""

from dataclasses import replace

import pytest
from tests.running.test_shares import ENGINE, card, machine

from weighbridge.running.ability import unable, usable_cards
from weighbridge_engines.api import Cause, Hardware


@pytest.mark.parametrize(
    ("vendor", "integrated", "counts"),
    [
        ("intel", False, True),
        ("intel", True, False),
        ("apple", True, True),
        ("nvidia", True, True),
        ("amd", False, False),
    ],
)
def test_which_cards_count(vendor, integrated, counts):
    hardware = Hardware(frozenset({"intel", "apple", "nvidia"}))
    one = replace(card(vendor=vendor), integrated=integrated)
    assert usable_cards(hardware, machine(one)) == ([one] if counts else [])


def test_a_usual_build_that_needs_a_card_where_another_one_does_not():
    without = machine(problems=[Cause("hardware.no_card")])
    hardware = Hardware(frozenset({"nvidia"}), processor_build="cpu")
    usual = replace(ENGINE, hardware=hardware, version=lambda: "0.33.0")
    absent = replace(ENGINE, hardware=hardware, missing=lambda: Cause("program.to_get"), version=lambda: "0.33.0+cpu")
    assert [unable(one, without).code for one in (usual, absent)] == ["program.needs_card"] * 2
    assert unable(replace(usual, version=lambda: "0.33.0+cpu"), without) is None
    assert [unable(usual, one) for one in (machine(card()), machine(), None)] == [None, None, None]
