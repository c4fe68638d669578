"""Answers of a model that an ExLlama library has loaded, several at a time, as a `Session`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from weighbridge_engines.api import SILENCE, Chunk, ContextExceeded, Request, TemplateRefused, TokenLogprob
from weighbridge_engines.exl_batch import Batch, Result
from weighbridge_engines.exl_controls import PAGE
from weighbridge_engines.exl_failures import diagnose
from weighbridge_engines.prompts import Prompts

_MIB = 1 << 20
_OF_LENGTH = "max_new_tokens"
"""Why an answer ended that was to go on; any other reason is an end."""


class OutOfMemory(RuntimeError):
    """A card has no memory for more of an answer; what it has loaded stays."""


class ExlSession:
    """Over what `batch` has loaded. Any thread may ask; prompts are made into tokens one after the other, for
    tokenizers change themselves meanwhile.
    """

    def __init__(self, batch: Batch, prompts: Prompts) -> None:
        self._batch = batch
        self._prompts = prompts
        self._turn = threading.Lock()

    def close(self) -> None:
        """Give everything back."""
        self._prompts.close()
        self._batch.close()

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The progress of the prompt, then the answer. Stop is seen after each step of the generator."""
        loaded = self._batch.loaded
        tokens = self._tokens(request)
        total = int(tokens.shape[-1])
        room = loaded.room(total)
        if room < 1:
            raise ContextExceeded(total, loaded.context)
        job = loaded.job(tokens, replace(request, stop=_written(request.stop)), min(request.max_tokens or room, room))
        reading = Reading(total, loaded.logprobs if request.logprobs is not None else _no_logprobs)
        try:
            with closing(self._batch.results(job)) as results:
                for result in results:
                    if result is None:
                        yield SILENCE
                    else:
                        yield from reading.feed(result)
        except Exception as error:
            if (full := _of_memory(error)) is not None:
                raise full from error
            raise

    def _tokens(self, request: Request) -> Any:
        """Halves of characters, which tokenizers refuse, are read as question marks. Raises TemplateRefused."""
        text = self._prompts.text(request).encode("utf-8", "replace").decode()
        with self._turn:
            tokens = self._batch.loaded.tokens(text)
        if not tokens.shape[-1]:
            raise TemplateRefused("the model's chat template makes nothing of these messages")
        return tokens


def _written(stops: Sequence[str]) -> Sequence[str]:
    """Those that can ever be written: half a character cannot."""
    return tuple(stop for stop in stops if stop == stop.encode("utf-8", "replace").decode())


def _of_memory(error: Exception) -> OutOfMemory | None:
    """`error` by its numbers where memory ran out, for the library's own words fill a page; None for any other."""
    cause = diagnose([f"{type(error).__name__}: {error}"], None)
    if cause is None or cause.code != "engine.out_of_memory":
        return None
    numbers = (("needed_bytes", "were asked for"), ("free_bytes", "are free"))
    told = [f"{int(str(cause.values[name])) / _MIB:.0f} MiB {what}" for name, what in numbers if name in cause.values]
    what = ", ".join(told) or "a shorter prompt or a smaller context takes less"
    return OutOfMemory(f"{cause.values.get('device', 'the card')} has no more memory for this answer: {what}.")


def _no_logprobs(result: Result) -> Sequence[TokenLogprob]:
    del result
    return ()


class Reading:
    """Turns the results of one job into pieces of an answer. `total` are the tokens of its prompt."""

    def __init__(self, total: int, logprobs: Any = _no_logprobs) -> None:
        self._total = total
        self._logprobs = logprobs
        self._told = 0
        self._begun = False

    def feed(self, result: Result) -> Iterator[Chunk]:
        """The pieces that one more result makes.

        A long answer of exllamav3 goes on in rounds: what later ones read again is no reading of the prompt.
        """
        if result["stage"] == "prefill" and not self._begun:
            done = min(int(result["curr_progress"]), self._total)
            yield Chunk(prompt_done=done, prompt_total=self._total, prompt_cached=_cached(result))
        if result["stage"] != "streaming":
            return
        if not self._begun:
            self._begun = True
            yield Chunk(prompt_done=self._total, prompt_total=self._total, prompt_cached=_cached(result))
        if result["eos"]:
            yield self._last(result)
            return
        text, tokens = result.get("text", ""), _count(result)
        if text or tokens:
            self._told += tokens
            yield Chunk(text, tokens, logprobs=self._logprobs(result))

    def _last(self, result: Result) -> Chunk:
        """With the library's own figures. A token that ends the answer is none of it."""
        reason = result.get("eos_reason", "")
        count = int(result["new_tokens"]) - (1 if reason == "stop_token" else 0)
        read = int(result["prompt_tokens"]) - int(result["cached_tokens"])
        return Chunk(
            text=result.get("text", "") + _held(result),
            tokens=max(0, count - self._told),
            prompt_tps=_per_second(read, result["time_prefill"]),
            decode_tps=_per_second(int(result["new_tokens"]), result["time_generate"]),
            finish="length" if reason == _OF_LENGTH else "stop",
            logprobs=self._logprobs(result),
        )


def _count(result: Result) -> int:
    tokens = result.get("token_ids")
    return 0 if tokens is None else int(tokens.shape[-1])


def _cached(result: Result) -> int:
    """How much of the prompt was read before; the last result alone tells it, the job knows it from the beginning."""
    job = result["job"]
    return int(job.cached_pages) * PAGE + int(job.cached_tokens)


def _held(result: Result) -> str:
    """What was kept back because it might have become a stop text, where a token ended the answer: that token is told
    by its name behind it.
    """
    if result.get("eos_reason") != "stop_token":
        return ""
    text: str = result.get("held", {}).get("text", "")
    return text.removesuffix(result.get("eos_triggering_token_str", ""))


def _per_second(count: int, seconds: float) -> float | None:
    return count / seconds if count > 0 and seconds > 0 else None
