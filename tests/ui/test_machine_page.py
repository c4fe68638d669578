"""The Machine page, and the watch that feeds it and the top bar."""

import threading

import pytest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import GIB, machine, running

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.ui.memory_watch import Sample, Sampler, memories, parts_of
from weighbridge.ui.pages.machine import MachinePage
from weighbridge_engines.api import Cause

MIB = 1 << 20
CARD = Device("0", "nvidia", "RTX 4070", Memory(MemoryKind.DEDICATED, 12 * GIB, 5 * GIB))


def shown(page):
    return page._facts.shown


def test_it_shows_what_was_sampled_and_copies_it(qtbot, services):
    page = MachinePage(services)
    qtbot.addWidget(page)
    page.show()
    page.entered()
    assert page._looking.isVisible()
    services.memories.start()
    qtbot.waitUntil(lambda: bool(page._memory_panels))
    services.memories.stop()
    assert "Test CPU" in shown(page)
    assert not page._findings_panel.isVisible()
    page.copy_report()
    assert "Test CPU" in QApplication.clipboard().text()


def test_findings_stand_in_words(qtbot, services):
    page = MachinePage(services)
    qtbot.addWidget(page)
    page.show()
    page.entered()
    services.memories.machine = machine(devices=(CARD,), problems=(Cause("nvidia.driver_mismatch", {"reason": "x"}),))
    services.memories.changed.emit()
    assert page._findings_panel.isVisible()
    assert "nvidia.driver_mismatch" not in page._said[0].said


def test_nothing_is_drawn_while_another_page_is_shown(qtbot, services):
    page = MachinePage(services)
    qtbot.addWidget(page)
    services.memories.machine = machine()
    services.memories.changed.emit()
    assert shown(page) == []


def test_what_an_engine_told_and_the_rest_of_what_it_holds():
    one = running(buffers={"weights_bytes": 90 * MIB, "kv_bytes": 8 * MIB, "output_bytes": MIB}, memory_bytes=150 * MIB)
    assert {part.kind: part.size_bytes // MIB for part in parts_of(one)} == {
        "weights": 90,
        "kv": 8,
        "compute": 1,
        "engine": 51,
    }


def test_an_engine_that_has_not_touched_all_it_reserved_is_not_counted_as_more():
    one = running(buffers={"weights_bytes": 100 * MIB, "kv_bytes": 100 * MIB}, memory_bytes=50 * MIB)
    assert sum(part.size_bytes for part in parts_of(one)) == 50 * MIB


def test_mapped_weights_are_not_taken_out_of_what_others_use():
    """4 GiB are used; of the engine's 3 GiB only 1 GiB is its own, the rest are pages of the file."""
    one = running(memory_bytes=3 * GIB)
    sample = Sample(machine(), {one.model_id: GIB})
    (ram,) = memories(sample, (one,))
    sums = {part.kind: part.size_bytes // GIB for part in ram.parts if part.size_bytes}
    assert sums == {"engine": 3, "others": 3}


def test_a_card_with_its_own_memory_has_a_bar_and_others_do_not():
    unified = Device("1", "nvidia", "GB10", Memory(MemoryKind.UNIFIED, 128 * GIB, GIB))
    unknown = Device("2", "nvidia", "?", Memory(MemoryKind.DEDICATED, None, None))
    found = memories(Sample(machine(devices=(CARD, unified, unknown)), {}), ())
    assert [memory.name for memory in found] == ["RAM", "RTX 4070"]
    assert found[1].used_bytes == 7 * GIB


def test_an_unknown_total_has_no_bar():
    assert memories(Sample(machine(memory=Memory(MemoryKind.SHARED, None, None)), {}), ()) == ()


@pytest.mark.parametrize(("closely", "cards_each"), [(False, 5), (True, 2)])
def test_all_is_looked_at_once_and_cards_less_often_than_memory(closely, cards_each):
    asked = []

    def detect():
        asked.append("all")
        return machine(devices=(CARD,))

    def again(known, with_cards):
        asked.append("cards" if with_cards else "memory")
        return known

    sampler = Sampler(detect, again)
    for _ in range(11):
        sampler.sample(Task(), closely)
    assert asked == ["all", *(["memory"] * (cards_each - 1) + ["cards"]) * (10 // cards_each)]


def test_nobody_waits_for_a_sick_driver():
    go, task = threading.Event(), Task()
    task.cancel()
    with pytest.raises(Cancelled):
        Sampler(lambda: go.wait(5) and machine(), lambda known, cards: known).sample(task)
    go.set()
