"""Reads an OpenAI-style stream of chat chunks. Does no input or output of its own: bytes in, events out.

The chat client, the benchmarks and the server all read engines through it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from weighbridge.chat.events import (
    Delta,
    Done,
    Event,
    Finish,
    PromptProgress,
    StreamFault,
    Timings,
    Usage,
)
from weighbridge.chat.frames import MAX_FRAME_BYTES, Frames, payload
from weighbridge.chat.joining import Joiner

__all__ = ["Delta", "Done", "Event", "Finish", "PromptProgress", "StreamFault", "StreamParser", "Timings", "Usage"]


class StreamParser:
    """One stream. `feed` it what arrives, cut anywhere; call `finish` when the connection has ended.

    The last event is `Done` or `StreamFault`, and there is exactly one of them. An answer is done only where the engine
    said why it ended; one that merely stops coming is interrupted, and the text that came stays valid.
    """

    def __init__(self, limit_bytes: int = MAX_FRAME_BYTES) -> None:
        self._frames = Frames(limit_bytes)
        self._text = Joiner()
        self._reasoning = Joiner()
        self._finished = False
        self.ended = False

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        if self.ended:
            return []
        events: list[Event] = []
        for frame in self._frames.feed(data):
            events += self._read(frame)
        if self._frames.too_long and not self.ended:
            events += self._end(StreamFault("stream.too_long"))
        return events

    def finish(self) -> list[Event]:
        """The connection has ended: what was still held back, and how the answer ended."""
        if self.ended:
            return []
        # A last frame without its blank line is taken where it is whole, and is only a cut-off tail where it is not.
        events = self._read(self._frames.rest(), cut_off=True)
        return events if self.ended else events + self._end_as_told()

    def _read(self, frame: bytes, *, cut_off: bool = False) -> list[Event]:
        data = payload(frame)
        if self.ended or not data or not data.strip():
            return []
        if data.strip() == b"[DONE]":
            return self._end_as_told()
        try:
            # `surrogateescape` keeps the bytes of a character that the engine cut between two chunks.
            chunk = json.loads(data.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return [] if cut_off else self._end(StreamFault("stream.malformed"))
        if not isinstance(chunk, dict):
            return self._end(StreamFault("stream.malformed"))
        if chunk.get("error"):
            return self._end(StreamFault("engine.answered", error_message(chunk["error"])))
        return self._events(chunk)

    def _events(self, chunk: Mapping[str, Any]) -> list[Event]:
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        reason = choice.get("finish_reason")
        self._finished = self._finished or isinstance(reason, str)
        found = (
            progress(chunk.get("prompt_progress")),
            self._delta(choice.get("delta")),
            timings(chunk.get("timings")),
            usage(chunk.get("usage")),
            Finish(reason) if isinstance(reason, str) else None,
        )
        return [event for event in found if event is not None]

    def _delta(self, delta: object) -> Delta | None:
        if not isinstance(delta, dict):
            return None
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        calls = delta.get("tool_calls")
        made = Delta(
            text=self._text.feed(_string(delta.get("content"))),
            reasoning=self._reasoning.feed(_string(reasoning)),
            tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
        )
        return made if made != Delta() else None

    def _end_as_told(self) -> list[Event]:
        return self._end(Done() if self._finished else StreamFault("stream.interrupted"))

    def _end(self, last: Done | StreamFault) -> list[Event]:
        self.ended = True
        held = Delta(text=self._text.flush(), reasoning=self._reasoning.flush())
        return [held, last] if held != Delta() else [last]


def error_message(error: object) -> str:
    """The engine's own words in an `error` value, whatever its shape; at most 2,000 characters."""
    words = error.get("message") if isinstance(error, dict) else error
    shown = words if isinstance(words, str) else json.dumps(error, ensure_ascii=False)
    return shown.encode("utf-8", "replace").decode("utf-8")[:2000]


def progress(value: object) -> PromptProgress | None:
    """`prompt_progress` of a chunk; None where it is not there or makes no sense."""
    if not isinstance(value, dict):
        return None
    total, processed = count(value.get("total")), count(value.get("processed"))
    if total is None or processed is None:
        return None
    return PromptProgress(total, count(value.get("cache")) or 0, min(processed, total), measure(value.get("time_ms")))


def timings(value: object) -> Timings | None:
    """`timings` of a chunk; None where it is not there."""
    if not isinstance(value, dict):
        return None
    return Timings(
        prompt_n=count(value.get("prompt_n")),
        cache_n=count(value.get("cache_n")),
        prompt_ms=measure(value.get("prompt_ms")),
        predicted_n=count(value.get("predicted_n")),
        predicted_ms=measure(value.get("predicted_ms")),
        prompt_tps=measure(value.get("prompt_per_second")),
        decode_tps=measure(value.get("predicted_per_second")),
    )


def usage(value: object) -> Usage | None:
    """`usage` of a chunk; None where it is not there."""
    if not isinstance(value, dict):
        return None
    return Usage(count(value.get("prompt_tokens")), count(value.get("completion_tokens")))


def count(value: object) -> int | None:
    """`value` where it is a whole number from 0 up, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def measure(value: object) -> float | None:
    """`value` where it is a finite number from 0 up, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
