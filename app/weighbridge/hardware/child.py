"""Asking something of another program, for a limited time. A program that hangs, even beyond killing, costs no more."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_AFTER_KILL_S = 0.5
_MAX_SHOWN = 500


@dataclass(frozen=True)
class Answer:
    """What a program printed. `exit_code` is None where it had to be ended; a negative one is a signal."""

    out: str
    err: str
    exit_code: int | None


def ask(argv: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> Answer:
    """Run `argv` without a shell or input, for `limit_s` at most, in our environment unless another is given.

    Raises OSError where it cannot be started.
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
        out, err = process.communicate(timeout=limit_s)
        return Answer(out, err[-_MAX_SHOWN:], process.returncode)
    except subprocess.TimeoutExpired:
        return Answer("", "", None)
    finally:
        _end(process)


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
