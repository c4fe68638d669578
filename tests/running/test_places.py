"""The memories that an engine's build can use, out of what a machine has."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hardware.test_machines import seen

from weighbridge.estimates.estimate import HOST, PlaceKind
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.running.places import given_back, places_for, places_with
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Load

GIB = 1 << 30
MACHINES = Path(__file__).parents[1] / "hardware" / "machines"
CARD = Device(
    "cuda0", "nvidia", "RTX", Memory(MemoryKind.DEDICATED, 24 * GIB, 20 * GIB), seen_by=(Sight("llama", "CUDA0"),)
)
PART = Device("vulkan1", "intel", "UHD", Memory(MemoryKind.SHARED, 8 * GIB, None), seen_by=(Sight("llama", "Vulkan1"),))
CHIP = Device(
    "metal0",
    "apple",
    "M3",
    Memory(MemoryKind.UNIFIED, 16 * GIB, 9 * GIB, usable_bytes=11 * GIB),
    seen_by=(Sight("llama", "MTL0"),),
)


def machine(*devices, total=32 * GIB, free=12 * GIB):
    return Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, total, free), devices)


def kinds(places):
    return [(place.id, place.kind.value, place.api) for place in places]


def test_system_memory_alone():
    (host,) = places_for(machine(), "llama")
    assert (host.id, host.kind, host.total_bytes, host.free_bytes) == (HOST, PlaceKind.HOST, 32 * GIB, 12 * GIB)


def test_a_card_that_the_engine_sees_follows_system_memory():
    host, card = places_for(machine(CARD), "llama")
    assert kinds([host, card]) == [(HOST, "host", ""), ("cuda0", "dedicated", "cuda")]
    assert (card.name, card.total_bytes, card.free_bytes) == ("RTX", 24 * GIB, 20 * GIB)
    assert (host.sight, card.sight) == ("", "CUDA0")


def test_what_only_another_engine_sees_is_no_place():
    assert kinds(places_for(machine(CARD), "another")) == [(HOST, "host", "")]


def test_a_card_hides_a_part_that_borrows():
    assert kinds(places_for(machine(CARD, PART), "llama")) == [(HOST, "host", ""), ("cuda0", "dedicated", "cuda")]


def test_a_part_that_borrows_makes_system_memory_one_for_both_and_limits_it():
    (both,) = places_for(machine(PART), "llama")
    assert (both.id, both.name, both.kind, both.api) == (HOST, "UHD", PlaceKind.UNIFIED, "vulkan")
    assert (both.total_bytes, both.free_bytes) == (8 * GIB, 8 * GIB)


def test_one_memory_for_both_is_one_place():
    (both,) = places_for(machine(CHIP, total=16 * GIB, free=9 * GIB), "llama")
    assert (both.name, both.kind, both.api) == ("M3", PlaceKind.UNIFIED, "metal")
    assert (both.total_bytes, both.free_bytes) == (11 * GIB, 9 * GIB)
    (loaded,) = places_for(machine(CHIP, total=16 * GIB, free=9 * GIB), "llama", 4 * GIB)
    assert loaded.free_bytes == 11 * GIB


def test_what_is_not_known_stays_unknown():
    unknown = replace(CARD, memory=Memory(MemoryKind.DEDICATED, None, None))
    host, card = places_for(machine(unknown, total=None, free=None), "llama", 4 * GIB)
    assert (host.total_bytes, host.free_bytes, card.total_bytes, card.free_bytes) == (None,) * 4
    chip = replace(CHIP, memory=Memory(MemoryKind.UNIFIED, None, None))
    (both,) = places_for(machine(chip, total=None, free=None), "llama")
    assert (both.total_bytes, both.free_bytes) == (None, None)


def test_a_build_that_is_not_here_is_taken_to_see_just_what_it_is_told():
    blind = replace(CARD, seen_by=())
    assert kinds(places_for(machine(blind), "llama")) == [(HOST, "host", "")]
    assert kinds(places_with(machine(blind), [blind])) == [(HOST, "host", ""), ("cuda0", "dedicated", "cuda")]


@pytest.mark.parametrize(
    ("vendor", "sight", "api"),
    [
        ("nvidia", "CUDA0", "cuda"),
        ("nvidia", "Vulkan0", "vulkan"),
        ("amd", "ROCm0", "rocm"),
        ("intel", "SYCL0", "sycl"),
        ("amd", "dev0", "rocm"),
        ("intel", "dev0", "vulkan"),
    ],
)
def test_how_a_card_is_reached_is_in_the_name_that_the_engine_gives_it(vendor, sight, api):
    card = replace(CARD, vendor=vendor, seen_by=(Sight("llama", sight),))
    assert places_for(machine(card), "llama")[1].api == api


def test_what_is_reordered_depends_on_the_processor_and_on_the_cards_of_the_build():
    def reordered(here):
        return sorted(places_for(here, "llama")[0].reordered)

    modern = replace(machine(), cpu=Cpu(None, None, None, None, ("AVX", "AVX2")))
    assert reordered(modern) == ["IQ4_NL", "MXFP4", "Q4_0", "Q4_K"]
    assert reordered(machine()) == []
    assert reordered(replace(modern, devices=(CARD,))) == []
    assert reordered(replace(modern, devices=(replace(CARD, seen_by=()),))) == reordered(modern)
    assert reordered(replace(modern, devices=(CHIP,))) == reordered(modern)


def test_each_engine_reaches_a_card_in_its_own_way():
    card = replace(CARD, seen_by=(Sight("llama", "Vulkan0"), Sight("another", "CUDA0")))
    assert places_for(machine(card), "llama")[1].api == "vulkan"
    assert places_for(machine(card), "another")[1].api == "cuda"


def running(private, **changes):
    one = Running(
        "m", "M", "llama", State.READY, Load("m"), memory_bytes=private and 10 * private, private_bytes=private
    )
    return replace(one, **changes)


def test_mapped_weights_are_not_given_back_for_they_are_available_already():
    """Of 12 GiB, 11 are pages of the file; they are a part of what the system says is available."""
    one = running(GIB, memory_bytes=12 * GIB)
    (host,) = places_for(machine(), "llama", given_back([one]))
    assert (host.given_back_bytes, host.free_bytes) == (GIB, 13 * GIB)


def test_only_what_nobody_uses_gives_back():
    ready = [running(3), running(4)]
    held = [running(100, in_flight=1), running(100, pinned=True), running(100, state=State.LOADING), running(None)]
    assert given_back([*ready, *held]) == 7
    assert places_for(machine(), "llama", 7)[0].free_bytes == 12 * GIB + 7
    assert places_for(machine(), "llama", 7)[0].given_back_bytes == 7


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("macbook_m3_16gb_told", [(HOST, "unified", "metal")]),
        ("rtx3090_desktop", [(HOST, "host", "")]),
        ("no_card_at_all", [(HOST, "host", "")]),
        ("laptop_rtx4080_and_uhd", [(HOST, "host", ""), ("dedicated", "cuda")]),
        ("alder_lake_laptop", [(HOST, "unified", "vulkan")]),
    ],
)
def test_recorded_machines(name, right):
    told = json.loads((MACHINES / f"{name}.json").read_text("utf-8"))
    engine_id = next(iter(told.get("engines", {"llama_server": []})))
    places = kinds(places_for(seen(told), engine_id))
    assert [place if place[0] == HOST else place[1:] for place in places] == right
