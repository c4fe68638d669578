"""The Library's speeds: known, unknown and measured; another machine; what would make a model fast enough."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from tests.choices.made_surroundings import engine, told
from tests.ui.fakes import GIB, running

from weighbridge.base.errors import WeighbridgeError
from weighbridge.choices.other_machine import OtherMachine
from weighbridge.estimates.fit import Verdict
from weighbridge.hardware.machine import Bandwidth
from weighbridge.running.observations import build_of
from weighbridge.running.speed_observations import SpeedObservation, speed_situation
from weighbridge.ui.models.library_row import Column
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.speedometers import Speedometers
from weighbridge.ui.weighing import Weighing

THIN = "\u202f"
EIGHT = "Qwen3-8B-Q4_K_M"
LARGER = "Qwen3-8B-Q8_0"


@pytest.fixture
def page(library_page):
    return library_page


@pytest.fixture
def measured(page, full, qtbot):
    """The page after the memory was measured: 40 GB/s."""
    full.facts._measure_gbs = lambda machine: 40.0
    page.measure()
    qtbot.waitUntil(lambda: cell(page, Column.SPEED, EIGHT) not in (None, "–"))
    return page


def cell(page, column, model_id, role=Qt.ItemDataRole.DisplayRole):
    table = page.table.model()
    row = next(row for row in range(table.rowCount()) if table.index(row, 0).data() == model_id)
    return table.index(row, column).data(role)


def test_a_speed_is_unknown_until_the_memory_is_measured_then_all_rows_have_one(page, full, qtbot):
    page.table.choose(EIGHT)
    assert cell(page, Column.SPEED, EIGHT) == "–"
    assert cell(page, Column.SPEED, EIGHT, Qt.ItemDataRole.AccessibleTextRole) == "unknown"
    panel = page.detail.weighed.speed
    assert panel.unknown.startswith("Speed unknown. ")
    full.facts._measure_gbs = lambda machine: 40.0
    qtbot.waitUntil(lambda: not page.busy and not panel.measure.visibleRegion().isEmpty())
    qtbot.mouseClick(panel.measure, Qt.MouseButton.LeftButton)
    assert panel.measure.text() == "Measuring…"
    qtbot.waitUntil(lambda: bool(panel.figures))
    assert panel.unknown == ""
    named = ("Qwen3-0.6B-Q8_0", LARGER, "gemma-3-4b-it-q4_0", "Llama-3.2-3B-Q6_K")
    qtbot.waitUntil(lambda: all(" – " in (cell(page, Column.SPEED, name) or "") for name in named))


def test_a_measurement_that_fails_says_why(page, full, qtbot):
    full.facts._measure_gbs = lambda machine: None
    page.measure()
    qtbot.waitUntil(page.errors.isVisible)
    assert "measure its bandwidth" in page.errors.shown_report.what
    page.errors.hide()
    full.facts.changed.emit()
    assert not page.errors.isVisible()


def test_the_column_is_right_aligned_sorted_by_the_middle_and_tells_its_basis(measured):
    assert cell(measured, Column.SPEED, EIGHT, Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    assert f"40{THIN}GB/s of bandwidth, measured here" in cell(
        measured, Column.SPEED, EIGHT, Qt.ItemDataRole.ToolTipRole
    )
    table = measured.table.model()
    measured.table.sortByColumn(Column.SPEED, Qt.SortOrder.AscendingOrder)
    names = [table.index(row, 0).data() for row in range(table.rowCount())]
    assert names[:3] == ["Qwen3-0.6B-Q8_0", "Llama-3.2-3B-Q6_K", "gemma-3-4b-it-q4_0"]
    assert set(names[-2:]) == {"Broken-7B.Q4_0", "Falcon-H1-1B-Q5_K_M"}


def test_a_longer_context_is_slower_when_it_is_full(measured, qtbot):
    measured.table.choose(EIGHT)
    measured.controls.context.setValue(32_768)
    figures = {figure.name: figure.value for figure in measured.detail.weighed.speed.figures}
    assert float(figures["At 32,768 tokens"].split(" ")[0]) < float(figures["Speed"].split(" ")[0])


def test_what_ran_here_is_told_without_a_restart(full, qtbot):
    """A weighing of its own: its engine told which devices it has."""
    around = (told(),)
    kept = []
    speeds = Speedometers(full.weighing.tables, lambda: tuple(kept), full.background)
    fast = Bandwidth(40.0, 40.0, "", "2026-01-01")
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.machine is not None)
    machine = replace(full.memories.machine, bandwidth=fast)
    sources = replace(full.weighing._sources, machine=lambda: machine, told=lambda: around, speeds=speeds)
    weighing = Weighing(sources, full.background)
    model = next(one for one in full.library.models if one.id == EIGHT)
    weighing.refresh([model], [model])
    calculated = weighing.choice(model).speeds.decode
    now = speed_situation(model, weighing.load_to_make(model), "llama_server", *build_of(around, "llama_server"))
    one = SpeedObservation(now, False, 1024, 6.5, None, None, calculated.mid_tps, None, 0.0, 1e9, {"host": 40.0})
    kept.append(one)
    with qtbot.waitSignal(weighing.outdated):
        speeds.reread()
    weighing.refresh([model], [model])
    assert weighing.speed_view(weighing.choice(model)).figures[0].value == f"6.5{THIN}tok/s measured"
    assert weighing.choice(model).speeds.decode.mid_tps == pytest.approx(6.5)
    weighing.think_of(OtherMachine(ram_bytes=64 * GIB))
    weighing.refresh([model], [model])
    assert weighing.choice(model).speeds.decode.mid_tps == pytest.approx(calculated.mid_tps)
    weighing.quiet()


def test_what_was_read_twice_at_a_time_is_read_once_more(full, qtbot):
    read = []
    speeds = Speedometers(full.weighing.tables, lambda: read.append(1) or (), full.background)
    for _ in range(3):
        speeds.reread()
    qtbot.waitUntil(lambda: len(read) == 2)
    qtbot.wait(50)
    assert len(read) == 2


def test_for_another_machine_all_is_weighed_and_loading_stays_here(page, full, qtbot):
    page.table.choose(LARGER)
    page.controls.context.setValue(1 << 17)
    assert cell(page, Column.FIT, LARGER).startswith("No · ")
    page.machine.opener.click()
    strip = page.machine.strip
    qtbot.waitUntil(lambda: strip.names.count() > 100)
    strip.names.lineEdit().setText("GeForce RTX 4090")
    strip.names.lineEdit().editingFinished.emit()
    strip.count.setValue(2)
    qtbot.waitUntil(lambda: cell(page, Column.FIT, LARGER).startswith("Fits · "))
    assert " – " in cell(page, Column.SPEED, LARGER)
    assert "2 × NVIDIA GeForce RTX 4090" in strip.said
    assert {bar.memory.name for bar in page.detail.weighed.bars.bars} == {"RAM", "NVIDIA GeForce RTX 4090"}
    assert page.controls._layers.isVisible()
    assert full.weighing.load_to_make(page.table.chosen.model).gpu_layers is None
    with qtbot.waitSignal(full.bus.unmet_found, check_params_cb=lambda unmet: unmet is not None) as asked:
        page.loads.load()
    (unmet,) = asked.args
    assert {place.name for place in unmet.finding.asked.places}.isdisjoint({"NVIDIA GeForce RTX 4090"})
    assert full.supervisor.loads == []
    unmet.go(unmet.finding.model, unmet.finding.load)
    assert full.supervisor.loads == [(LARGER, 1 << 17)]
    assert page.escape()
    assert not strip.isVisible()
    assert page.machine.opener.isVisible()
    assert cell(page, Column.FIT, LARGER).startswith("No · ")


def test_what_runs_here_says_nothing_of_another_machine(page, full, qtbot):
    full.supervisor.become(full.bus, running(EIGHT, buffers={"weights_bytes": GIB}, memory_bytes=2 * GIB))
    page.table.choose(EIGHT)
    kinds = {part.kind for part in page.detail.weighed.bars.bars[0].memory.ordered}
    assert kinds == {"others", "weights", "engine", "free"}
    page.machine.strip.chosen.emit(OtherMachine(ram_bytes=64 * GIB))
    assert "kv" in {part.kind for part in page.detail.weighed.bars.bars[0].memory.ordered}
    assert f"64.0{THIN}GiB" in page.machine.strip.said


def test_a_machine_that_cannot_be_is_refused_on_the_strip(page, full):
    chip = full.weighing.tables.cards.card("Apple M4 (10-core GPU)")
    page.machine.strip.chosen.emit(OtherMachine(chip, 2))
    assert "Apple M4" in page.machine.strip.wrong
    assert full.weighing.other is None
    with pytest.raises(WeighbridgeError, match=r"machine\.one_chip"):
        full.weighing.think_of(OtherMachine(chip, 2))


def test_a_page_made_anew_still_says_which_machine_is_meant(page, full, qtbot):
    page.machine.strip.chosen.emit(OtherMachine(ram_bytes=64 * GIB))
    other = LibraryPage(full)
    qtbot.addWidget(other)
    assert other.machine.is_open
    assert other.machine.strip.ram.value() == 64
    assert "not for this one" in other.machine.strip.said
    other.shut()


def test_a_smaller_quantisation_that_is_here_is_offered_and_shown(page, full, qtbot):
    full.weighing._sources.engines["llama_server"] = engine()
    page.table.choose(LARGER)
    page.controls.context.setValue(36_864)
    qtbot.waitUntil(lambda: page.detail.weighed.advice.changes.head != "")
    assert full.weighing.choice(page.table.chosen.model).fit.verdict is Verdict.NO
    advice = page.detail.weighed.advice.changes
    assert any(said.startswith(f"{EIGHT} instead") for said in advice.rows)
    next(each for each in advice.buttons if each.text() == "Show it").click()
    assert page.table.chosen.model.id == EIGHT


def test_a_wanted_speed_lists_what_would_reach_it(measured, qtbot, full):
    measured.table.choose(LARGER)
    measured.detail.weighed.speed.least.setValue(8)
    advice = measured.detail.weighed.advice.changes
    qtbot.waitUntil(lambda: advice.head.startswith(f"It would reach 8.0{THIN}tok/s"))
    assert 1 <= len(advice.rows) <= 3
    measured.detail.weighed.speed.least.setValue(0)
    qtbot.waitUntil(lambda: advice.head == "")
    assert full.weighing.wanted_tps is None


def test_the_strip_takes_its_room_from_the_rows(page):
    page.setMinimumSize(1, 1)  # as in the window, which gives it what there is
    page.resize(900, 560)
    whole = page._table_panel.minimumHeight()
    page.machine.open()
    assert page._table_panel.minimumHeight() < whole
    assert page.foot.isVisible()
    page.resize(900, page.fontMetrics().height() * 30)
    assert not page.foot.isVisible()
    page.machine.strip.leave()
    assert page.foot.isVisible()


def test_no_other_machine_before_this_one_is_known(services, qtbot):
    made = LibraryPage(services)
    qtbot.addWidget(made)
    made.machine.open()
    assert not made.machine.is_open
    services.memories.start()
    qtbot.waitUntil(made.machine.opener.isEnabled)
    made.machine.open()
    assert made.machine.is_open
    made.shut()


def test_name_verdict_and_speed_stay_in_the_narrowest_table(page):
    table = page.table
    table.setMinimumWidth(0)
    page.setMinimumSize(1, 1)
    page.resize(table.fontMetrics().height() * 30, 700)
    table.fit()
    kept = [column for column in Column if not table.isColumnHidden(column)]
    assert kept == [Column.MODEL, Column.FIT, Column.SPEED]
    assert sum(table.columnWidth(column) for column in kept) <= table.viewport().width()
