"""How an engine that is not here is got. Pure, but for the path of this Python."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable

from weighbridge_engines.api import Cause, Engine

TRIAL = "echo"
"""The engine that is always there, and runs no model."""
_PIP = "pip install "


def command_for(engine: Engine, anew: bool = False) -> str:
    """The command that installs `engine` into the Python that runs this program, for a person to enter.

    An engine that no package manager of Python brings says so in its own words, and so does a build that has none.
    """
    if not engine.install.startswith(_PIP) or getattr(sys, "frozen", False):
        return engine.install
    options = "--force-reinstall " if anew else ""
    return f"{_quoted(sys.executable)} -m {_PIP}{options}{engine.install.removeprefix(_PIP)}"


def none_installed(engines: Iterable[Engine], preferred: Iterable[str]) -> Cause | None:
    """That no file can be run, and which engine of `preferred`, the best first, to install; None where one is there."""
    real = {engine.id: engine for engine in engines if engine.id != TRIAL and engine.attach is None}
    best = next((real[name] for name in preferred if name in real), None)
    if best is None or any(engine.missing() is None for engine in real.values()):
        return None
    return Cause("engine.none_installed", {"engine": best.title, "install": command_for(best)})


def _quoted(path: str) -> str:
    return subprocess.list2cmdline([path]) if os.name == "nt" else shlex.quote(path)
