"""What engines told and what was measured, on the page Machine."""

import threading
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton
from tests.ui.fakes import GIB, machine

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.hardware.measured import Measurements
from weighbridge.running.bandwidths import CardSpeeds
from weighbridge.running.builds import Offer
from weighbridge.running.devices import Told
from weighbridge.ui.impatient import impatient
from weighbridge.ui.machine_facts import MachineFacts
from weighbridge.ui.machine_words import device_facts, findings, report, system_facts
from weighbridge.ui.pages.machine import MachinePage
from weighbridge_engines import api

CARD = Device("cuda0", "nvidia", "RTX 4070", Memory(MemoryKind.DEDICATED, 12 * GIB, 5 * GIB), pci_id="0000:01:00.0")
CPU = api.Device("CPU", "Test CPU", "cpu", None, None)
GPU = api.Device("CUDA0", "RTX 4070", "gpu", 12 * GIB, 11 * GIB, "0000:01:00.0")
WITH_CUDA = Told("llamacpp", "llama.cpp", "1", (CPU, GPU))
WITHOUT = Told("llamacpp", "llama.cpp", "1", (CPU,))
BROKEN = Told("other", "Other", "1", None, api.Cause("engine.devices_slow", {"engine": "Other", "limit_s": 20}))


class Devices:
    def __init__(self, *told):
        self.told_now, self.asked = told, 0
        self.speeds = CardSpeeds({})

    def told(self, machine):
        self.asked += 1
        return self.told_now

    def measured(self, machine):
        return self.speeds


@pytest.fixture
def make(qtbot, services):
    """A page whose engines tell so, and whose measurement gives `gbs`."""

    def make(*told, gbs=None, data=None):
        devices = Devices(*told)
        measurements = Measurements.within(data or services.paths.data)
        facts = MachineFacts(devices, measurements, services.background, None, lambda machine: gbs)
        services.memories._complete = facts.complete
        page = MachinePage(replace(services, facts=facts))
        page.devices = devices
        qtbot.addWidget(page, before_close_func=lambda page: page.left())
        page.show()
        page.entered()
        services.memories.start()
        return page

    yield make
    services.memories.stop()


def values(facts):
    return {fact.name: fact.value for fact in facts}


def test_engines_are_asked_once_and_only_when_the_page_is_seen(qtbot, make):
    page = make(WITHOUT)
    qtbot.waitUntil(lambda: "llama.cpp" in page._facts.shown)
    page.left()
    page.entered()
    assert page.devices.asked == 1


def test_measuring_tells_that_it_goes_on_and_is_kept(qtbot, make, services):
    page = make(gbs=41.5)
    qtbot.waitUntil(lambda: services.memories.machine is not None)
    assert any("Not measured here yet." in value for value in page._facts.shown)
    page.measure_button.click()
    assert not page.measure_button.isEnabled()
    qtbot.waitUntil(lambda: any("Measured here on" in value for value in page._facts.shown))
    assert page.measure_button.isEnabled()
    assert Measurements.within(services.paths.data).apply(machine()).bandwidth.gbs == 41.5


def test_cards_are_measured_where_an_engine_can_and_else_it_is_said_why(qtbot, make, services):
    page = make(WITH_CUDA, gbs=41.5)
    qtbot.waitUntil(lambda: bool(services.memories.machine and services.memories.machine.devices))
    failed = api.Cause("engine.bandwidth_failed", {"engine": "Other", "reason": "no memory"})
    page.devices.speeds = CardSpeeds({services.memories.machine.devices[0].id: 480.0}, (failed,))
    page.measure_button.click()
    qtbot.waitUntil(lambda: any("480" in value for value in page._card_facts[0].shown))
    assert any("Other could not measure" in one.said for one in page._said)


def test_why_nothing_was_measured_is_said_in_the_page(qtbot, make, services):
    page = make(gbs=None)
    qtbot.waitUntil(lambda: services.memories.machine is not None)
    page.measure_button.click()
    qtbot.waitUntil(page._errors.isVisible)
    assert "too little free memory" in page._errors.shown_report.what
    assert page.measure_button.isEnabled()


def test_a_measurement_that_cannot_be_kept_is_said(qtbot, make, services, tmp_path):
    (tmp_path / "file").write_text("")
    page = make(gbs=41.5, data=tmp_path / "file")
    qtbot.waitUntil(lambda: services.memories.machine is not None)
    page.measure_button.click()
    qtbot.waitUntil(page._errors.isVisible)
    assert "42" in page._errors.shown_report.what


def test_the_page_looks_closely_only_while_it_is_seen(qtbot, make, services):
    page = make()
    assert services.memories._timer.interval() == 1_000
    qtbot.waitUntil(lambda: "cpu" in page.live.graphs)
    assert page.live.graphs["cpu"].figure == "25\u202f%"
    page.left()
    assert services.memories._timer.interval() == 2_000
    shown = len(page.live.graphs["cpu"]._canvas._moments)
    services.memories.changed.emit()
    assert len(page.live.graphs["cpu"]._canvas._moments) == shown


