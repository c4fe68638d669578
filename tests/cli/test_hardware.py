import json
from dataclasses import replace

import pytest

from weighbridge.cli.main import run
from weighbridge.hardware.child import Answer
from weighbridge.hardware.machine import (
    Bandwidth,
    Basis,
    Cpu,
    Device,
    Machine,
    Memory,
    MemoryKind,
    Sensors,
    Sight,
)
from weighbridge.hardware.persons import cleaned
from weighbridge_engines import api
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.echo import BANDWIDTH_VARIABLE, ENGINE

GIB = 1 << 30
CARD = Device(
    id="cuda0",
    vendor="nvidia",
    name="NVIDIA GeForce RTX 3090",
    memory=Memory(MemoryKind.DEDICATED, 24 * GIB, 20 * GIB),
    driver="580.10",
    compute_capability="8.6",
    pci_id="00000000:01:00.0",
    bandwidth=Bandwidth(936.2, 936.2, "a table"),
    sensors=Sensors(power_limit_w=250, power_default_w=350, temperature_c=41),
    nvlink=True,
)
SMALL = Device(
    id="cuda1",
    vendor="nvidia",
    name="NVIDIA GB10",
    memory=Memory(MemoryKind.UNIFIED, 128 * GIB, 100 * GIB, 96 * GIB, Basis.ESTIMATE),
    bandwidth=Bandwidth(200, 300, "s"),
    also=Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB),
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
        cpu=Cpu("A Processor", 4, 8, 2, ("AVX", "AVX2"), numa_nodes=2),
        memory=Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB),
        devices=(CARD, SMALL, MUTE),
        problems=(Cause("nvidia.driver_mismatch", {"reason": "/home/anna/lib: 18 on box7"}),),
        within=("container",),
    )
    monkeypatch.setattr("weighbridge.hardware.detect.detect", lambda: made)
    return made


def engine(*devices):
    """An engine whose child would tell `devices`."""
    return api.Engine(
        id="made",
        title="Made",
        formats=frozenset(),
        capabilities=frozenset(),
        install="none",
        missing=lambda: None,
        devices=lambda: list(devices),
        version=lambda: "1",
    )


@pytest.fixture
def told(monkeypatch):
    """What the child of the engine `made` prints."""
    seen = [
        api.Device("CPU", "A Processor", "cpu"),
        api.Device("CUDA0", CARD.name, "gpu", 24 * GIB, 1, "0000:01:00.0"),
    ]
    said = json.dumps({"devices": [device.__dict__ for device in seen]})
    monkeypatch.setattr("weighbridge.running.questions.ask", lambda *_: Answer(said, "", 0))
    return lambda: {"made": engine()}


def lines(capsys):
    return capsys.readouterr().out.replace("\u202f", " ").splitlines()


def test_in_words(machine, told, capsys):
    assert run(["hardware"], told) == 0
    out = lines(capsys)
    assert out[:8] == [
        "System: Linux 6 x86_64 (in a container)",
        "Processor: A Processor, 4 cores, 8 threads, 2 usable here, 2 NUMA nodes, AVX AVX2",
        "Memory: 8.0 GiB free of 16.0 GiB",
        "  bandwidth: unknown",
        "Card: NVIDIA GeForce RTX 3090",
        "  memory: 20.0 GiB free of 24.0 GiB, its own",
        "  bandwidth: 936 GB/s, published (a table)",
        "  driver 580.10, compute capability 8.6, NVLink to every other card",
    ]
    assert "  power limit 250 W (by default 350 W), 41 °C" in out
    assert "  can be used by: Made (CUDA0)" in out
    assert "  memory: 100.0 GiB free of 128.0 GiB, shared with the processor, 96.0 GiB usable (estimated)" in out
    assert "  besides, not added: 8.0 GiB free of 16.0 GiB, borrowed from the system" in out
    assert "  bandwidth: 200 to 300 GB/s, published (s)" in out
    assert "  memory: memory unknown, its own" in out
    assert "Engine: Made 1: can use A Processor, CUDA0" in out
    assert any(line.startswith("  The card does not tell its memory (Not Supported).") for line in out)
    assert out[-1].endswith("Restart the machine; nothing needs to be installed.")


def test_a_card_that_no_engine_can_use_says_what_is_missing(machine, capsys):
    assert run(["hardware"], lambda: {}) == 0
    said = "No installed engine can use NVIDIA GeForce RTX 3090: the CUDA build of llama.cpp is not installed."
    assert any(said in line for line in lines(capsys))


def test_that_no_engine_is_installed_is_said_with_the_command_that_installs_one(machine, capsys):
    absent = replace(engine(), id="llama_server", missing=lambda: Cause("x"))
    engines = {"echo": catalogue()["echo"], "llama_server": absent}
    engines["llama_server"] = replace(engines["llama_server"], title="llama.cpp", install="pip install xllamacpp")
    assert run(["hardware"], lambda: engines) == 0
    assert lines(capsys)[-1].endswith("-m pip install xllamacpp")
    assert run(["hardware", "--json"], lambda: engines) == 0
    assert json.loads(capsys.readouterr().out)["problems"][-1]["code"] == "engine.none_installed"


