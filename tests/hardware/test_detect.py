import threading

from weighbridge.hardware import detect as module
from weighbridge.hardware.detect import detect
from weighbridge.hardware.nvidia_child import Found


def test_this_machine():
    machine = detect()
    assert machine.system
    assert machine.cpu.usable_cores
    assert machine.memory.total_bytes


def test_a_probe_that_breaks_is_a_cause_and_the_rest_stays(monkeypatch):
    def broken():
        raise RuntimeError("no such thing")

    monkeypatch.setattr(module, "detect_cpu", broken)
    monkeypatch.setattr(module, "find_cards", lambda system, table: Found())
    machine = detect()
    assert machine.cpu.name is None
    assert machine.memory.total_bytes
    (cause,) = machine.problems
    assert (cause.code, cause.values) == ("hardware.probe_failed", {"what": "cpu", "reason": "no such thing"})


def test_a_probe_that_does_not_end_is_left_behind(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(module, "OWN_S", 1.0)
    monkeypatch.setattr(module, "load_table", release.wait)
    monkeypatch.setattr(module, "find_cards", lambda system, table: Found())
    machine = detect()
    release.set()
    assert ("hardware.probe_slow", "bandwidth") in [(cause.code, cause.values["what"]) for cause in machine.problems]
