"""What a server program is told of the cards that are here."""

from dataclasses import replace

import pytest

from weighbridge.base.errors import Refused
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind
from weighbridge.running.shares import BESIDE_BYTES, LEFT_BYTES, CardMemory, Need, fitted, share_of
from weighbridge_engines.api import Cause, Engine, Hardware, Load

GIB = 1 << 30
CARD = CardMemory(24 * GIB, 22 * GIB)
"""Of which 0.72 GiB stay free for others."""
LOAD = Load("/m")
ENGINE = Engine("x", "X", frozenset({"safetensors"}), frozenset(), "x", lambda: None)
HARDWARE = Hardware(frozenset({"nvidia"}), processor=False, least_compute_capability="8.0", share="all")


@pytest.mark.parametrize(
    ("kind", "need", "cards", "share"),
    [
        # 10 GiB and a tenth more, and 1.5 GiB beside: 12.5 of 24.
        ("all", Need(8 * GIB, 10 * GIB), [CARD], 0.53),
        # 11 of 24, what is beside it stands outside.
        ("static", Need(8 * GIB, 10 * GIB), [CARD], 0.46),
        # 2.2 GiB of the 14 that are free once the weights are there.
        ("rest", Need(8 * GIB, 10 * GIB), [CARD], 0.16),
        # More than is free: what is free, 21.28 of 24.
        ("all", Need(30 * GIB, 40 * GIB), [CARD], 0.88),
        # Not known: what is free.
        ("all", Need(8 * GIB, None), [CARD], 0.88),
        ("static", Need(8 * GIB, None), [CARD], 0.82),
        # Two cards carry a half each; the fuller one decides what is free.
        ("all", Need(8 * GIB, 10 * GIB), [CARD, CARD], 0.3),
        ("all", Need(8 * GIB, None), [CARD, CardMemory(24 * GIB, 6 * GIB)], 0.22),
        # Nothing is free, or there is no card.
        ("all", Need(GIB, GIB), [CardMemory(24 * GIB, LEFT_BYTES)], None),
        ("static", Need(GIB, GIB), [CardMemory(24 * GIB, LEFT_BYTES + BESIDE_BYTES)], None),
        ("rest", Need(30 * GIB, 31 * GIB), [CARD], None),
        ("all", Need(GIB, GIB), [], None),
        # A tiny model on a huge card still gets what such a server needs beside it.
        ("all", Need(1 << 20, 2 << 20), [CardMemory(141 * GIB, 140 * GIB)], 0.02),
    ],
)
def test_a_share_of_the_cards_memory(kind, need, cards, share):
    assert share_of(kind, need, cards) == share


def test_a_share_never_takes_more_than_is_free():
    for free in range(1, 24):
        card = CardMemory(24 * GIB, free * GIB)
        share = share_of("all", Need(20 * GIB, 23 * GIB), [card])
        assert share is None or share * card.total_bytes <= card.free_bytes - LEFT_BYTES


def machine(*devices, problems=()):
    host = Memory(MemoryKind.SHARED, 32 * GIB, 20 * GIB)
    return Machine("Linux", Cpu(None, None, None, None), host, devices, tuple(problems))


def card(number=0, capability="8.6", free=22 * GIB, vendor="nvidia", **changes):
    memory = Memory(MemoryKind.DEDICATED, 24 * GIB, free)
    return Device(f"cuda{number}", vendor, "RTX 3090", memory, compute_capability=capability, **changes)


def told(load=LOAD, hardware=HARDWARE, here=None, need=None):
    engine = replace(ENGINE, hardware=hardware)
    return dict(fitted(engine, load, lambda: need or Need(8 * GIB, 10 * GIB), lambda: here or machine(card())).extra)


def test_the_share_is_told_by_what_is_free_now():
    assert told() == {"memory_share": 0.53}
    assert told(here=machine(card(free=8 * GIB))) == {"memory_share": 0.3}


def test_what_was_asked_for_stays():
    asked = replace(LOAD, extra={"memory_share": 0.9})
    assert told(asked) == {"memory_share": 0.9}


def test_a_load_over_two_cards():
    two = replace(LOAD, extra={"tensor_parallel": 2})
    assert told(two, here=machine(card(), card(1)))["memory_share"] == 0.3
    assert told(two) == {"tensor_parallel": 2}


def test_what_does_not_tell_its_memory_is_left_to_the_server():
    assert told(here=machine(card(free=None))) == {}


def test_without_a_card_it_is_told_so():
    on_processor = Hardware(frozenset({"nvidia"}), without_card={"dtype": "float32"})
    assert told(hardware=on_processor, here=machine()) == {"dtype": "float32"}
    asked = replace(LOAD, extra={"dtype": "bfloat16"})
    assert told(asked, on_processor, machine()) == {"dtype": "bfloat16"}
    assert told(hardware=on_processor) == {}
    quick = replace(machine(), cpu=Cpu(None, None, None, None, extensions=("AVX2", "AVX-512BF16")))
    unless = replace(on_processor, unless_with=frozenset({"AVX-512BF16", "AMX"}))
    assert [told(hardware=one, here=quick) for one in (on_processor, unless)] == [{"dtype": "float32"}, {}]


def test_where_it_needs_a_card_and_there_is_none():
    with pytest.raises(Refused) as refusal:
        told(here=machine(problems=[Cause("hardware.no_card")]))
    assert (refusal.value.code, refusal.value.values["vendors"]) == ("program.needs_card", "NVIDIA")
    with pytest.raises(Refused):
        told(here=machine(card(vendor="intel")))


def test_a_card_that_could_not_be_asked_stands_in_nobodys_way():
    assert told(here=machine(problems=[Cause("nvidia.slow")])) == {}
    assert told(here=machine(card(capability=None))) == {"memory_share": 0.53}


def test_a_card_that_is_too_old():
    with pytest.raises(Refused) as refusal:
        told(here=machine(card(capability="7.5")))
    assert (refusal.value.code, refusal.value.values["least"]) == ("program.needs_newer_card", "8.0")
    assert told(here=machine(card(capability="7.5"), card(1, "8.9")))["memory_share"] == 0.53


def test_an_engine_that_says_nothing_of_hardware_is_left_alone():
    def look():
        raise AssertionError("nobody looks")

    assert fitted(ENGINE, LOAD, lambda: Need(1, 1), look) is LOAD
