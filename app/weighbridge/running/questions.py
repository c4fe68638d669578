"""What the worker of an engine is asked: in a child, for a limited time, for a sick driver may hold or kill it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from weighbridge.hardware.child import Answer, ask
from weighbridge.running.command import environment, worker_argv
from weighbridge_engines.api import Engine

LIMIT_S = 20.0
"""The first use of CUDA or Vulkan after a start may take seconds."""
Ask = Callable[[Sequence[str], float, Mapping[str, str]], Answer]


def ask_worker(engine: Engine, option: str, ask_child: Ask | None = None) -> Answer:
    """What it prints for `option`, such as "--devices". Raises OSError where it cannot be started."""
    argv = [*worker_argv(engine, bool(getattr(sys, "frozen", False))), engine.id, option]
    return (ask_child or ask)(argv, LIMIT_S, environment(engine, "", os.environ))


def ask_devices(engine: Engine, ask_child: Ask | None = None) -> Answer:
    """What it prints when it is asked for its devices: the worker for a library, the program itself for one."""
    if not engine.listing:
        return ask_worker(engine, "--devices", ask_child)
    return (ask_child or ask)(engine.listing, LIMIT_S, environment(engine, "", os.environ))


def last_line(text: str) -> str:
    """The last line that it printed, before which libraries may have printed theirs; "" where there is none."""
    return next(reversed(text.strip().splitlines()), "")


def why(answer: Answer) -> str:
    """Why it told nothing: the last line of its errors, else its exit code."""
    return last_line(answer.err) or str(answer.exit_code)
