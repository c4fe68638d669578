from dataclasses import replace

import pytest

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.machine import Basis, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.hardware.merge import is_same, merged, with_engines
from weighbridge.hardware.pci import same_slot
from weighbridge_engines import api

GIB = 1 << 30
NONE = Table(())
CARD = Device("cuda0", "nvidia", "NVIDIA RTX A4000", Memory(MemoryKind.DEDICATED, 16 * GIB, 15 * GIB), pci_id="01:00.0")
PART = Device("intel0", "intel", "UHD Graphics", Memory(MemoryKind.SHARED, 32 * GIB, 20 * GIB), integrated=True)


def machine(*devices):
    return Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, 32 * GIB, 20 * GIB), devices)


def seen(made, *devices):
    return with_engines(made, {"e": devices}, NONE).devices


@pytest.mark.parametrize(
    ("told", "slot"),
    [
        ("00000000:01:00.0", "0000:01:00.0"),
        ("01:00.0", "0000:01:00.0"),
        ("0000:0A:00", "0000:0a:00.0"),
        ("000F:01:00.0", "000f:01:00.0"),
        ("", None),
        (None, None),
        ("PCI:1:0:0", None),
    ],
)
def test_addresses_in_one_form(told, slot):
    assert same_slot(told) == slot


def test_cards_of_their_own_come_first():
    other = replace(CARD, id="amd0", vendor="amd", name="X", pci_id="02:00.0")
    assert [device.id for device in merged([[PART], [CARD, other]])] == ["cuda0", "amd0", "intel0"]


def test_another_address_is_another_card_and_the_same_address_is_the_same():
    assert not is_same(CARD, replace(CARD, pci_id="0000:02:00.0"))
    assert is_same(CARD, replace(CARD, name="RTX A4000", pci_id="0000:01:00.0"))


def test_without_addresses_name_and_memory_decide():
    bare = replace(CARD, pci_id=None)
    assert is_same(CARD, bare)
    assert not is_same(CARD, replace(bare, memory=Memory(MemoryKind.DEDICATED, 8 * GIB, None)))
    assert not is_same(CARD, replace(bare, name="NVIDIA RTX A4000 Laptop GPU"))


def test_a_card_s_memory_is_never_made_larger_by_what_it_may_borrow():
    (device,) = seen(machine(CARD), api.Device("Vulkan0", "NVIDIA RTX A4000", "gpu", 24 * GIB, GIB, "0000:01:00.0"))
    assert device.memory == CARD.memory
    assert device.seen_by == (Sight("e", "Vulkan0"),)


def test_an_engine_fills_what_the_system_does_not_tell():
    cause = api.Cause("card.memory_unknown", {"name": "X"})
    mute = replace(CARD, memory=Memory(MemoryKind.DEDICATED, None, None), problems=(cause,))
    (device,) = seen(machine(mute), api.Device("CUDA0", "NVIDIA RTX A4000", "gpu", 16 * GIB, 9 * GIB, "01:00.0"))
    assert device.memory == Memory(MemoryKind.DEDICATED, 16 * GIB, 9 * GIB)
    assert device.problems == ()


def test_an_estimate_gives_way_to_what_an_engine_tells():
    memory = Memory(MemoryKind.UNIFIED, 16 * GIB, 14 * GIB, 12 * GIB, Basis.SET)
    mac = Device("metal0", "apple", "Apple M4", memory, integrated=True)
    (device,) = seen(machine(mac), api.Device("MTL0", "Apple M4", "gpu", 11 * GIB))
    assert device.memory == Memory(MemoryKind.UNIFIED, 16 * GIB, 11 * GIB, 11 * GIB, Basis.TOLD)


def test_a_part_that_only_an_engine_sees_is_there():
    (device,) = seen(machine(), api.Device("Vulkan0", "AMD Radeon 890M (RADV GFX1150)", "shared", 12 * GIB))
    assert (device.vendor, device.integrated, device.memory.kind) == ("amd", True, MemoryKind.SHARED)


@pytest.mark.parametrize(
    "name", ["llvmpipe (LLVM 15.0.7, 256 bits)", "SwiftShader Device", "Microsoft Basic Render Driver"]
)
def test_software_is_no_card(name):
    assert seen(machine(), api.Device("Vulkan0", name, "gpu", 16 * GIB)) == ()


def test_the_processor_is_no_card():
    assert seen(machine(), api.Device("CPU", "AMD EPYC", "cpu", 16 * GIB), api.Device("BLAS", "BLAS", "accel")) == ()
