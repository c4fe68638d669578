import threading

from tests.hardware.recorded import RecordedHost

from weighbridge.hardware import detect as module
from weighbridge.hardware.detect import detect

MEMINFO = {"/proc/meminfo": "MemTotal: 1024 kB\nMemAvailable: 512 kB\n"}


def test_this_machine():
    machine = detect()
    assert machine.system
    assert machine.cpu.usable_cores
    assert machine.memory.total_bytes


def test_a_probe_that_breaks_is_a_cause_and_the_rest_stays(monkeypatch):
    def broken(host):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(module, "detect_cpu", broken)
    machine = detect(RecordedHost(files=MEMINFO))
    assert machine.cpu.name is None
    assert machine.memory.total_bytes
    cause = machine.problems[0]
    assert (cause.code, cause.values) == ("hardware.probe_failed", {"what": "cpu", "reason": "no such thing"})


def test_a_probe_that_does_not_end_is_left_behind(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(module, "OWN_S", 1.0)
    monkeypatch.setattr(module, "CARDS_S", 2.0)
    monkeypatch.setattr(module, "load_table", release.wait)
    machine = detect(RecordedHost(files=MEMINFO))
    release.set()
    assert ("hardware.probe_slow", "bandwidth") in [
        (cause.code, cause.values.get("what")) for cause in machine.problems
    ]


def test_a_machine_that_tells_nothing_is_unknown_and_no_error():
    why = {"Darwin": "apple.no_metal"}
    for system in ("Linux", "Darwin", "Windows", "Plan 9"):
        machine = detect(RecordedHost(system=system, release="", architecture=""))
        assert machine.devices == ()
        assert machine.memory.total_bytes is None
        assert [cause.code for cause in machine.problems] == [why.get(system, "hardware.no_card")]
