"""Which kind of machine one is."""

from dataclasses import replace

import pytest
from tests.choices.advice.made_grounds import on_processor, with_cards
from tests.choices.made_surroundings import GIB, RTX, machine

from weighbridge.choices.advice.answers import Hardware
from weighbridge.choices.advice.machine_kind import cards_of, fast_of, hardware_of, system_of
from weighbridge.hardware.machine import Device, Memory, MemoryKind


def borrowing(vendor="intel"):
    return Device("gpu", vendor, "A part", Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB), integrated=True)


@pytest.mark.parametrize(
    ("card", "count", "kind"),
    [
        ("RTX 3090", 1, Hardware.ONE_NVIDIA),
        ("RTX 3090", 4, Hardware.SEVERAL_NVIDIA),
        ("H200 SXM 141 GB", 8, Hardware.NVIDIA_SERVER),
        ("H100 PCIe 80 GB", 1, Hardware.NVIDIA_SERVER),
        ("B200", 1, Hardware.BLACKWELL_SERVER),
        ("RTX 5090", 1, Hardware.ONE_NVIDIA),
        ("Radeon RX 7900 XTX", 1, Hardware.AMD_CARD),
        ("Instinct MI325X", 8, Hardware.AMD_SERVER),
        ("Arc B580", 1, Hardware.INTEL),
        ("M2 Ultra 76-core", 1, Hardware.APPLE),
    ],
)
def test_by_cards(card, count, kind):
    assert hardware_of(with_cards(card, count).around.machine) is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Intel(R) Xeon(R) Gold 6338", Hardware.INTEL),
        ("Intel(R) Core(TM) Ultra 9 185H", Hardware.INTEL),
        ("Intel(R) Core(TM) i5-8250U", Hardware.PROCESSOR),
        ("AMD Ryzen 9 7950X", Hardware.PROCESSOR),
        (None, Hardware.PROCESSOR),
    ],
)
def test_by_the_processor(name, kind):
    assert hardware_of(on_processor(name).around.machine) is kind


def test_what_only_borrows_memory_is_no_card():
    assert cards_of(machine(borrowing())) == ()
    assert cards_of(machine(borrowing(), RTX)) == (RTX,)
    assert fast_of(machine(borrowing())).vendor == "cpu"


def test_the_fast_memory_of_several_cards():
    unlike = replace(RTX, id="cuda1", compute_capability="7.5", memory=Memory(MemoryKind.DEDICATED, 8 * GIB, 7 * GIB))
    fast = fast_of(machine(replace(RTX, compute_capability="8.6"), unlike))
    assert (fast.count, fast.total_bytes, fast.free_bytes, fast.capability) == (2, 32 * GIB, 29 * GIB, "7.5")
    assert fast.gbs is None
    assert fast_of(machine(RTX, replace(unlike, compute_capability=None))).capability is None


def test_of_apple_s_memory_what_the_graphics_part_may_use_counts():
    fast = fast_of(with_cards("M4 Max 40-core", ram_gib=64).around.machine)
    assert fast.unified
    assert fast.free_bytes < fast.total_bytes == 64 * GIB


@pytest.mark.parametrize(
    ("told", "system"),
    [("Linux 6.8.0 x86_64", "linux"), ("Windows 11 10.0.26100 AMD64", "windows"), ("Darwin 24.1.0 arm64", "darwin")],
)
def test_the_system(told, system):
    assert system_of(replace(machine(), system=told)) == system


def test_a_machine_with_nvidia_s_cards_is_no_mac():
    assert system_of(replace(machine(RTX), system="Darwin 24.1.0 arm64")) == "linux"
