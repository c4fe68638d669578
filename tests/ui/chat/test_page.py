"""The chat page, from a message to its answer and back after a restart."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from tests.ui.chat.conftest import MODEL
from tests.ui.fakes import running

from weighbridge.base.errors import BadFile, EngineFailed
from weighbridge.chat.conversation import MessageState
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge.running.state import State
from weighbridge.ui.chat.strip import Readout


def test_a_message_loads_the_model_and_its_answer_is_shown_and_kept(page, full, client, answered):
    item = answered(page)
    assert [(model, load.context) for model, load, _ in full.supervisor.leases] == [(MODEL, 4096)]
    assert client.bodies[0]["messages"] == [{"role": "user", "content": "What is a load line?"}]
    assert item.raw == "Hello there"
    assert page.strip.speed.tps == 61.4
    assert page.strip.context.value == "12 of 4,096 · 4,084 left"
    (talk,) = full.store.conversations()
    assert talk.title == "What is a load line?"
    kept = full.store.messages(talk.id)[1]
    assert (kept.text, kept.state, kept.settings["load"]["context"]) == ("Hello there", MessageState.COMPLETE, 4096)


def test_how_fast_the_answer_was_is_kept(page, full, client, answered, qtbot):
    client.say(*["word "] * 20)
    answered(page)
    kept = SpeedObservations(full.store._database)
    qtbot.waitUntil(lambda: len(kept.all()) == 1)
    (one,) = kept.all()
    assert (one.decode_tps, one.prefill_tps, one.depth) == (61.4, None, 20)
    assert MODEL in one.situation.files


def test_a_full_disk_keeps_nobody_from_going(page, full, monkeypatch):
    def full_disk(name, value):
        raise BadFile("database.failed", path="/p", reason="database or disk is full")

    monkeypatch.setattr(full.store, "remember", full_disk)
    page.left()
    page.shut()


def test_enter_sends_and_shift_enter_does_not(page, qtbot):
    edit = page.composer._edit
    qtbot.keyClicks(edit, "One")
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(edit, "two")
    assert page.dialogue.path == ()
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert page.dialogue.path[0].text == "One\ntwo"
    assert page.composer.text == ""
    qtbot.waitUntil(lambda: page.dialogue.answer is None)


def test_stop_while_the_model_loads_leaves_the_queue_and_ends_the_load(page, full, qtbot):
    full.supervisor.lends = False
    page.send("Hello")
    full.supervisor.become(full.bus, running(MODEL, State.LOADING, stage="weights", steps=(12, 57)))
    assert page._loading.isVisible()
    assert page._loading._words.text().endswith(": Loading the weights · 12 of 57")
    assert page.composer.button.text() == "Stop"
    assert page.escape()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert full.supervisor.leases[0][2].cancelled()
    assert full.supervisor.stops == [MODEL]
    assert page.column.items[-1].message.state is MessageState.STOPPED
    assert page.composer.button.text() == "Send"


@pytest.mark.parametrize(("hold_at", "text"), [(1, ""), (3, "One two ")])
def test_stop_while_it_reads_or_writes_keeps_the_text(page, full, client, qtbot, hold_at, text):
    client.say("One ", "two ", "three", hold_at=hold_at)
    page.send("Count")
    qtbot.waitUntil(lambda: bool(page.column.items) and page.column.items[-1].raw == text)
    qtbot.mouseClick(page.composer.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    message = page.column.items[-1].message
    assert (message.text, message.state) == (text, MessageState.STOPPED)
    assert full.store.message(message.id) == message


def test_closing_during_an_answer_leaves_no_thread_and_keeps_the_text(page, full, client, qtbot):
    client.say("One ", "two ", hold_at=2)
    page.send("Count")
    qtbot.waitUntil(lambda: page.column.items[-1].raw == "One ")
    page.shut()
    assert client.closed
    (talk,) = full.store.conversations()
    kept = full.store.messages(talk.id)[1]
    assert (kept.text, kept.state) == ("One ", MessageState.STOPPED)


def test_a_restart_brings_the_conversation_back(make_page, answered):
    first = make_page()
    answered(first)
    first.shut()
    second = make_page()
    assert [item.raw for item in second.column.items] == ["What is a load line?", "Hello there"]
    assert second.strip.speed.tps == 61.4


def test_regenerate_and_edit_make_branches_that_can_be_walked(page, client, answered, qtbot):
    answered(page)
    client.say("Another")
    page._regenerate_last()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    last = page.column.items[-1]
    assert (last.raw, page.dialogue.branch_of(last.message)) == ("Another", (2, 2))
    last.branch_wanted.emit(last.message, -1)
    assert page.column.items[-1].raw == "Hello there"
    page.column.items[-1].edit_wanted.emit(page.column.items[-1].message)
    assert page.composer.editing
    assert page.composer.text == "What is a load line?"
    answered(page, "What is draught?")
    question = page.column.items[0]
    assert page.dialogue.branch_of(question.message) == (2, 2)
    assert not page.composer.editing
    question.branch_wanted.emit(question.message, -1)
    assert [item.raw for item in page.column.items] == ["What is a load line?", "Another"]


def test_a_broken_answer_is_told_in_the_page_with_the_engines_own_cause(page, full, client, answered):
    client.say("Half", "more", error=EngineFailed("engine.silent", reason="closed"))
    item = answered(page)
    assert (item.raw, item.message.state) == ("Half", MessageState.INTERRUPTED)
    cause = EngineFailed("engine.crashed", engine="echo", signal="SIGABRT")
    full.supervisor.become(full.bus, running(MODEL, State.FAILED, error=cause, log=("out of memory",)))
    kept = full.store.message(item.message.id)
    assert (kept.error.code, kept.error.log) == ("engine.crashed", ("out of memory",))
    assert page.column.items[-1] is item
    assert item._error.isVisible()
    assert "out of memory" in item._error.shown_report.details


def test_thoughts_are_folded_and_counted_as_writing(page, client, answered):
    client.say("so it is", "</think>\n\nYes", " it is")
    item = answered(page)
    assert (item.raw, item._thought.thought) == ("Yes it is", "so it is")
    assert item._thought._text.isHidden()
    item._thought.toggle()
    assert item._thought._text.toPlainText() == "so it is"


def test_options_go_with_the_message_and_come_back_with_its_conversation(page, full, client, answered):
    page._options._temperature.setValue(0.7)
    page._options._seed.setValue(7)
    page._options._context.setValue(8192)
    page._options._prompt.setPlainText("Be brief.")
    answered(page)
    assert client.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (client.bodies[0]["temperature"], client.bodies[0]["seed"]) == (0.7, 7)
    assert "top_k" not in client.bodies[0]
    assert full.supervisor.leases[0][1].context == 8192
    asked = page._options.options
    page.new_chat()
    page._options.show_options(type(asked)())
    page.open(full.store.conversations()[0].id)
    assert page._options.options == asked


def test_a_load_that_differs_from_the_options_is_said_and_offered(page, full):
    model = page._chosen.model
    full.supervisor.become(full.bus, running(MODEL, load=full.supervisor.default_load(model)))
    assert page._options._reload.isHidden()
    page._options._threads.setValue(2)
    page._keep_options()
    assert not page._options._reload.isHidden()


def test_search_rename_delete_and_undo(page, full, answered, qtbot):
    answered(page, "Load lines")
    page.new_chat()
    answered(page, "Tango")
    model = page._list._model
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    page._list._search.setText("lines")
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    page._list._search.clear()
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    model.setData(model.index(0), "Dances")
    qtbot.waitUntil(lambda: model.index(0).data() == "Dances")
    page._list._view.setCurrentIndex(model.index(0))
    page._list._delete()
    assert page.dialogue.path == ()
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    page._list._restore()
    assert page.dialogue.path[0].text == "Tango"
    qtbot.waitUntil(lambda: model.rowCount() == 2)


def test_the_reader_who_scrolled_up_is_left_there(page, client, answered, qtbot):
    client.say(*[f"Line {number}\n\n" for number in range(200)])
    answered(page)
    bar = page.column.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500 and bar.value() == bar.maximum())
    assert page.column.place() is None
    client.say(*[f"Line {number}\n\n" for number in range(100)], hold_at=50)
    page.send("More")
    qtbot.waitUntil(lambda: "Line 40" in page.column.items[-1].raw)
    bar.setValue(100)
    client.go.set()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    qtbot.waitUntil(lambda: "Line 99" in page.column.items[-1].raw)
    QApplication.processEvents()
    assert bar.value() == 100
    assert page.column.place() == bar.maximum() - 100


def test_live_figures_are_not_labels_and_are_described_only_at_the_end(page, client, answered, qtbot):
    client.say("One ", "two ", hold_at=2)
    page.send("Count")
    qtbot.waitUntil(lambda: page.column.items[-1].raw == "One ")
    assert page.strip.accessibleDescription() == ""
    client.go.set()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert "61.4" in page.strip.accessibleDescription()
    assert {one.accessibleName() for one in page.strip.findChildren(Readout)} >= {"first token", "memory", "context"}


def test_the_speed_is_told_while_another_conversation_is_looked_at(page, full, client, qtbot):
    told = []
    full.bus.speed_told.connect(lambda model_id, tps, _counted: told.append((model_id, tps)))
    client.say("One ", "two ", hold_at=4)  # after the engine's first figures
    page.send("Count")
    qtbot.waitUntil(lambda: bool(told))
    page.new_chat()
    assert page.dialogue.path == ()
    told.clear()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0][0] == MODEL
    client.go.set()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert told[-1] == (MODEL, None)


def test_a_link_far_up_is_asked_about_in_sight(page, client, answered, qtbot):
    client.say("[x](https://example.org/a)\n\n", *[f"Line {number}\n\n" for number in range(200)])
    item = answered(page)
    bar = page.column.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500)
    bar.setValue(0)
    item._view.link_wanted.emit("https://example.org/a")
    qtbot.waitUntil(lambda: not item._link.visibleRegion().isEmpty())


def test_another_conversation_ends_the_editing(page, answered):
    item = answered(page)
    item.edit_wanted.emit(item.message)
    assert page.composer.editing
    page.new_chat()
    assert not page.composer.editing
    answered(page, "Anew")
    assert len(page.dialogue.path) == 2


def test_side_panes_give_way_the_right_one_first(page, qtbot):
    for width, left, right in ((1200, True, True), (840, True, False), (600, False, False)):
        page.resize(width, 640)
        assert (page._list.isVisible(), page._options.isVisible()) == (left, right)
    page.resize(840, 640)
    page._toggle_options()
    assert (page._list.isVisible(), page._options.isVisible()) == (False, True)
    page._toggle_options()
    assert (page._list.isVisible(), page._options.isVisible()) == (True, False)


def test_all_that_takes_the_focus_has_a_name(page, answered):
    answered(page)
    nameless = [
        type(one).__name__
        for one in page.findChildren(QWidget)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.isVisible()
        and not one.accessibleName()
        and not (isinstance(one, QAbstractButton) and one.text())
    ]
    assert nameless == []


def test_a_figure_wider_than_foreseen_makes_room(page):
    context = page.strip.context
    before = context.sizeHint().width()
    page.strip.show_context(5, 4096)
    assert context.sizeHint().width() == before
    page.strip.show_context(100_000, 1_048_576)
    assert context.sizeHint().width() > before


def test_an_answer_that_waits_shows_its_place_and_can_be_given_up(page, full, qtbot):
    full.supervisor.lends = False
    page.send("Hello")
    [(_, _, lease)] = full.supervisor.leases
    full.supervisor.places[id(lease)] = 3
    qtbot.waitUntil(page._loading.isVisible)
    assert page._loading._words.text() == "Waiting for the model: place 3 in the queue"
    page.stop()
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert not page._loading.isVisible()
    assert lease.cancelled()


def test_what_loading_would_end_stands_beside_the_models_name(page, full, qtbot):
    full.supervisor.ends = ("other",)
    full.supervisor.become(full.bus, running("other", title="Other 7B"))
    qtbot.waitUntil(lambda: page._note.text() == "not loaded · Loading this ends: Other 7B")
    full.supervisor.become(full.bus, running(MODEL))
    assert "ends" not in page._note.text()


def test_the_chosen_model_is_pinned_from_the_switcher(page, full):
    def entries():
        page._switcher._menu.aboutToShow.emit()
        return page._switcher._menu.actions()

    full.supervisor.become(full.bus, running(MODEL))
    assert entries()[-1].text() == f"Pin {MODEL}"
    entries()[-1].trigger()
    full.supervisor.become(full.bus, running(MODEL, pinned=True))
    assert entries()[-1].text() == f"Unpin {MODEL}"
    assert any(one.text().endswith("\tLoaded · pinned") for one in entries())
    entries()[-1].trigger()
    assert full.supervisor.pins == [(MODEL, True), (MODEL, False)]
