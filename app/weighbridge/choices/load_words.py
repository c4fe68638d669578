"""How far a load is, in words. For window and terminal."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.units import THIN, number
from weighbridge.base.words import mark, text
from weighbridge.library.model import ENDPOINT
from weighbridge.running.state import Running

LONG_S = 30.0
"""A load that shows no sign for less is like any other."""

STAGE_WORDS: Mapping[str, str] = {
    "starting": mark("Starting the engine"),
    "kernels": mark("Building kernels"),
    "reading": mark("Reading the file"),
    "weights": mark("Loading the weights"),
    "context": mark("Making room for the context"),
    "warming": mark("Warming up"),
    "ready": mark("Ready"),
}


def stage_in_words(running: Running) -> str:
    """ "Loading the weights · 12 of 57"; a stage that we do not know is shown as it is. Of what an endpoint serves,
    nothing is loaded: its server is asked.
    """
    if running.engine_id == ENDPOINT:
        return text("Asking its server")
    stage = text(STAGE_WORDS[running.stage]) if running.stage in STAGE_WORDS else running.stage
    if running.steps is None:
        return stage
    done, total = running.steps
    return text("{stage} · {done} of {total}", stage=stage, done=number(done), total=number(total))


def still_in_words(running: Running, now_s: float) -> str:
    """That a load has shown no sign for long; "" where it has, or nothing loads."""
    still_s = running.still_s(now_s)
    if still_s is None or still_s < LONG_S:
        return ""
    time = f"{number(round(still_s))}{THIN}s"
    return text("no sign for {time}; it may go on", time=time)


def load_in_words(running: Running, now_s: float) -> str:
    """The stage of a load, how long it has taken, and whether it stands still. `now_s` is `time.monotonic()`."""
    elapsed = f"{number(max(0.0, now_s - running.since_s), 1)}{THIN}s"
    return " · ".join(filter(None, (stage_in_words(running), elapsed, still_in_words(running, now_s))))
