"""Showing a file in the file manager."""

import sys
from pathlib import Path, PureWindowsPath

from weighbridge.ui import reveal as module
from weighbridge.ui.reveal import reveal, reveal_command, run_command


def test_each_system_has_its_own_command():
    assert reveal_command(PureWindowsPath(r"C:\my models\a.gguf"), "win32") == (
        "explorer",
        "/select,",
        r"C:\my models\a.gguf",
    )
    assert reveal_command(Path("/m/a b.gguf"), "darwin") == ("open", "-R", "/m/a b.gguf")


def test_no_name_of_a_file_becomes_another_argument():
    command = reveal_command(Path("/m/a,string:x --b $(c).gguf"), "linux")
    assert command[0] == "dbus-send"
    assert command[-2:] == ("array:string:file:///m/a%2Cstring%3Ax%20--b%20%24%28c%29.gguf", "string:")
    assert command[-3] == "org.freedesktop.FileManager1.ShowItems"


def test_a_command_that_is_not_there_or_fails_was_not_taken():
    assert not run_command(("no-such-program-of-weighbridge",))
    assert not run_command((sys.executable, "-c", "raise SystemExit(1)"), "linux")
    assert run_command((sys.executable, "-c", "raise SystemExit(1)"), "win32")
    assert run_command((sys.executable, "-c", ""), "linux")


def test_where_no_file_manager_takes_it_the_folder_is_opened(qtbot, services, monkeypatch):
    opened, asked = [], []
    monkeypatch.setattr(module, "run_command", lambda command: bool(asked.append(command)))
    reveal(Path("/m/a.gguf"), services.background, opened.append)
    qtbot.waitUntil(lambda: bool(opened))
    assert opened == [Path("/m/a.gguf")]
    assert len(asked) == 1


def test_what_a_file_manager_took_opens_nothing_else(qtbot, services, monkeypatch):
    opened, asked = [], []
    monkeypatch.setattr(module, "run_command", lambda command: not asked.append(command))
    reveal(Path("/m/a.gguf"), services.background, opened.append)
    qtbot.waitUntil(lambda: not services.background._tasks)
    assert len(asked) == 1
    assert opened == []
