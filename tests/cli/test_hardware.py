import json

import pytest

from weighbridge.cli.main import run
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind
from weighbridge_engines.api import Cause

GIB = 1 << 30
CARD = Device(
    id="cuda0",
    vendor="nvidia",
    name="NVIDIA GeForce RTX 3090",
    memory=Memory(MemoryKind.DEDICATED, 24 * GIB, 20 * GIB),
    driver="580.10",
    compute_capability="8.6",
    bandwidth=Bandwidth(936.2, 936.2, "s"),
)
SMALL = Device(
    id="cuda1",
    vendor="nvidia",
    name="NVIDIA GB10",
    memory=Memory(MemoryKind.UNIFIED, 128 * GIB, 100 * GIB),
    bandwidth=Bandwidth(200, 300, "s"),
)
MUTE = Device(
    id="cuda2",
    vendor="nvidia",
    name="NVIDIA X",
    memory=Memory(MemoryKind.DEDICATED, None, None),
    problems=(Cause("nvidia.no_answer", {"what": "memory", "reason": "Not Supported"}),),
)


@pytest.fixture
def machine(monkeypatch):
    made = Machine(
        system="Linux 6 x86_64",
        cpu=Cpu("A Processor", 4, 8, 2, ("AVX", "AVX2")),
        memory=Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB),
        devices=(CARD, SMALL, MUTE),
        problems=(Cause("nvidia.driver_mismatch", {"reason": "18"}),),
    )
    monkeypatch.setattr("weighbridge.hardware.detect.detect", lambda: made)
    return made


def test_in_words(machine, capsys):
    assert run(["hardware"], dict) == 0
    out = capsys.readouterr().out.replace("\u202f", " ")
    assert "Processor: A Processor, 4 cores, 8 threads, 2 usable here, AVX AVX2" in out
    assert "Memory: 8.0 GiB free of 16.0 GiB" in out
    assert (
        "Card: NVIDIA GeForce RTX 3090, 20.0 GiB free of 24.0 GiB, 936 GB/s, compute capability 8.6, driver 580.10"
        in out
    )
    assert "NVIDIA GB10, 100.0 GiB free of 128.0 GiB, shared with the processor, 200 to 300 GB/s" in out
    assert "NVIDIA X, memory unknown, bandwidth unknown" in out
    assert "The card does not tell its memory (Not Supported)." in out
    assert "Restart the machine; nothing needs to be installed." in out


def test_as_json(machine, capsys):
    assert run(["hardware", "--json"], dict) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["cpu"]["usable_cores"] == 2
    assert shown["memory"] == {"kind": "shared", "total_bytes": 16 * GIB, "available_bytes": 8 * GIB}
    assert shown["devices"][0]["memory"]["kind"] == "dedicated"
    assert shown["devices"][0]["bandwidth"]["low_gbs"] == 936.2
    assert shown["devices"][2]["memory"]["total_bytes"] is None
    assert shown["devices"][2]["problems"][0]["code"] == "nvidia.no_answer"
    assert shown["problems"][0]["message"].startswith("The NVIDIA driver was updated")
    assert shown["problems"][0]["values"] == {"reason": "18"}


def test_this_machine(capsys):
    assert run(["hardware", "--json"], dict) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["total_bytes"] > 0
