"""What a running engine is doing, in words. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.base.words import mark, text
from weighbridge.library.model import ENDPOINT
from weighbridge.running.state import Running, State

_STATES: Mapping[State, tuple[str, str]] = {
    State.STOPPED: ("unknown", mark("Stopped")),
    State.LOADING: ("tight", mark("Loading")),
    State.READY: ("fits", mark("Loaded")),
    State.STOPPING: ("tight", mark("Stopping")),
    State.FAILED: ("no", mark("Failed")),
}
_ELSEWHERE: Mapping[State, str] = {
    State.STOPPED: mark("Not connected"),
    State.LOADING: mark("Connecting"),
    State.READY: mark("Connected"),
}
"""Nothing is loaded for what an endpoint serves."""


def badge_of(running: Running) -> tuple[str, str]:
    """The kind of the badge of its state, and its word."""
    kind, word = _STATES[running.state]
    if running.engine_id == ENDPOINT:
        word = _ELSEWHERE.get(running.state, word)
    return kind, text(word)


def word_of(running: Running) -> str:
    """Its state in a word, and whether it is pinned."""
    word = badge_of(running)[1]
    return text("{state} · pinned", state=word) if running.pinned else word


def ends_in_words(model_ids: Sequence[str], running: Sequence[Running]) -> str:
    """Which models a load would end; "" where none."""
    if not model_ids:
        return ""
    titles = {one.model_id: one.title for one in running}
    return text("Loading this ends: {models}", models=", ".join(titles.get(one, one) for one in model_ids))


def running_of(model_id: str, running: Sequence[Running]) -> Running | None:
    """The engine process of a model, or None."""
    return next((one for one in running if one.model_id == model_id), None)


def in_front(running: Sequence[Running]) -> Running | None:
    """The one that the top bar names: a ready one before a loading one before one that stops."""
    order = (State.READY, State.LOADING, State.STOPPING)
    alive = [one for one in running if one.state in order]
    return min(alive, key=lambda one: order.index(one.state), default=None)
