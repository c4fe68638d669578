"""The Library page: what is listed, and what its actions ask for."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import machine, running
from tests.ui.made_library import fill

from weighbridge.base.errors import EngineFailed, Refused, Unreachable
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Surroundings, weigh
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.library.model import Model
from weighbridge.running.state import State
from weighbridge.ui.longest import longest_attended, longest_stated
from weighbridge.ui.models.library_model import LibraryModel
from weighbridge.ui.models.library_row import Column, LibraryRow
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.weighing import Weighing, WhatIf
from weighbridge_engines.api import Load

THIN = "\u202f"
SMALL = "Qwen3-0.6B-Q8_0"


@pytest.fixture
def page(library_page):
    return library_page


def cell(page, column):
    return page.table.model().index(page.table.currentIndex().row(), column).data()


def test_what_is_listed_is_sorted_and_the_first_is_chosen(page):
    model = page.table.model()
    names = [model.index(row, Column.MODEL).data() for row in range(model.rowCount())]
    assert names == sorted(names, key=str.casefold)
    assert len(names) == 7
    assert page.table.chosen.model.title == names[0]


def test_a_row_tells_what_is_in_the_file(page):
    page.table.choose("Qwen3-8B-Q4_K_M")
    assert [cell(page, column) for column in (Column.FORMAT, Column.QUANT, Column.SIZE, Column.CONTEXT)] == [
        "GGUF",
        "Q4_K_M",
        f"4.7{THIN}GiB",
        "40,960",
    ]
    # 4.7 GiB, 576 MiB of cache (36 layers x 8 heads x 256 x 2 bytes x 4,096 tokens), and what the engine takes.
    assert cell(page, Column.MEMORY) == f"5.4{THIN}GiB"
    assert cell(page, Column.FIT).startswith("Fits · ")


def test_an_unknown_kind_keeps_an_unknown_cache(page):
    page.table.choose("Falcon-H1-1B-Q5_K_M")
    assert cell(page, Column.MEMORY).endswith("+ unknown")
    assert cell(page, Column.FIT) == "Unknown"


def test_a_damaged_file_says_why_and_cannot_be_loaded(page, full):
    page.table.choose("Broken-7B.Q4_0")
    assert cell(page, Column.STATE) == "Damaged"
    assert "web page" in page.detail.weighed._problem.text()
    load, stop, chat = page.detail.buttons
    assert not (load.isVisible() or stop.isVisible() or chat.isVisible())
    page.loads.load()
    page.loads.chat()
    assert full.supervisor.loads == []


def test_the_context_in_use_is_weighed_and_told_to_the_supervisor(page, full):
    page.table.choose("Qwen3-8B-Q4_K_M")
    page.controls.context.setValue(8192)
    assert cell(page, Column.MEMORY) == f"6.0{THIN}GiB"
    assert page.table.model().headerData(Column.MEMORY, Qt.Orientation.Horizontal) == "Memory at 8,192"
    assert full.supervisor.contexts == [8192]
    assert full.settings.value.context == 8192


def test_a_smaller_cache_and_more_slots_are_weighed_and_loaded(page, full):
    page.table.choose("Qwen3-8B-Q4_K_M")
    page.controls.kv.setCurrentText("q8_0")
    assert cell(page, Column.MEMORY) == f"5.2{THIN}GiB"  # 306 MiB of cache
    page.controls.slots.setValue(4)
    page.loads.load()
    load = full.supervisor.made[-1]
    assert (load.key_type, load.value_type, load.slots) == ("q8_0", "q8_0", 4)
    page.controls.reset.click()
    assert cell(page, Column.MEMORY) == f"5.4{THIN}GiB"
    assert full.weighing.load_of(page.table.chosen.model).key_type is None


def test_the_slider_moves_the_context_in_whole_steps(page, full):
    page.controls.slider.setValue(page.controls.slider.value() + 1)
    assert full.settings.value.context == 8192
    assert page.controls.context.value() == 8192


@pytest.mark.parametrize(("title", "longest"), [("Qwen3-8B-Q4_K_M", 40_960), ("Llama-3.2-3B-Q6_K", 131_072)])
def test_the_slider_goes_to_the_longest_context_of_the_chosen_model(page, full, title, longest):
    page.table.choose(title)
    page.controls.slider.setValue(page.controls.slider.maximum())
    assert full.settings.value.context == longest


def known(context, *heads):
    info = ModelInfo("gguf", Kind.CHAT, context_length=context, heads=heads or None)
    return Model("m", "M", Path("m.gguf"), (Path("m.gguf"),), "gguf", None, 1, info)


def test_what_keeps_only_a_state_does_not_stretch_the_slider():
    mamba, unknown, attending = known(1 << 20, 0, 0), known(1 << 20), known(32_768, 8, 8)
    hybrid = known(65_536, 0, 0, 8)
    assert longest_stated(None, longest_attended([mamba, unknown, attending])) == 32_768
    assert longest_stated(None, longest_attended([mamba, attending, hybrid])) == 65_536
    assert longest_stated(mamba, longest_attended([mamba, attending])) == 1 << 20
    assert longest_stated(known(None), longest_attended([mamba, attending])) == 32_768
    assert longest_stated(None, longest_attended([mamba])) is None


def test_reset_puts_back_all_controls_and_is_only_there_for_a_change(page, full):
    assert page.controls.reset.isHidden()
    page.controls.context.setValue(20_000)
    page.controls.kv.setCurrentText("q4_0")
    page.controls.reset.click()
    assert full.settings.value.context == 4096
    assert full.weighing.what_if == WhatIf()
    assert page.controls.reset.isHidden()


def test_a_page_made_anew_shows_the_controls_as_they_stood(page, full, qtbot):
    page.controls.kv.setCurrentText("q4_0")
    page.controls.slots.setValue(2)
    other = LibraryPage(full)
    qtbot.addWidget(other)
    assert other.controls.what_if == WhatIf("q4_0", 2)
    other.shut()


def test_the_curve_tells_the_cache_at_the_context_that_is_weighed(page):
    page.table.choose("Qwen3-8B-Q4_K_M")
    page.controls.context.setValue(5120)
    # 36 layers x 8 heads x 256 x 2 bytes: 144 KiB a token.
    assert page.detail.weighed._curve.accessibleDescription() == (
        f"720.0{THIN}MiB at 5,120 tokens, rising to 5.6{THIN}GiB at 40,960 tokens"
    )


def test_a_close_look_tells_the_longest_context(page, full, qtbot):
    page.table.choose("Qwen3-8B-Q4_K_M")
    qtbot.waitUntil(lambda: "The longest context that fits" in page.detail.weighed._cache.text())
    assert "36 layers × (1,024 + 1,024) × 2 bytes" in page.detail.weighed._cache.text()
    assert "40,960 tokens" in page.detail.weighed._cache.text()


def test_what_does_not_fit_says_what_would_and_takes_it_over(page, full, qtbot):
    page.table.choose("Qwen3-8B-Q4_K_M")
    page.controls.context.setValue(1 << 18)
    assert cell(page, Column.FIT).startswith("No · ")
    qtbot.waitUntil(page.detail.weighed.advice.remedy.isVisible)
    page.detail.weighed.advice.remedy.click()
    assert cell(page, Column.FIT).startswith(("Fits · ", "Tight · "))


def test_search_keeps_what_holds_all_words_and_escape_clears_it(page):
    page._search.setText("qwen3 q8_0")
    assert page.table.model().rowCount() == 2
    assert page.escape()
    assert page.table.model().rowCount() == 7
    assert not page.escape()


def test_enter_loads_and_once_loaded_chats(qtbot, page, full):
    wanted = []
    full.bus.chat_wanted.connect(wanted.append)
    page.table.choose(SMALL)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert full.supervisor.loads == [(SMALL, 4096)]
    assert full.settings.value.last_model == SMALL
    assert wanted == []
    full.supervisor.become(full.bus, running(SMALL))
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert wanted == [SMALL]
    assert len(full.supervisor.loads) == 1


def test_a_load_shows_stage_and_time_and_can_be_cancelled(qtbot, page, full):
    page.table.choose(SMALL)
    full.supervisor.become(full.bus, running(SMALL, State.LOADING, stage="weights", url=None))
    assert page.detail._stage.text().startswith("Loading the weights · ")
    full.supervisor.become(full.bus, running(SMALL, State.LOADING, stage="kernels", steps=(3, 57), url=None))
    assert page.detail._stage.text().startswith("Building kernels · 3 of 57 · ")
    load, stop, _ = page.detail.buttons
    assert stop.text() == "Cancel"
    assert not load.isVisible()
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    assert full.supervisor.stops == [SMALL]
    assert page.escape()
    assert full.supervisor.stops == [SMALL, SMALL]
    page.left()


def test_a_loaded_model_shows_its_settings_and_what_it_holds(page, full, qtbot):
    full.memories.start()
    qtbot.waitUntil(lambda: full.memories.total_bytes is not None)
    full.memories.stop()
    page.table.choose(SMALL)
    buffers = {"weights_bytes": 600 << 20, "kv_bytes": 400 << 20}
    full.supervisor.become(full.bus, running(SMALL, buffers=buffers, memory_bytes=1100 << 20))
    assert page.detail._settings.isVisible()
    kinds = {part.kind: part.size_bytes >> 20 for part in page.detail.weighed.bars.bars[0].memory.ordered}
    assert (kinds["weights"], kinds["kv"], kinds["engine"]) == (600, 400, 100)
    assert "1.1" in page.detail.weighed._basis.text()


def test_a_failed_load_says_why_with_the_log_and_can_be_tried_again(qtbot, page, full):
    page.table.choose(SMALL)
    error = EngineFailed("engine.killed", ("last words",), engine="llama.cpp", exit_code=-9, signal="SIGKILL")
    full.supervisor.become(full.bus, running(SMALL, State.FAILED, error=error, url=None))
    shown = page.detail._error
    assert shown.isVisible()
    assert "last words" in shown.shown_report.details
    qtbot.waitUntil(lambda: shown.buttons[0].height() > 0)
    qtbot.mouseClick(shown.buttons[0], Qt.MouseButton.LeftButton)
    assert full.supervisor.loads == [(SMALL, 4096)]


def test_a_refused_load_is_told_on_the_page(qtbot, page, full):
    page.table.choose(SMALL)
    page.loads.load()
    full.supervisor.futures[0].set_exception(Refused("engine.none_for_format", format="gguf", model=SMALL))
    qtbot.waitUntil(page.errors.isVisible)
    assert SMALL in page.errors.shown_report.whole


def test_copy_path(page):
    page.table.choose(SMALL)
    page.acts.copy.trigger()
    assert QApplication.clipboard().text() == str(page.table.chosen.model.path)


def test_rescan_finds_what_came_and_keeps_the_choice(qtbot, page, full):
    page.table.choose(SMALL)
    (full.paths.models / "old" / "Broken-7B.Q4_0.gguf").unlink()
    page.rescan()
    qtbot.waitUntil(lambda: page.table.model().rowCount() == 6)
    assert page.table.chosen.model.id == SMALL


@pytest.fixture
def empty(qtbot, services):
    made = LibraryPage(services)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(made.empty.button.isVisible)
    yield made
    made.shut()


def test_an_empty_library_gets_the_starter_model(qtbot, empty, services, monkeypatch):
    go = threading.Event()

    def fetch(models, task, *_):
        assert models == services.paths.models
        task.step(49 << 20, 98 << 20, "downloading")
        go.wait(5)
        fill(models)
        return models / "starter.gguf"

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    qtbot.mouseClick(empty.empty.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "49.0" in empty._progress._amount.text())
    assert not empty.empty.button.isEnabled()
    go.set()
    qtbot.waitUntil(lambda: empty.table.model().rowCount() == 7)
    assert not empty._progress.isVisible()


def test_the_fetch_can_be_cancelled(qtbot, empty, monkeypatch):
    def fetch(models, task, *_):
        woken = threading.Event()
        task.on_cancel(woken.set)
        woken.wait(5)
        task.check()

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    empty.fetch_starter()
    assert empty.escape()
    qtbot.waitUntil(empty.empty.button.isEnabled)
    assert not empty.errors.isVisible()


def test_a_failed_fetch_says_why(qtbot, empty, monkeypatch):
    def fetch(models, task, *_):
        raise Unreachable("starter.unreachable", hub="no route", index="no route")

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    empty.fetch_starter()
    qtbot.waitUntil(empty.errors.isVisible)
    assert empty.errors.buttons[0].text() == "Try again"


def test_engines_are_asked_what_they_can_use_without_another_page(page, full, qtbot):
    qtbot.waitUntil(lambda: full.facts.answered)


def test_nothing_is_said_of_cards_before_engines_told_whether_they_use_them(full, qtbot):
    card = Device("cuda.0", "nvidia", "RTX 3090", Memory(MemoryKind.DEDICATED, 24 << 30, 23 << 30))
    told = []
    sources = replace(
        full.weighing._sources, machine=lambda: machine(devices=(card,)), told=lambda: told[0] if told else None
    )
    weighing = Weighing(sources, full.background)
    models = full.library.models
    weighing.refresh(models, models)
    assert [weighing.choice(model) for model in models] == [None] * 7
    told.append(())
    weighing.refresh(models, models)
    assert all(weighing.choice(model) is not None for model in models)


def rows(full):
    around, blueprints = Surroundings(machine(), {}), Blueprints()
    models = full.library.models
    return [LibraryRow(each, weigh(each, blueprints.of(each), Load("", context=4096), around)) for each in models]


def test_the_item_model_keeps_qts_rules(full, qtmodeltester):
    model = LibraryModel()
    model.show_rows(rows(full), 4096)
    qtmodeltester.check(model)


def test_unknown_sorts_last(full):
    model = LibraryModel()
    model.show_rows(rows(full), 4096)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        model.sort(Column.MEMORY, order)
        last = [model.index(row, Column.MODEL).data() for row in range(model.rowCount())][-2:]
        assert set(last) == {"Broken-7B.Q4_0", "Falcon-H1-1B-Q5_K_M"}


def test_however_many_rows_change_it_is_told_once(full, qtbot):
    model = LibraryModel()
    model.show_rows(rows(full), 4096)
    told = []
    model.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    changed = [replace(row, running=running(row.model.id)) for row in rows(full)]
    model.show_rows(changed, 4096)
    model.show_rows(changed, 4096)
    assert told == [(0, len(changed) - 1)]
    assert [model.row(place) for place in range(model.rowCount())] == changed


def test_a_loaded_model_is_pinned_and_unpinned_and_says_so(page, full):
    page.table.choose(SMALL)
    assert not page.detail.pin.isVisible()
    assert not page.acts.pin.isEnabled()
    full.supervisor.become(full.bus, running(SMALL))
    page.detail.pin.click()
    full.supervisor.become(full.bus, running(SMALL, pinned=True))
    assert cell(page, Column.STATE) == "Loaded · pinned"
    assert page.detail.pin.text() == "Unpin"
    page.acts.pin.trigger()
    assert full.supervisor.pins == [(SMALL, True), (SMALL, False)]


def test_what_a_load_would_end_stands_beside_its_button(page, full, qtbot):
    full.supervisor.ends = (SMALL,)
    full.supervisor.become(full.bus, running(SMALL))
    page.table.choose("Qwen3-8B-Q4_K_M")
    qtbot.waitUntil(lambda: page.detail.ends == f"Loading this ends: {SMALL}")
    page.table.choose(SMALL)
    assert page.detail.ends == ""
    full.supervisor.become(full.bus)
    page.table.choose("Qwen3-8B-Q4_K_M")
    assert page.detail.ends == ""
