"""The Advisor's page: questions prefilled, advice that follows the answers, and buttons that do it."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.running.test_presets import engine
from tests.ui.fakes import GIB, machine

from weighbridge.base.errors import WeighbridgeError
from weighbridge.choices.advice.advice import Action, ActionKind, Topic
from weighbridge.hardware.machine import Device, Memory, MemoryKind, Sight
from weighbridge.hub.hits import Query
from weighbridge.ui.advisor.page import AdvisorPage
from weighbridge.ui.advisor.reckoning import STEP_BYTES

RTX = Device(
    id="gpu0",
    name="NVIDIA GeForce RTX 3090",
    vendor="nvidia",
    memory=Memory(MemoryKind.DEDICATED, 24 * GIB, 23 * GIB),
    compute_capability="8.6",
    seen_by=(Sight("llama_server", "CUDA0"),),
)


@pytest.fixture
def known(full, monkeypatch):
    """The services with llama.cpp among the engines, on a machine with a card that it uses."""
    here = machine(devices=(RTX,))
    for where in (full.weighing, full.weighing._standing):
        sources = replace(where._sources, engines={"llama_server": engine()}, machine=lambda: here, told=lambda: ())
        monkeypatch.setattr(where, "_sources", sources)
    full.memories.machine = here
    return full


@pytest.fixture
def page(qtbot, known):
    made = AdvisorPage(known)
    qtbot.addWidget(made)
    made.resize(1200, 800)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.entered()
    qtbot.waitUntil(lambda: bool(made.advice.points))
    yield made
    made.shut()


def chosen(page, name, answer):
    """As by a person, in the list of a question."""
    field = page.questions.fields[name]
    field.setCurrentIndex(field.findData(answer))
    field.activated.emit(field.currentIndex())


def said(page, topic):
    return next(point.point for point in page.advice.points if point.point.topic is topic)


def reckoned(qtbot, page, act):
    """Waits until what `act` changes is shown."""
    before = page.advice.points
    act()
    qtbot.waitUntil(lambda: page.advice.points is not before and page.advice.points != before)


def test_answers_are_prefilled_and_say_where_they_are_from(page):
    assert page.questions.fields["hardware"].currentData() == "one_nvidia"
    assert page.questions._bases["hardware"].text().startswith("NVIDIA GeForce RTX 3090, 24.0")
    assert page.questions.fields["context"].value() == 4096
    assert page.questions._bases["context"].text() == "from the settings"
    assert not any(reset.isVisible() for reset in page.questions.resets.values())
    assert "RTX 3090" in said(page, Topic.HARDWARE).what.values["device"]


def test_an_answer_changes_the_advice_stays_and_can_be_put_back(qtbot, page):
    first = said(page, Topic.ENGINE).what
    users = page.questions.fields["users"]
    users.setValue(16)
    reckoned(qtbot, page, users.editingFinished.emit)
    assert said(page, Topic.ENGINE).what != first
    reset = page.questions.resets["users"]
    assert page.questions._bases["users"].text() == "your answer"
    page.left()
    page.entered()
    qtbot.waitUntil(reset.isVisible)
    reckoned(qtbot, page, reset.click)
    assert users.value() == 1
    assert said(page, Topic.ENGINE).what == first


def test_an_answer_out_of_a_list_counts(qtbot, page):
    reckoned(qtbot, page, lambda: chosen(page, "purpose", "fleet"))
    assert said(page, Topic.FLEET).what.code == "fleet_start"
    commands = {button.toolTip() for button in page.advice.buttons}
    assert {said(page, topic).action.command for topic in (Topic.SPLIT, Topic.FLEET)} <= commands
    reckoned(qtbot, page, lambda: chosen(page, "hardware", "apple"))
    assert page.questions.fields["room"].currentData() == "unknown"  # a fleet is not made of Macs


def take(known, taken_bytes):
    """Somebody takes so much of what memory was free, and the next sample tells it."""
    memory = known.memories.machine.memory
    left = replace(memory, available_bytes=memory.available_bytes - taken_bytes)
    known.memories.machine = replace(known.memories.machine, memory=left)
    known.memories.changed.emit()


def test_small_movements_of_free_memory_leave_the_page_alone(qtbot, page, known):
    before = page.advice.points
    take(known, STEP_BYTES - 1)
    assert not page._soon.isActive()
    take(known, GIB)
    assert page._soon.isActive()
    qtbot.waitUntil(lambda: not page._soon.isActive() and page._task is None)
    assert page.advice.points == before  # what free RAM is beside a card changes nothing here


def test_several_answers_of_one_question(qtbot, page):
    boxes = page.questions.fields["needs"].boxes
    boxes["vision"].click()
    boxes["json_schema"].click()
    assert page._given["needs"] == {"vision", "json_schema"}
    boxes["vision"].click()
    assert page._given["needs"] == {"json_schema"}
    assert boxes["tools"].accessibleName() == "Must do: Tools"
    page.forget()
    qtbot.waitUntil(lambda: not boxes["json_schema"].isChecked())


def test_each_thing_to_do_has_one_button_with_its_command(page):
    actions = [point.point.action for point in page.advice.points if point.act is not None]
    assert all(actions.count(one) == 1 for one in actions)
    assert [button.property("role") for button in page.advice.buttons].count("primary") == 1
    assert all(button.accessibleName() for button in page.advice.buttons)
    stops = [each for each in page.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [
        each for each in stops if each.isVisible() and not (each.accessibleName() or getattr(each, "text", str)())
    ] == []


def press(page, action):
    """The button of a point that has `action`."""
    beside = page.advice.buttons[0]
    page._doing.do(action, beside)


def test_a_model_that_is_here_is_loaded_as_advised(qtbot, page, known):
    points = [*page.advice.points]
    action = next(one.point.action for one in points if one.point.action and one.point.action.kind is ActionKind.LOAD)
    with qtbot.waitSignal(known.bus.place_wanted):
        press(page, action)
    assert known.supervisor.made == [action.load]


def test_the_keys_do_what_stands_out(qtbot, page, known):
    first = next(button for button in page.advice.buttons if button.property("role") == "primary")
    with qtbot.waitSignal(first.clicked):
        page._do_first()


def test_a_search_and_an_endpoint_are_asked_of_the_pages_that_know_them(qtbot, page, known):
    query = Query(words="Qwen3", format="exl3")
    with qtbot.waitSignal(known.bus.find_wanted) as asked:
        press(page, Action(ActionKind.FIND, query=query))
    assert asked.args == [query]
    with qtbot.waitSignal(known.bus.endpoint_wanted) as asked:
        press(page, Action(ActionKind.ATTACH, preset="vllm"))
    assert asked.args == ["vllm"]


def test_the_context_of_the_program_is_set(qtbot, page, known):
    press(page, Action(ActionKind.CHANGE, changes={"context": 16_384}))
    assert known.settings.value.context == 16_384
    qtbot.waitUntil(lambda: page.questions.fields["context"].value() == 16_384)


def test_a_measurement_that_fails_is_told_where_it_was_asked_for(page, known, monkeypatch):
    facts = known.facts
    monkeypatch.setattr(facts._background, "stream", lambda *_args: None)
    elsewhere, here = partial(facts.measure, known.memories.machine), partial(press, page, Action(ActionKind.MEASURE))
    for ask, is_told in ((elsewhere, False), (here, True)):
        ask()
        facts._failed(WeighbridgeError("hardware.not_measured"))
        assert page._errors.isVisible() is is_told


def test_what_a_terminal_does_is_copied(page):
    press(page, Action(ActionKind.RUN, command="vllm serve m"))
    assert QApplication.clipboard().text() == "vllm serve m"


def test_it_works_by_the_keyboard(qtbot, page):
    qtbot.waitUntil(page.questions.fields["hardware"].hasFocus)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert page._given["hardware"] == page.questions.fields["hardware"].currentData() != "one_nvidia"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not page.questions.fields["hardware"]


def test_without_room_beside_each_other_they_stand_below(qtbot, page):
    assert page._left_panel.y() == page._right.y()
    page.resize(420, 800)
    qtbot.waitUntil(lambda: page._right.y() > page._left_panel.y())
    viewport = page.advice_area.viewport()
    qtbot.waitUntil(lambda: page.advice.width() <= viewport.width())
    ends = [button.mapTo(viewport, button.rect().topRight()).x() for button in page.advice.buttons]
    assert max(ends) < viewport.width()  # no button is cut off


def test_nothing_is_reckoned_while_it_is_not_shown(qtbot, page, known, monkeypatch):
    page.left()
    page.hide()
    monkeypatch.setattr("weighbridge.ui.advisor.page.reckon", lambda *_: pytest.fail("reckoned"))
    known.bus.library_changed.emit()
    qtbot.wait(150)
