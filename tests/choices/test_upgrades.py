"""Machines with more in them."""

from tests.choices.made_speeds import FAST_RTX, here
from tests.estimates.made_blueprints import GIB

from weighbridge.choices.upgrades import cards_to_add, faster_memory, more_memory, one_more_card, with_card
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.memory_types import load_memory_types

TABLE = load_table()


def test_what_others_use_of_memory_stays_in_use():
    first, *_ = more_memory(here(free_gib=20, total_gib=31.2).machine)
    assert first.machine.memory.total_bytes == 48 * GIB  # 31.2 are the 32 that are there
    assert first.machine.memory.available_bytes == 48 * GIB - int(31.2 * GIB) + 20 * GIB


def test_memory_that_is_not_known_cannot_be_added_to():
    assert list(more_memory(here(free_gib=None).machine)) == []
    assert list(faster_memory(here(bandwidth=None).machine, load_memory_types())) == []


def test_only_memory_that_is_faster():
    kinds = [upgrade.memory_type for upgrade in faster_memory(here().machine, load_memory_types())]
    assert all(kind.bandwidth.low_gbs > 100 for kind in kinds)
    assert "DDR5-6400 dual channel (2x64-bit)" in [kind.name for kind in kinds]


def test_one_more_is_all_free_and_another_place():
    (upgrade,) = one_more_card(here(FAST_RTX).machine, [FAST_RTX])
    first, second = upgrade.machine.devices
    assert (first.id, second.id, second.memory.available_bytes) == ("cuda0", "cuda0+", 24 * GIB)
    assert list(one_more_card(here().machine, [])) == []


def test_cards_that_fit_into_a_desktop_the_smallest_first():
    cards = cards_to_add(TABLE)
    sizes = [card.memory_bytes for card in cards]
    assert sizes == sorted(sizes)
    names = " ".join(card.name for card in cards)
    assert "RTX 4090" in names
    assert "Radeon RX 7900 XTX" in names
    assert "Arc B580" in names
    for word in (
        "Laptop",
        "Mobile",
        "Max-Q Design",
        "RX 6800M",
        "RX 7700S",
        "A770M",
        "H100",
        "Instinct",
        "Apple",
        "SXM",
    ):
        assert word not in names
    twelve = [card.name for card in cards if card.memory_bytes == 12 * GIB]
    assert twelve.index("GeForce RTX 3060") < twelve.index("RTX A2000 12GB")


def test_a_card_of_the_table_in_this_machine():
    card = next(card for card in cards_to_add(TABLE) if card.name == "GeForce RTX 4090")
    upgrade = with_card(here().machine, card, "llama_server")
    assert upgrade.device.seen_by[0].id == "CUDA0"
    assert upgrade.machine.memory == here().machine.memory
    assert upgrade.device.memory.total_bytes == 24 * GIB