def test_as_json(machine, told, capsys):
    assert run(["hardware", "--json"], told) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["cpu"]["usable_cores"] == 2
    assert shown["memory"]["total_bytes"] == 16 * GIB
    first, third, second = shown["devices"]
    assert first["memory"]["kind"] == "dedicated"
    assert first["bandwidth"]["low_gbs"] == 936.2
    assert (first["seen_by"], first["missing"]) == ([{"engine": "made", "id": "CUDA0"}], None)
    assert second["memory"]["usable_bytes"] == 96 * GIB
    assert second["missing"]["code"] == "engine.no_build"
    assert third["memory"]["total_bytes"] is None
    assert third["problems"][0]["code"] == "nvidia.no_answer"
    assert shown["problems"][0]["message"].startswith("The NVIDIA driver was updated")
    assert shown["engines"][0]["devices"][1]["id"] == "CUDA0"


def test_a_report_has_no_names_of_persons(machine, monkeypatch, capsys):
    monkeypatch.setattr("platform.node", lambda: "box7")
    monkeypatch.setattr("getpass.getuser", lambda: "anna")
    assert run(["hardware", "--report"], dict) == 0
    out = capsys.readouterr().out
    assert out.startswith("Weighbridge ")
    assert "anna" not in out
    assert "box7" not in out
    assert "NVIDIA GeForce RTX 3090" in out


def test_a_user_without_a_name_still_gets_a_report(machine, monkeypatch, capsys):
    def nobody():
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert run(["hardware", "--report"], dict) == 0
    assert "anna" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("/home/anna/.cache/x.so: no", "/home/.../.cache/x.so: no"),
        ("C:\\Users\\Anna B\\x", "C:\\Users\\... B\\x"),
        ("GPU-5d3a1c2e-0011-2233-4455-66778899aabb lost", "GPU-... lost"),
        ("anna's box7, not box77 or annals", "...'s ..., not box77 or annals"),
    ],
)
def test_what_is_left_out(text, clean):
    assert cleaned(text, ("anna", "box7", "")) == clean


def test_measured_bandwidth_is_kept_and_preferred(machine, monkeypatch, home, capsys):
    monkeypatch.setattr("weighbridge.hardware.measured.measured_gbs", lambda *_: 61.4)
    assert run(["hardware", "--measure"], dict) == 0
    assert any("  bandwidth: 61 GB/s, measured here on 20" in line for line in lines(capsys))
    assert run(["hardware", "--json"], dict) == 0
    assert json.loads(capsys.readouterr().out)["bandwidth"]["low_gbs"] == 61.4


def test_the_memory_of_a_card_is_measured_by_an_engine_that_can(monkeypatch, capsys):
    """The whole way, with the child of the engine `echo`, which tells what it is told."""
    card = replace(CARD, seen_by=(Sight("echo", "E0"),))
    machine = Machine("Linux", Cpu("P", 4, 8, 8), Memory(MemoryKind.SHARED, 16 * GIB, 8 * GIB), (card, MUTE))
    monkeypatch.setattr("weighbridge.hardware.detect.detect", lambda: machine)
    monkeypatch.setattr("weighbridge.hardware.measured.measured_gbs", lambda *_: 61.4)
    monkeypatch.setenv(BANDWIDTH_VARIABLE, '{"E0": 871.5e9, "E1": 5e9}')
    assert run(["hardware", "--measure"], lambda: {"echo": ENGINE}) == 0
    out = lines(capsys)
    assert any(line.startswith("  bandwidth: 872 GB/s, measured here on 20") for line in out)
    monkeypatch.setenv(BANDWIDTH_VARIABLE, "no JSON")
    assert run(["hardware", "--measure", "--json"], lambda: {"echo": ENGINE}) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["problems"][-1]["code"] == "engine.bandwidth_failed"
    assert "JSONDecodeError" in shown["problems"][-1]["values"]["reason"]
    first, second = shown["devices"]
    assert (first["bandwidth"]["low_gbs"], second["bandwidth"]) == (871.5, None)
    assert first["bandwidth"]["measured_on"].startswith("20")


def test_what_cannot_be_measured_or_kept_is_told(machine, monkeypatch, home, capsys):
    monkeypatch.setattr("weighbridge.hardware.measured.measured_gbs", lambda *_: None)
    assert run(["hardware", "--measure", "--json"], dict) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "hardware.not_measured"
    monkeypatch.setattr("weighbridge.hardware.measured.measured_gbs", lambda *_: 61.4)
    home.mkdir()
    (home / "data").write_text("")
    assert run(["hardware", "--measure", "--json"], dict) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "hardware.not_kept"


def test_an_engine_that_cannot_tell_is_told(machine, monkeypatch, capsys):
    broken = replace(engine(), id="no_such_engine")
    assert run(["hardware"], lambda: {"no_such_engine": broken}) == 0
    (line,) = [line for line in lines(capsys) if line.startswith("Engine: ")]
    assert line.startswith("Engine: Made 1. Made could not tell what it can compute on (worker: no engine")


def test_this_machine(capsys):
    assert run(["hardware", "--json"], catalogue) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["memory"]["total_bytes"] > 0
    assert "llama_server" in [one["id"] for one in shown["engines"]]