def test_which_engine_can_use_what_is_a_fact():
    facts = MachineFacts(Devices(), None, None)
    facts.told = (WITH_CUDA,)
    [card] = facts.complete(machine(devices=(CARD,))).devices
    assert values(device_facts(card, facts.told))["Can be used by"] == "llama.cpp (CUDA0)"
    assert values(system_facts(machine(), facts.told))["Can be used by"] == "llama.cpp"
    assert "Can be used by" not in values(device_facts(card))


def test_what_is_missing_to_use_a_card_is_a_finding():
    found = machine(devices=(CARD,))
    assert findings(found) == []
    assert values(device_facts(CARD, (WITHOUT,)))["Can be used by"] == "no installed engine"
    [missing] = findings(found, (WITHOUT,))
    assert "RTX 4070" in missing.said
    assert "CUDA" in missing.said
    assert missing.build_id == ""
    [slow] = findings(found, (WITHOUT, BROKEN))
    assert "20" in slow.said
    assert slow.said in report(found, (), (WITHOUT, BROKEN))


def test_a_finding_that_a_build_mends_leads_to_it(qtbot, make, services):
    offer = Offer("llamacpp-cuda12", "CUDA 12", "llamacpp", "llama.cpp", ("nvidia",), installed=False)
    page = make(replace(WITHOUT, offers=(offer,)))
    qtbot.waitUntil(lambda: bool(page._learnt.told))
    services.memories.stop()
    services.memories.machine = machine(devices=(CARD,))
    services.memories.changed.emit()
    [wanted] = [made for made in page.findChildren(QPushButton) if made.text() == "Show the build"]
    assert "RTX 4070" in wanted.accessibleName()
    with qtbot.waitSignal(services.bus.build_wanted) as told:
        wanted.click()
    assert told.args == ["llamacpp-cuda12"]


def test_nobody_waits_for_impatient_work_but_its_errors_come():
    go, task = threading.Event(), Task()
    task.cancel()
    with pytest.raises(Cancelled):
        impatient(lambda: go.wait(5), task, "held")
    go.set()
    with pytest.raises(ZeroDivisionError):
        impatient(lambda: 1 // 0, Task(), "broken")


def test_graphs_and_bars_say_the_same_when_the_page_is_seen_again(qtbot, make, services):
    page = make()
    qtbot.waitUntil(lambda: "memory 0" in page.live.graphs)
    page.left()
    services.memories.stop()
    services.memories.memories = tuple(replace(one, parts=()) for one in services.memories.memories)
    page.entered()
    assert page.live.graphs["memory 0"].figure.startswith("0.0 of")
    assert page._memory_panels[0]._sum.text() == page.live.graphs["memory 0"].figure


def test_engines_are_asked_again_once_another_build_is_in_use(qtbot, make):
    page = make(WITHOUT)
    qtbot.waitUntil(lambda: "llama.cpp" in page._facts.shown)
    page.devices.told_now = (WITH_CUDA,)
    page._learnt.ask_again()
    qtbot.waitUntil(lambda: page._learnt.told == (WITH_CUDA,))
    assert page.devices.asked == 2


def test_an_answer_of_builds_that_were_in_use_before_is_dropped(qtbot, services):
    waiting, told = threading.Event(), []

    class Slow(Devices):
        def told(self, machine):
            self.asked += 1
            if self.asked > 1:
                return (WITH_CUDA,)
            waiting.wait()
            return (WITHOUT,)

    devices = Slow()
    facts = MachineFacts(devices, Measurements.within(services.paths.data), services.background)
    facts.changed.connect(lambda: told.append(facts.told))
    facts.ask_engines(machine())
    qtbot.waitUntil(lambda: devices.asked == 1)
    facts.ask_again()
    qtbot.waitUntil(lambda: told == [(WITH_CUDA,)])
    waiting.set()
    qtbot.waitUntil(lambda: not services.background._tasks)
    assert facts.told == (WITH_CUDA,)


def test_that_no_engine_is_here_is_no_finding_once_one_is(qtbot, services):
    here = []
    absent = api.Cause("engine.none_installed", {"engine": "llama.cpp", "install": "pip"})
    facts = MachineFacts(
        Devices(WITHOUT),
        Measurements.within(services.paths.data),
        services.background,
        absent=lambda: None if here else absent,
    )
    assert facts.complete(machine()).problems == (absent,)
    here.append("llama.cpp")
    facts.ask_again()
    assert facts.complete(machine()).problems == ()


@pytest.mark.parametrize(("nvlink", "said"), [(True, "to every other card"), (False, "to no other card"), (None, None)])
def test_whether_nvlink_joins_it_to_the_others(nvlink, said):
    assert values(device_facts(replace(CARD, nvlink=nvlink))).get("NVLink") == said
