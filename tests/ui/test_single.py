"""One owner of a data folder: real processes, and the socket between two windows."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from PySide6.QtNetwork import QLocalSocket

from weighbridge.base.errors import Refused
from weighbridge.base.locks import OwnerLock
from weighbridge.running.readiness import free_port
from weighbridge.ui import raising as raising_module
from weighbridge.ui.raising import Raising, ask_to_raise
from weighbridge.ui.single import claim, name_of

WINDOW = [sys.executable, "-m", "weighbridge"]
WAIT_S = 60


@pytest.fixture
def start(known_devices):
    """Starts processes; those that still run at the end are killed."""
    started = []

    def begin(*words):
        process = subprocess.Popen([*WINDOW, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def until(true):
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def owner(home):
    return OwnerLock(home / "data").owner()


def window_stands(home, process):
    """It owns the folder, and answers."""
    until(lambda: (told := owner(home)) is not None and told.pid == process.pid)
    until((home / "data" / "weighbridge.sqlite3").exists)


def ended(process):
    out, error = process.communicate(timeout=WAIT_S)
    return process.returncode, out, error


def test_a_second_window_raises_the_first_and_ends_with_zero(home, start):
    first = start()
    window_stands(home, first)
    code, _, error = ended(start())
    assert (code, error) == (0, "")
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    assert first.wait(WAIT_S) == 0
    assert owner(home) is None


def test_after_a_kill_the_next_start_is_a_window(home, start):
    first = start()
    window_stands(home, first)
    first.kill()
    first.wait(WAIT_S)
    second = start()
    window_stands(home, second)
    assert ended(start())[0] == 0, "it listens where the killed one's socket was"
    assert second.poll() is None


def test_beside_serve_there_is_no_window_and_the_terminal_says_why(home, start):
    serve = start("serve", "--port", str(free_port()), "--json")
    url = json.loads(serve.stdout.readline())["url"]
    code, _, error = ended(start())
    assert code == 1
    assert url in error
    assert str(serve.pid) in error


def test_a_window_that_does_not_answer_is_named(home, start):
    first = start()
    window_stands(home, first)
    psutil.Process(first.pid).suspend()
    try:
        code, _, error = ended(start())
    finally:
        psutil.Process(first.pid).resume()
    assert code == 1
    assert str(first.pid) in error


def test_the_owner_tells_its_port(home, start):
    port = free_port()
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text(f"port_on = true\nport = {port}\n")
    start()
    until(lambda: (told := owner(home)) is not None and told.url == f"http://127.0.0.1:{port}")


@pytest.fixture
def raising(qtbot, tmp_path):
    made = Raising(tmp_path)
    yield made
    made.close()
    made.deleteLater()


def said_by(qtbot, words, name):
    """What the first window answers to `words`."""
    socket = QLocalSocket()
    socket.connectToServer(name)
    assert socket.waitForConnected(5000)
    socket.write(words)
    socket.flush()
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)
    return bytes(socket.readAll().data())


def test_it_does_what_it_is_asked_and_nothing_else(qtbot, tmp_path, raising):
    asked = []
    raising.asked.connect(lambda: asked.append(1))
    assert said_by(qtbot, b"raise\n", name_of(tmp_path)) == b"raised\n"
    assert said_by(qtbot, b"quit!\n", name_of(tmp_path)) == b""
    assert said_by(qtbot, b"A" * 100_000, name_of(tmp_path)) == b""
    assert len(asked) == 1


def test_who_says_nothing_is_sent_away(qtbot, tmp_path, raising, monkeypatch):
    monkeypatch.setattr(raising_module, "PATIENCE_S", 0.05)
    assert said_by(qtbot, b"", name_of(tmp_path)) == b""


@pytest.mark.skipif(os.name == "nt", reason="a pipe of Windows has no mode")
def test_the_socket_is_for_this_user_alone(raising):
    mode = Path(raising._server.fullServerName()).stat().st_mode & 0o777
    assert mode & 0o077 == 0


def test_nobody_there_is_no_answer(tmp_path):
    assert not ask_to_raise(name_of(tmp_path), 0.1)


def test_a_window_that_is_just_ending_lets_the_next_one_in(tmp_path, monkeypatch):
    first, second = OwnerLock(tmp_path), OwnerLock(tmp_path)
    first.take("window")
    monkeypatch.setattr(time, "sleep", lambda seconds: first.release())
    assert claim(second, tmp_path)
    second.release()


def test_a_serve_that_owns_is_not_asked_to_come_to_the_front(tmp_path):
    first = OwnerLock(tmp_path)
    first.take("serve")
    with pytest.raises(Refused):
        claim(OwnerLock(tmp_path), tmp_path)
    first.release()


def test_a_folder_that_cannot_be_written_to_has_no_owner(tmp_path):
    (tmp_path / "file").write_text("")
    assert claim(OwnerLock(tmp_path / "file"), tmp_path / "file")
