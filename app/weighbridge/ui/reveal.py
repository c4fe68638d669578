"""Showing a file in the system's file manager: chosen in its folder where the system can do that, else its folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from weighbridge.base.task import Task
from weighbridge.ui.background import Background

_PATIENCE_S = 5.0
_SERVICE, _OBJECT = "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1"

Open = Callable[[Path], object]


def reveal_command(path: Path, system: str = sys.platform) -> tuple[str, ...]:
    """The program, with its arguments, that shows `path`, which is absolute, in the file manager of `system`.

    The address holds no comma, which dbus-send would take for the end of an item: it is written as %2C.
    """
    if system == "win32":
        return ("explorer", "/select,", str(path))
    if system == "darwin":
        return ("open", "-R", str(path))
    to_whom = ("--session", "--print-reply", "--type=method_call", f"--dest={_SERVICE}", _OBJECT)
    return ("dbus-send", *to_whom, f"{_SERVICE}.ShowItems", f"array:string:{path.as_uri()}", "string:")


def run_command(command: tuple[str, ...], system: str = sys.platform) -> bool:
    """Run it. Whether the file manager took it: Windows' own says 1 whatever happens."""
    try:
        ended = subprocess.run(command, capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return system == "win32" or ended.returncode == 0


def open_folder(path: Path) -> None:
    """Open the folder in which `path` lies, in whatever opens folders here."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


def reveal(path: Path, background: Background, instead: Open = open_folder) -> None:
    """Show `path` in the file manager, off the GUI thread; where none takes it, open its folder by `instead`."""

    def show(task: Task) -> bool:
        del task
        return run_command(reveal_command(path.absolute()))

    def shown(taken: bool) -> None:
        if not taken:
            instead(path)

    def failed(error: BaseException) -> None:
        del error
        instead(path)

    background.run(show, shown, failed)
