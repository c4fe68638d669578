"""An answer that came in one piece though a stream was asked for, as servers elsewhere may send it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weighbridge.base.errors import EngineFailed
from weighbridge.chat.events import Delta, Done, Event, Finish, StreamFault
from weighbridge.chat.stream import error_message, usage

MOST_BYTES = 16 << 20


def events_of(body: bytes) -> list[Event]:
    """The events that a stream would have had.

    Raises EngineFailed("engine.answered") for an error that says it is a good answer, and
    EngineFailed("stream.malformed") for anything else.
    """
    try:
        read = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise EngineFailed("stream.malformed") from None
    if isinstance(read, dict) and read.get("error"):
        raise EngineFailed("engine.answered", message=error_message(read["error"]))
    choice = _first(read)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise EngineFailed("stream.malformed")
    finish = choice.get("finish_reason")
    ended: list[Event] = [Finish(finish), Done()] if isinstance(finish, str) else [StreamFault("stream.interrupted")]
    counts = usage(read.get("usage"))
    return [_delta(message), *([] if counts is None else [counts]), *ended]


def _first(read: object) -> Mapping[str, Any]:
    choices = read.get("choices") if isinstance(read, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _delta(message: Mapping[str, Any]) -> Delta:
    text, reasoning, calls = message.get("content"), message.get("reasoning_content"), message.get("tool_calls")
    return Delta(
        text=text if isinstance(text, str) else "",
        reasoning=reasoning if isinstance(reasoning, str) else "",
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
    )
