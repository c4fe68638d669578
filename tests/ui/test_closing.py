"""Closing the window: end, tray or question."""

import pytest
from PySide6.QtWidgets import QSystemTrayIcon
from tests import made_downloads
from tests.ui.fakes import running
from tests.ui.test_window import MAKERS

from weighbridge.running.state import State
from weighbridge.ui.closing import Closing, Step, is_busy, next_step
from weighbridge.ui.port_control import PortState
from weighbridge.ui.window import Window

pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged")
"""Without a screen there is no tray; Qt says so."""


@pytest.mark.parametrize(
    ("closing", "tray", "busy", "step"),
    [
        ("stop", True, False, Step.STOP),
        ("stop", True, True, Step.ASK),
        ("stop", False, True, Step.STOP),
        ("tray", True, False, Step.REST),
        ("tray", True, True, Step.REST),
        ("tray", False, True, Step.STOP),
    ],
)
def test_what_closing_does(closing, tray, busy, step):
    assert next_step(closing, tray, busy) is step


def test_a_model_is_busy_while_it_answers_or_is_waited_for():
    assert not is_busy((running(),))
    assert is_busy((running(), running("b", in_flight=1)))
    assert is_busy((running(state=State.LOADING, waiting=1),))


@pytest.fixture
def tray(monkeypatch):
    """A desktop with a tray; what it was told to show."""
    said = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, title, what, icon: said.append(what))
    return said


@pytest.fixture
def window(qtbot, full):
    made = Window(full.theme, full.settings, full.bus)
    qtbot.addWidget(made, before_close_func=lambda window: window.shut())
    made.take(full, MAKERS)
    made.show_first("library")
    made.show()
    return made


@pytest.fixture
def closing(window, full):
    made = Closing(full.settings)
    made.told = []
    made.ended.connect(lambda: made.told.append("ended"))
    made.opened.connect(lambda: made.told.append("opened"))
    yield made
    made.leave_tray()


def chosen(closing, words):
    next(one for one in closing.tray.menu.actions() if one.text() == words).trigger()


def test_by_default_it_ends(closing, window, full, tray):
    closing.close(window, full, to_quit=False)
    assert closing.told == ["ended"]


def test_in_the_tray_the_port_goes_on_and_nothing_samples(qtbot, closing, window, full, tray):
    full.settings.change(closing="tray")
    full.port.open()
    qtbot.waitUntil(lambda: full.port.state is PortState.ON)
    closing.close(window, full, to_quit=False)
    assert not window.isVisible()
    assert not full.memories._timer.isActive()
    assert full.port.state is PortState.ON
    assert closing.tray.menu.actions()[2].text() == "Port open at 127.0.0.1:2412"
    chosen(closing, "Close the port")
    qtbot.waitUntil(lambda: full.port.state is PortState.OFF)
    assert closing.tray.menu.actions()[2].text() == "The port is off."
    chosen(closing, "Open the window")
    chosen(closing, "Quit")
    assert closing.told == ["opened", "ended"]
    window.wake()
    assert window.isVisible()
    assert full.memories._timer.isActive()


def test_it_says_where_it_went_the_first_time(closing, window, full, tray):
    full.settings.change(closing="tray")
    for _ in range(2):
        closing.close(window, full, to_quit=False)
        closing.leave_tray()
        window.wake()
    assert len(tray) == 1
    assert full.settings.value.tray_told


def test_while_a_model_answers_it_asks_in_the_page(closing, window, full, tray):
    full.supervisor.become(full.bus, running(in_flight=1))
    closing.close(window, full, to_quit=False)
    assert window.question.isVisible()
    assert closing.told == []
    window._escape()
    assert not window.question.isVisible()
    closing.close(window, full, to_quit=False)
    keep, end = window.question.buttons
    keep.click()
    assert not window.isVisible()
    assert closing.tray is not None
    end.click()
    assert closing.told == ["ended"]


def test_while_models_are_fetched_it_asks_and_says_what_closing_does(qtbot, closing, window, full, jobs, tray):
    jobs.become(*made_downloads.jobs()[:1])
    qtbot.waitUntil(lambda: full.downloads.busy)
    closing.close(window, full, to_quit=False)
    assert window.question.what == (
        "Models are being fetched. Closing pauses that until the next start; what came is kept."
    )
    window.question.buttons[0].click()
    assert "1 download, 42.0 of 79.8" in [one.text() for one in closing.tray.menu.actions()][4]
    jobs.become()
    qtbot.waitUntil(lambda: not closing.tray.menu.actions()[4].isVisible())


def test_paused_and_finished_downloads_hold_nothing_up(qtbot, closing, window, full, jobs, tray):
    jobs.become(*made_downloads.jobs()[4:])
    qtbot.waitUntil(lambda: len(full.downloads.snapshot.jobs) == 5)
    closing.close(window, full, to_quit=False)
    assert closing.told == ["ended"]


def test_it_asks_once(closing, window, full, tray):
    full.supervisor.become(full.bus, running(in_flight=1))
    closing.close(window, full, to_quit=False)
    closing.close(window, full, to_quit=False)
    assert closing.told == ["ended"]


def test_quit_ends_whatever_the_setting(closing, window, full, tray):
    full.settings.change(closing="tray")
    closing.close(window, full, to_quit=True)
    assert closing.told == ["ended"]


def test_without_a_tray_it_ends(closing, window, full):
    full.settings.change(closing="tray")
    full.supervisor.become(full.bus, running(in_flight=1))
    closing.close(window, full, to_quit=False)
    assert closing.told == ["ended"]


def test_before_the_core_is_there_it_ends(closing, window, full, tray):
    full.settings.change(closing="tray")
    closing.close(window, None, to_quit=False)
    assert closing.told == ["ended"]
