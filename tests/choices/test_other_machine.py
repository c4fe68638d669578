"""Models weighed against a machine that somebody thinks of."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import GIB, RTX, around

from weighbridge.base.errors import Refused
from weighbridge.choices.other_machine import OtherMachine, cards_by_name, machine_in_words
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.machine import Bandwidth, Device, Memory, MemoryKind, Sight
from weighbridge.hardware.memory_types import MemoryType

TABLE = load_table()
THIN = "\u202f"
SLOW = Bandwidth(40, 40, "", "2026-01-01")
FAST = MemoryType("DDR5-5600 dual channel", Bandwidth(89.6, 89.6, "JEDEC"))


def here(*devices):
    made = around(*devices)
    return replace(made, machine=replace(made.machine, bandwidth=SLOW))


def test_two_cards_of_the_table_and_more_memory():
    other = OtherMachine(TABLE.card("RTX 4090"), 2, 64 * GIB)
    there = other.described(here(RTX))
    host, first, second = there.places("llama_server")
    assert [place.total_bytes // GIB for place in (host, first, second)] == [64, 24, 24]
    assert host.free_bytes == 61 * GIB
    assert machine_in_words(there.machine) == f"2 × NVIDIA GeForce RTX 4090 and 64.0{THIN}GiB of memory"
    assert there.told == there.running == ()


def test_more_memory_alone_keeps_the_cards_and_is_as_fast():
    there = OtherMachine(ram_bytes=128 * GIB).described(here(RTX))
    assert there.machine.devices == (RTX,)
    assert there.machine.bandwidth == SLOW
    assert there.machine.memory.total_bytes == 128 * GIB


def test_faster_memory_is_as_fast_as_published():
    assert OtherMachine(memory_type=FAST).described(here()).machine.bandwidth == FAST.bandwidth


def test_what_borrows_from_memory_borrows_its_share_of_more():
    shared = Memory(MemoryKind.SHARED, 32 * GIB, 20 * GIB, 16 * GIB)
    borrowing = Device("vulkan0", "intel", "Iris", shared, seen_by=(Sight("llama_server", "Vulkan0"),))
    (device,) = OtherMachine(ram_bytes=64 * GIB).described(here(borrowing)).machine.devices
    assert (device.memory.total_bytes, device.memory.usable_bytes) == (64 * GIB, 32 * GIB)


def test_a_chip_in_one_has_the_memory_that_is_here_unless_told():
    chip = TABLE.card("Apple M4 Max (40-core GPU)")
    there = OtherMachine(chip).described(here(RTX))
    (place,) = there.places("llama_server")
    assert there.machine.memory.total_bytes == 32 * GIB
    assert there.machine.bandwidth == chip.bandwidth
    assert place.name == chip.driver_name
    with pytest.raises(Refused, match=r"machine\.one_chip"):
        OtherMachine(chip, 2).described(here())


def test_engines_of_one_maker_s_cards_do_not_use_another_s():
    there = OtherMachine(TABLE.card("Radeon RX 7900 XTX")).described(here())
    assert len(there.places("llama_server")) == 2
    assert len(there.places("exllamav3")) == 1


def test_cards_sold_in_several_sizes_are_several_to_choose_from():
    found = cards_by_name(TABLE)
    sizes = [found[f"GeForce RTX 3060 {gib}GB"].memory_bytes // GIB for gib in (6, 8, 12)]
    assert sizes == [6, 8, 12]
    assert "GeForce RTX 3060" not in found
    assert found["GeForce RTX 4090"].memory_bytes == 24 * GIB


def test_without_cards_it_says_so():
    assert machine_in_words(here().machine) == f"no card and 32.0{THIN}GiB of memory"


def test_as_here_is_this_machine():
    assert OtherMachine().is_this
    assert not OtherMachine(ram_bytes=GIB).is_this
