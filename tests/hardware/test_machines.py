"""Recorded machines, each with the right answer. Each file says where it is from."""

import json
from pathlib import Path

import pytest
from tests.hardware.recorded import RecordedHost, RecordedNvml

from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.child import Answer
from weighbridge.hardware.detect import detect
from weighbridge.hardware.merge import with_engines
from weighbridge.hardware.pci import same_slot
from weighbridge_engines import api

GIB = 1 << 30
FILES = sorted((Path(__file__).parent / "machines").glob("*.json"))
NEAR = 0.01
"""Sizes in the files are in GiB with two decimals."""


def nvml_of(told):
    if "answer" in told:
        return Answer(*told["answer"])
    rest = {name: told[name] for name in ("init", "driver") if name in told}
    return RecordedNvml(*told.get("cards", ()), **rest)


def values_of(adapter):
    return {
        name: bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value for name, value in adapter.items()
    }


def host_of(told):
    same = ("system", "release", "architecture", "files", "programs", "devices", "closed", "processor", "features")
    given = {name: told[name] for name in same if name in told}
    if "memory" in told:
        given["memory"] = tuple(int(gib * GIB) for gib in told["memory"])
    if "cores" in told:
        given["cores"] = tuple(told["cores"])
    adapters = [values_of(adapter) for adapter in told.get("adapters", ())]
    return RecordedHost(**given, adapters=adapters, nvidia=nvml_of(told["nvidia"]) if "nvidia" in told else None)


def engines_of(told):
    def device(name, description, kind, gib, pci_id):
        return api.Device(name, description, kind, None if gib is None else int(gib * GIB), None, pci_id)

    return {engine: [device(*values) for values in devices] for engine, devices in told.get("engines", {}).items()}


def seen(told):
    """The machine as a user is shown it: the system's probes and what the engines see."""
    return with_engines(detect(host_of(told)), engines_of(told), load_table())


def near(size_bytes, gib):
    return size_bytes is None if gib is None else size_bytes == pytest.approx(gib * GIB, abs=NEAR * GIB)


def figures(bandwidth):
    return None if bandwidth is None else [bandwidth.low_gbs, bandwidth.high_gbs]


def check_device(device, right):
    assert (device.name, device.memory.kind) == (right["name"], right["kind"])
    assert near(device.memory.total_bytes, right["total_gib"])
    assert (figures(device.bandwidth), device.integrated) == (right["bandwidth"], right["integrated"])
    assert near(device.memory.usable_bytes, right.get("usable_gib"))
    if "free_gib" in right:
        assert near(device.memory.available_bytes, right["free_gib"])
    assert near(device.also.total_bytes if device.also else None, right.get("also_gib"))
    if "also_usable_gib" in right:
        assert near(device.also.usable_bytes, right["also_usable_gib"])
    if "power" in right:
        assert [device.sensors.power_limit_w, device.sensors.power_default_w] == right["power"]
    if "temperature" in right:
        assert device.sensors.temperature_c == right["temperature"]
    if "pci" in right:
        assert same_slot(device.pci_id) == right["pci"]
    assert [f"{sight.engine} {sight.id}" for sight in device.seen_by] == right.get("seen", [])


def check_system(machine, right):
    cpu = machine.cpu
    if "cpu" in right:
        assert cpu.name == right["cpu"]
    if "cores" in right:
        assert [cpu.physical_cores, cpu.logical_cores, cpu.usable_cores] == right["cores"]
    if "extensions" in right:
        assert list(cpu.extensions) == right["extensions"]
    if "numa" in right:
        assert cpu.numa_nodes == right["numa"]
    if "memory_gib" in right:
        assert near(machine.memory.total_bytes, right["memory_gib"])
    if "available_gib" in right:
        assert near(machine.memory.available_bytes, right["available_gib"])
    if "memory_bandwidth" in right:
        assert figures(machine.bandwidth) == right["memory_bandwidth"]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_machine_is_told_truly(file):
    told = json.loads(file.read_text("utf-8"))
    machine, right = seen(told), told["right"]
    assert len(machine.devices) == len(right["devices"])
    for device, answer in zip(machine.devices, right["devices"], strict=True):
        check_device(device, answer)
    causes = [*machine.problems, *(cause for device in machine.devices for cause in device.problems)]
    assert sorted(cause.code for cause in causes) == right["problems"]
    assert list(machine.within) == right["within"]
    check_system(machine, right)


def test_there_are_fifty_and_each_says_where_it_is_from():
    sources = [json.loads(file.read_text("utf-8"))["source"] for file in FILES]
    assert len(sources) >= 50
    assert all(source.startswith(("Made up", "After public reports", "After the maker's")) for source in sources)
