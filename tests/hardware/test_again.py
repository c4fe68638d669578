"""Looking again: each recorded machine is found as it was, and what has changed is seen."""

import json
from dataclasses import replace

import pytest
from tests.hardware.test_machines import FILES, host_of

from weighbridge.hardware.again import look_again
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sensors

GIB = 1 << 30


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_machine_that_has_not_changed_is_the_same(file):
    host = host_of(json.loads(file.read_text("utf-8")))
    machine = detect(host)
    assert look_again(machine, host) == machine


def test_what_has_changed_is_seen():
    file = next(file for file in FILES if file.stem == "rx7900xtx")
    told = json.loads(file.read_text("utf-8"))
    machine = detect(host_of(told))
    used = next(path for path in told["files"] if path.endswith("mem_info_vram_used"))
    told["files"][used] = str(2 * GIB)
    told["files"]["/proc/meminfo"] = "MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\n"
    again = look_again(machine, host_of(told))
    slot = used.split("/")[-2]
    [card] = [device for device in again.devices if device.pci_id == slot]
    assert card.memory.available_bytes == card.memory.total_bytes - 2 * GIB
    assert again.memory.available_bytes == GIB
    assert look_again(machine, host_of(told), with_cards=False).devices == machine.devices


def test_a_card_that_does_not_answer_any_more_is_unknown():
    card = Device("cuda0", "nvidia", "X", Memory(MemoryKind.DEDICATED, 8 * GIB, GIB), sensors=Sensors(50.0, 0.5))
    memory = Memory(MemoryKind.SHARED, GIB, GIB)
    machine = Machine("Linux", Cpu("x", 1, 1, 1), memory, (card,))
    nothing = host_of({"files": {}})
    [again] = look_again(machine, nothing).devices
    assert again == replace(card, memory=replace(card.memory, available_bytes=None), sensors=Sensors())
