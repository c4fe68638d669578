"""An engine's stream made into ours, frame by frame.

Most frames pass as the bytes they are. One that needs a change is recognised by a few byte tests, which are exact: a
quote inside a JSON string is escaped, so `"usage":` can only be a field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.chat.events import Usage
from weighbridge.chat.frames import Frames, frame_of, payload
from weighbridge.chat.stream import error_message, timings, usage
from weighbridge.server.characters import Characters, is_sound
from weighbridge.server.replies import error_body

_DONE = b"data: [DONE]\n\n"
_ENGINES_OWN = ("timings", "prompt_progress", "__verbose")


@dataclass(frozen=True)
class Asked:
    """What the caller wants to see beside the answer."""

    usage: bool = False
    timings: bool = False
    progress: bool = False

    def unwanted(self) -> tuple[str, ...]:
        """The engine's own fields that are left out."""
        kept = {"timings": self.timings, "prompt_progress": self.progress}
        return tuple(name for name in _ENGINES_OWN if not kept.get(name, False))


class Relay:
    """One stream. `feed` it the engine's bytes and send on what it returns; `end` it when the engine has ended.

    Every chunk carries our model id. Usage comes in one chunk of its own before the end, if asked for, and never else.
    A stream that breaks off, in whatever way, ends in an `error` event.
    """

    def __init__(self, model_id: str, asked: Asked) -> None:
        self._model_id = model_id
        self._asked = asked
        self._unwanted = asked.unwanted()
        self._frames = Frames()
        self._characters = Characters()
        self._model_mark = b'"model":' + json.dumps(model_id, ensure_ascii=False).encode("utf-8", "replace")
        self._marks = tuple(f'"{name}"'.encode() for name in (*self._unwanted, "usage", "error"))
        self._finished = False
        self._usage_chunk: dict[str, Any] | None = None
        self.usage: Usage | None = None
        self.ended = False
        self.fault: WeighbridgeError | None = None

    def feed(self, data: bytes) -> bytes:
        """What `data` gives to send; may be empty."""
        sent = b"".join([self._pass(frame) for frame in self._frames.feed(data)])
        return sent + self.broken(EngineFailed("stream.too_long")) if self._frames.too_long else sent

    def end(self) -> bytes:
        """The engine has ended: what is left to send."""
        # A last frame without its blank line is taken where it is whole, and dropped where it is cut off.
        rest = self._frames.rest().strip()
        sent = self._pass(rest + b"\n\n", cut_off=True) if rest and not self.ended else b""
        return sent if self.ended else sent + self._end_as_told()

    def broken(self, error: WeighbridgeError) -> bytes:
        """The last event of a stream that cannot go on."""
        if self.ended:
            return b""
        self.ended, self.fault = True, error
        return frame_of(error_body(error, 502))

    def _pass(self, frame: bytes, *, cut_off: bool = False) -> bytes:
        if self.ended:
            return b""
        if self._is_plain(frame):
            return frame[:-3] + b',"usage":null}\n\n' if self._asked.usage else frame
        return self._changed(frame, cut_off)

    def _is_plain(self, frame: bytes) -> bool:
        return (
            frame.startswith(b"data: {")
            and frame.find(b"\n") == len(frame) - 2
            and frame.endswith(b"}\n\n")
            and b'"finish_reason":null' in frame
            and self._model_mark in frame
            and not any(mark in frame for mark in self._marks)
            and is_sound(frame)
            and not self._characters.holding
        )

    def _changed(self, frame: bytes, cut_off: bool) -> bytes:
        data = payload(frame)
        if data is None:
            return b"" if cut_off else frame  # a comment, sent to keep the connection open
        if data.strip() == b"[DONE]":
            return self._end_as_told()
        try:
            chunk = json.loads(data.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            chunk = None
        if not isinstance(chunk, dict):
            return b"" if cut_off else self.broken(EngineFailed("stream.malformed"))
        if chunk.get("error"):
            return self.broken(EngineFailed("engine.answered", message=error_message(chunk["error"])))
        return self._rewritten(chunk)

    def _rewritten(self, chunk: dict[str, Any]) -> bytes:
        self._learn(chunk)
        self._characters.mend(chunk)
        chunk["model"] = self._model_id
        told = strip(chunk, self._unwanted)
        counts = told.pop("usage", None)
        if isinstance(counts, dict):
            self._usage_chunk = {**told, "choices": [], "usage": counts}
        if not told.get("choices") and not any(name in told for name in _ENGINES_OWN):
            return b""
        if isinstance(counts, dict) and not told.get("choices") and self._asked.usage:
            return b""  # it comes before the end, timings and all
        return _frame({**told, "usage": None} if self._asked.usage else told)

    def _learn(self, chunk: Mapping[str, Any]) -> None:
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self._finished = self._finished or any(
                isinstance(choice, dict) and isinstance(choice.get("finish_reason"), str) for choice in choices
            )
        self.usage = known_usage(chunk) or self.usage

    def _end_as_told(self) -> bytes:
        if not self._finished:
            return self.broken(EngineFailed("stream.interrupted"))
        self.ended = True
        counts = _frame(self._usage_chunk) if self._asked.usage and self._usage_chunk else b""
        return counts + _DONE


def strip(chunk: Mapping[str, Any], unwanted: tuple[str, ...]) -> dict[str, Any]:
    """`chunk` without the `unwanted` fields."""
    return {name: value for name, value in chunk.items() if name not in unwanted}


def known_usage(answer: Mapping[str, Any]) -> Usage | None:
    """The tokens of an answer or a chunk: its usage, or the engine's timings; None where it has neither."""
    counts = usage(answer.get("usage"))
    told = timings(answer.get("timings"))
    if counts is None and told is not None and told.prompt_n is not None and told.predicted_n is not None:
        return Usage(told.prompt_n + (told.cache_n or 0), told.predicted_n)
    return counts


def _frame(chunk: Mapping[str, Any]) -> bytes:
    return frame_of(json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
