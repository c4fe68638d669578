"""Start and end of the whole program: in this process, and as a process of its own that is told to end."""

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLabel, QSystemTrayIcon

from weighbridge.base.paths import default_paths
from weighbridge.base.settings import SettingsStore
from weighbridge.running.installing import command_for
from weighbridge.running.observations import Situation
from weighbridge.running.speed_observations import SpeedObservation, SpeedObservations
from weighbridge.running.state import State
from weighbridge.ui.faults import catch_faults, log_to
from weighbridge.ui.port_control import PortState
from weighbridge.ui.program import Program
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.echo import ENGINE


@pytest.fixture
def program(qtbot, qapp, home):
    made = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE})
    yield made
    made.close()
    made.window.deleteLater()
    made.speech.use("en")


def filled(qtbot, program):
    program.open()
    qtbot.waitUntil(lambda: bool(program.window.pages))
    return program.window


def test_the_window_stands_before_the_rest(qtbot, program):
    program.open()
    assert program.window.isVisible()
    assert program.services is None
    qtbot.waitUntil(lambda: program.window.page_name == "library")


def test_the_port_that_was_open_opens_again(qtbot, program):
    program.settings.change(port_on=True, port=_free_port())
    filled(qtbot, program)
    qtbot.waitUntil(lambda: program.services.port.state is PortState.ON)


def _free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_another_language_is_another_window_on_the_same_page(qtbot, program):
    window = filled(qtbot, program)
    window.show_page("machine")
    program.settings.change(language="es")
    qtbot.waitUntil(lambda: program.window is not window)
    assert program.window.page_name == "machine"
    assert program.window.isVisible()
    assert not window.isVisible()
    assert SettingsStore(default_paths().settings).value.language == "es"


def test_how_fast_an_answer_was_counts_without_a_restart(qtbot, program):
    filled(qtbot, program)
    now = Situation("[]", "", "echo", "1", ("A Processor",), "{}")
    kept = SpeedObservations(program._core.database)
    kept.keep(SpeedObservation(now, False, 100, 61.4, None, None, 50.0, None, 0.0, 1e9, {"host": 40.0}))
    program.bus.speed_kept.emit()
    qtbot.waitUntil(lambda: [one.decode_tps for one in program.services.weighing.sources.speeds.runs] == [61.4])
    program.close()
    program.bus.speed_kept.emit()


def test_a_first_start_without_an_engine_offers_the_command_that_installs_one(qtbot, qapp, home):
    absent = dataclasses.replace(catalogue()["llama_server"], missing=lambda: Cause("engine.not_installed"))
    program = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE, absent.id: absent})
    window = filled(qtbot, program)
    qtbot.waitUntil(window.errors.isVisible)
    assert "No engine is installed" in window.errors.shown_report.what
    go, copy = window.errors.buttons
    copy.click()
    assert qapp.clipboard().text() == command_for(absent)
    go.click()
    assert window.page_name == "engines"
    assert not window.errors.isVisible()
    qtbot.waitUntil(lambda: [one.hint.title for one in window.page.banners] == ["Install llama.cpp"])
    window.show_page("machine")
    qtbot.waitUntil(lambda: any("No engine is installed" in one.said for one in window.pages["machine"]._said))
    program.close()
    program.window.deleteLater()


def test_a_database_that_cannot_be_opened_is_said_in_the_window(qtbot, qapp, home):
    paths = default_paths()
    paths.data.parent.mkdir(parents=True)
    paths.data.write_text("a file where the folder should be")
    program = Program(qapp, paths, dict)
    program.open()
    qtbot.waitUntil(program.window.errors.isVisible)
    assert str(paths.database) in program.window.errors.shown_report.whole
    program.close()
    program.window.deleteLater()


def test_closing_keeps_the_geometry_and_may_come_twice(qtbot, program):
    filled(qtbot, program)
    program.close()
    program.close()
    assert SettingsStore(default_paths().settings).value.window_geometry


def test_where_the_display_has_gone_all_ends_without_the_window(qtbot, program):
    filled(qtbot, program)
    program.give_up()
    program.close()
    assert "supervisor" not in {thread.name for thread in threading.enumerate()}
    assert program.window.isVisible()  # nothing was asked of the display


def test_closing_before_anything_is_built_is_fine(program):
    program.open()
    program.close()


@pytest.fixture
def hooks():
    kept = sys.excepthook, threading.excepthook
    yield
    sys.excepthook, threading.excepthook = kept


def test_what_nobody_caught_is_logged_and_told(hooks, caplog):
    told = []
    catch_faults(told.append)
    error = ValueError("x")
    sys.excepthook(ValueError, error, None)
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()
    assert told[0] is error
    assert isinstance(told[1], ZeroDivisionError)
    assert len(caplog.records) == 2


def test_a_log_that_cannot_be_written_is_no_fault(tmp_path):
    (tmp_path / "file").write_text("")
    log_to(tmp_path / "file" / "log")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_zero_within_five_seconds_and_leaves_nothing(home, number):
    process = subprocess.Popen([sys.executable, "-m", "weighbridge"], env={**os.environ, "WEIGHBRIDGE_HOME": str(home)})
    try:
        until = time.monotonic() + 10
        while not default_paths().database.exists() and time.monotonic() < until:
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        started = time.monotonic()
        assert process.wait(5) == 0
        assert time.monotonic() - started < 5
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
    finally:
        process.kill()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal there")
def test_setters_take_no_reference_off_none(qtbot):
    """PySide6 6.12.0 does, and the process dies of it."""
    label, thing = QLabel(), QObject()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(1000):
        label.setText("a")
        thing.setObjectName("b")
    assert abs(sys.getrefcount(None) - before) < 100


@pytest.mark.qt_log_ignore("systemTrayWindowChanged")
def test_in_the_tray_models_go_on_and_a_second_start_opens_the_window(qtbot, program, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    models = default_paths().models
    models.mkdir(parents=True)
    (models / "parrot.echo").write_text("{}", encoding="utf-8")
    window = filled(qtbot, program)
    qtbot.waitUntil(lambda: bool(program.services.library.models))
    program.services.supervisor.lease(program.services.library.models[0]).result(30).give_back()
    program.settings.change(closing="tray", tray_told=True)
    window.close()
    assert not window.isVisible()
    # What runs is told a moment after a lease is given.
    qtbot.waitUntil(lambda: [one.state for one in program.services.supervisor.running()] == [State.READY])
    assert program.ways_out.tray is not None
    program.come_to_front()
    assert window.isVisible()
    assert program.ways_out.tray is None
    window.close()
    program.close()
    assert program.ways_out.tray is None
