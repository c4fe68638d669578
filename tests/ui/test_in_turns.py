import pytest
from PySide6.QtCore import QTimer

from weighbridge.ui.in_turns import InTurns


@pytest.fixture
def turns(qapp):
    return InTurns()


def test_steps_are_taken_in_order_and_what_else_is_due_comes_in_between(qtbot, turns):
    seen = []
    other = QTimer(turns, interval=0)
    other.timeout.connect(lambda: seen.append("else"))
    turns.ask(lambda: seen.append("one"), lambda: (seen.append("two"), other.start()), lambda: seen.append("three"))
    assert seen == []
    qtbot.waitUntil(lambda: "three" in seen)
    other.stop()
    assert [each for each in seen if each != "else"] == ["one", "two", "three"]
    assert "else" in seen[seen.index("two") : seen.index("three")]


def test_a_step_that_waits_is_taken_once(qtbot, turns):
    seen = []
    twice = lambda: seen.append("twice")  # noqa: E731 - it is compared
    turns.ask(twice, lambda: seen.append("other"))
    turns.ask(twice, lambda: seen.append("last"))
    qtbot.waitUntil(lambda: "last" in seen)
    assert seen == ["other", "twice", "last"]


def test_a_step_may_ask_for_more_and_nothing_comes_after_forget(qtbot, turns):
    seen = []
    turns.ask(lambda: turns.ask(lambda: seen.append("more")))
    qtbot.waitUntil(lambda: seen == ["more"])
    turns.ask(lambda: seen.append("never"))
    turns.forget()
    qtbot.wait(20)
    assert seen == ["more"]


def test_a_step_that_fails_does_not_hold_up_the_next(qtbot, turns):
    seen = []

    def fail():
        raise ValueError("told")

    with qtbot.captureExceptions() as caught:
        turns.ask(fail, lambda: seen.append("next"))
        qtbot.waitUntil(lambda: seen == ["next"])
    assert [str(value) for _, value, _ in caught] == ["told"]


def test_a_step_that_was_done_meanwhile_is_not_taken(qtbot, turns):
    seen = []
    done = lambda: seen.append("done")  # noqa: E731 - it is compared
    turns.ask(done, lambda: seen.append("other"))
    turns.drop(done)
    qtbot.waitUntil(lambda: "other" in seen)
    turns.ask(done)
    turns.drop(done)
    qtbot.wait(20)
    assert seen == ["other"]


def test_steps_give_way_to_those_of_others(qtbot, turns):
    seen = []
    behind = InTurns(turns, lambda: turns.waiting)
    behind.ask(lambda: seen.append("behind"))
    turns.ask(lambda: seen.append("one"), lambda: seen.append("two"))
    qtbot.waitUntil(lambda: "behind" in seen)
    assert seen == ["one", "two", "behind"]


def test_the_turn_in_which_a_step_is_asked_for_takes_none(qtbot, qapp, turns):
    seen = []
    turns.ask(lambda: seen.append("one"))
    qapp.processEvents()
    assert seen == []
    qtbot.waitUntil(lambda: seen == ["one"])
