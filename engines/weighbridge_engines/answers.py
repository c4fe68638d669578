"""Chunks of a session made into OpenAI's answer objects, streamed or whole."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbridge_engines.api import Chunk, TokenLogprob

LEAST_LOGPROB = -9999.0
"""Of a token that was all but impossible, as in OpenAI's reference of the route."""


class Answer:
    """One answer in the making.

    `add` takes chunks in order; `whole` is the object for a caller who did not ask to stream.
    """

    def __init__(self, model: str, body: Mapping[str, Any]) -> None:
        options = body.get("stream_options")
        self._usage_asked = isinstance(options, Mapping) and bool(options.get("include_usage"))
        self._timings_asked = bool(body.get("timings_per_token"))
        self._progress_asked = bool(body.get("return_progress"))
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._start = time.perf_counter()
        self._first: float | None = None
        self._prompt_total = 0
        self._prompt_cached = 0
        self._tokens = 0
        self._finish = "stop"
        self._prompt_tps: float | None = None
        self._decode_tps: float | None = None
        self._text: list[str] = []
        self._logprobs: list[dict[str, Any]] = []

    def opening(self) -> Iterator[dict[str, Any]]:
        """The chunk that names the role."""
        yield self._chunk({"role": "assistant", "content": ""})

    def add(self, chunk: Chunk) -> list[dict[str, Any]]:
        """Count `chunk` in; the events to send for it."""
        self._count(chunk)
        events = []
        if chunk.prompt_total is not None and self._progress_asked:
            progress = {"total": chunk.prompt_total, "cache": chunk.prompt_cached, "processed": chunk.prompt_done}
            events.append(self._chunk({}, prompt_progress={**progress, "time_ms": self._ms()}))
        if chunk.text or chunk.logprobs:
            event = self._chunk({"content": chunk.text}, logprobs=_told(chunk.logprobs))
            events.append({**event, "timings": self._timings()} if self._timings_asked else event)
        return events

    def closing(self) -> Iterator[dict[str, Any]]:
        """The chunk with the reason of the end, and the one with the usage where it was asked for."""
        yield self._chunk({}, finish=self._finish)
        if self._usage_asked:
            yield {
                **self._envelope("chat.completion.chunk"),
                "choices": [],
                "usage": self._usage(),
                "timings": self._timings(),
            }

    def whole(self) -> dict[str, Any]:
        """The answer in one object."""
        message = {"role": "assistant", "content": "".join(self._text)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        usage = {"usage": self._usage(), "timings": self._timings()}
        return {**self._envelope("chat.completion"), "choices": [choice], **usage}

    def _count(self, chunk: Chunk) -> None:
        if chunk.prompt_total is not None:
            self._prompt_total, self._prompt_cached = chunk.prompt_total, chunk.prompt_cached
        if chunk.tokens and self._first is None:
            self._first = time.perf_counter()
        self._tokens += chunk.tokens
        self._text.append(chunk.text)
        self._logprobs += _told(chunk.logprobs)
        self._finish = chunk.finish or self._finish
        self._prompt_tps = chunk.prompt_tps or self._prompt_tps
        self._decode_tps = chunk.decode_tps or self._decode_tps

    def _ms(self) -> float:
        return (time.perf_counter() - self._start) * 1000

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {**self._head, "object": kind}

    def _chunk(
        self, delta: dict[str, Any], finish: str | None = None, logprobs: Sequence[Any] = (), **more: Any
    ) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
        if logprobs:
            choice["logprobs"] = {"content": list(logprobs)}
        return {**self._envelope("chat.completion.chunk"), "choices": [choice], **more}

    def _usage(self) -> dict[str, int]:
        total = self._prompt_total + self._tokens
        return {"prompt_tokens": self._prompt_total, "completion_tokens": self._tokens, "total_tokens": total}

    def _timings(self) -> dict[str, float]:
        """As llama.cpp's server tells them; where the engine tells no speed, the worker's own clock."""
        first = self._first if self._first is not None else time.perf_counter()
        prompt_ms = (first - self._start) * 1000
        decode_ms = (time.perf_counter() - first) * 1000
        measured_tps = (self._tokens - 1) / decode_ms * 1000 if self._tokens > 1 and decode_ms > 0 else 0.0
        read = self._prompt_total - self._prompt_cached
        prompt_tps = self._prompt_tps or (read / prompt_ms * 1000 if prompt_ms > 0 else 0.0)
        return {
            "cache_n": self._prompt_cached,
            "prompt_n": read,
            "prompt_ms": prompt_ms,
            "prompt_per_second": prompt_tps,
            "predicted_n": self._tokens,
            "predicted_ms": decode_ms,
            "predicted_per_second": self._decode_tps or measured_tps,
        }


def _told(logprobs: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    """In OpenAI's form. A token may be part of a character, so its bytes are told beside its text."""
    return [
        {**_token(one.data, one.logprob), "top_logprobs": [_token(*likely) for likely in one.likeliest]}
        for one in logprobs
    ]


def _token(data: bytes, logprob: float) -> dict[str, Any]:
    """JSON has no number for what cannot be, such as a token that a grammar forbids."""
    told = max(logprob, LEAST_LOGPROB)
    return {"token": data.decode("utf-8", "replace"), "logprob": told, "bytes": list(data)}
