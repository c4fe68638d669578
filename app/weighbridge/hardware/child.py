"""Asking something of another program, for a limited time. A program that hangs, even beyond killing, costs no more."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_AFTER_KILL_S = 0.5
_MAX_SHOWN = 500
_CHECK_S = 0.1


@dataclass(frozen=True)
class Answer:
    """What a program printed. `exit_code` is None where it had to be ended; a negative one is a signal."""

    out: str
    err: str
    exit_code: int | None


def ask(
    argv: Sequence[str],
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    check: Callable[[], None] | None = None,
) -> Answer:
    """Run `argv` without a shell or input, for `limit_s` at most, in our environment unless another is given.

    `check` is called some ten times a second: what it raises ends the program, and is raised. Raises OSError where it
    cannot be started.
    """
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=None if environment is None else dict(environment),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        out, err = _heard(process, limit_s, check)
        return Answer(out, err[-_MAX_SHOWN:], process.returncode)
    except subprocess.TimeoutExpired:
        return Answer("", "", None)
    finally:
        _end(process)


def _heard(process: subprocess.Popen[str], limit_s: float, check: Callable[[], None] | None) -> tuple[str, str]:
    """What it printed until its end. Raises TimeoutExpired, and what `check` raises."""
    if check is None:
        return process.communicate(timeout=limit_s)
    until = time.monotonic() + limit_s
    while True:
        check()
        try:
            return process.communicate(timeout=max(0.0, min(_CHECK_S, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= until:
                raise


def _end(process: subprocess.Popen[str]) -> None:
    """End a program that is still there. One stuck in the kernel cannot be ended: it is left behind, not waited for."""
    if process.poll() is not None:
        return
    process.kill()
    try:
        process.communicate(timeout=_AFTER_KILL_S)
    except subprocess.TimeoutExpired:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
