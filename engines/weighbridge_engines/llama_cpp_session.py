"""Answers and scores of one loaded model. One thread owns it; what the context holds is kept for the next turn."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Chunk, ContextExceeded, Request, RequestRefused
from weighbridge_engines.llama_cpp_model import LlamaModel
from weighbridge_engines.llama_cpp_parameters import OUTPUTS
from weighbridge_engines.llama_cpp_sampler import Sampler, grammar_sampler, log_softmax
from weighbridge_engines.pieces import Pieces
from weighbridge_engines.prompts import Templated
from weighbridge_engines.schemas import FIELD, check_schema, patterns
from weighbridge_engines.templates import CHATML


class LlamaSession:
    """Over a loaded `model`. `template` replaces the file's own; `template_values` are given to it each time."""

    def __init__(self, model: LlamaModel, template: str | None, template_values: Mapping[str, Any]) -> None:
        self._model = model
        names = {f"{name}_token": model.special(name) for name in ("bos", "eos")}
        self._begin = names["bos_token"]
        self._prompts = Templated(template or model.template or CHATML, {**names, **template_values})
        self._held: list[int] = []

    def close(self) -> None:
        """Give everything back."""
        self._prompts.close()
        self._model.close()

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The progress of the prompt, then the answer. Stop is seen after each batch and each token."""
        tokens = self._prompt(request)
        if len(tokens) >= self._model.context:
            raise ContextExceeded(len(tokens), self._model.context)
        sampler = self._sampler(request, tokens)
        if not request.cache_prompt:
            self._drop()
        try:
            yield from self._read(tokens)
            yield from self._write(request, sampler, len(tokens))
        finally:
            sampler.close()

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of `text`, as a text of its own."""
        return self._model.tokens(text, begun=False)

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """The log-probability of each token after those before it, OUTPUTS at a time."""
        if len(tokens) > self._model.context:
            raise ContextExceeded(len(tokens), self._model.context)
        if any(token >= self._model.vocabulary_size for token in tokens):
            raise RequestRefused("there is no such token", "input")
        self._drop()
        yield [None]
        size = min(OUTPUTS, self._model.batch)
        for start in range(0, len(tokens) - 1, size):
            part, following = tokens[start : start + size], tokens[start + 1 : start + size + 1]
            self._compute(part, outputs=len(part))
            rows = self._model.logits(len(part))
            yield [float(log_softmax(row)[token]) for row, token in zip(rows, following, strict=False)]

    # What the context holds

    def _drop(self) -> None:
        self._model.forget()
        self._held = []

    def _compute(self, tokens: Sequence[int], outputs: int = 1) -> None:
        """Add `tokens` to what is held. After a failure nothing is."""
        try:
            self._model.decode(tokens, len(self._held), outputs)
        except BaseException:
            self._drop()
            raise
        self._held += tokens

    def _reuse(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` are held already; all else is forgotten. The last one is always computed anew."""
        most = min(len(tokens) - 1, len(self._held))
        same = next((place for place in range(most) if self._held[place] != tokens[place]), most)
        if same < len(self._held):
            if not self._model.keep(same):
                self._drop()
                return 0
            del self._held[same:]
        return same

    # One request

    def _read(self, tokens: Sequence[int]) -> Iterator[Chunk]:
        total, reused = len(tokens), self._reuse(tokens)
        yield Chunk(prompt_done=reused, prompt_total=total, prompt_cached=reused)
        start_s = time.perf_counter()
        for begin in range(reused, total, self._model.batch):
            part = tokens[begin : begin + self._model.batch]
            done = begin + len(part)
            self._compute(part, outputs=int(done == total))
            tps = (done - reused) / max(time.perf_counter() - start_s, 1e-9)
            yield Chunk(prompt_done=done, prompt_total=total, prompt_cached=reused, prompt_tps=tps)

    def _write(self, request: Request, sampler: Sampler, prompt_tokens: int) -> Iterator[Chunk]:
        pieces, start_s = Pieces(request.stop), 0.0
        room = self._model.context - prompt_tokens
        most = min(request.max_tokens or room, room)
        for count in range(most):
            token = sampler.next()
            now_s = time.perf_counter()
            start_s = start_s or now_s
            if self._model.ends(token):
                yield Chunk(text=pieces.rest(), finish="stop")
                return
            logprobs = () if request.logprobs is None else (sampler.logprob(token, request.logprobs),)
            text = pieces.feed(self._model.piece(token))
            tps = count / (now_s - start_s) if now_s > start_s else None
            if pieces.stopped:
                yield Chunk(text, 1, decode_tps=tps, finish="stop", logprobs=logprobs)
                return
            yield Chunk(text, 1, decode_tps=tps, logprobs=logprobs)
            if count + 1 < most:
                self._compute([token])
        yield Chunk(text=pieces.rest(), finish="length")

    def _sampler(self, request: Request, tokens: Sequence[int]) -> Sampler:
        biases = {**request.logit_bias, **(self._no_end if request.ignore_eos else {})}
        if request.schema is not None:
            grammar = self._grammar_of(request.schema)
            return Sampler(self._model, request.sampling, tokens, biases, grammar, FIELD)
        return Sampler(self._model, request.sampling, tokens, biases, request.grammar)

    @cached_property
    def _no_end(self) -> Mapping[int, float]:
        every = range(self._model.vocabulary_size)
        return {token: -math.inf for token in every if self._model.ends(token)}

    def _grammar_of(self, schema: Mapping[str, Any]) -> str:
        """The library's own grammar for `schema`. Raises RequestRefused, which names the keyword."""
        check_schema(schema)
        for pattern in patterns(schema):
            self._check_pattern(pattern)
        return self._converted(schema, "schema")

    def _check_pattern(self, pattern: str) -> None:
        grammar = self._converted({"type": "string", "pattern": pattern}, "pattern")
        try:
            self._model.library.llama_sampler_free(grammar_sampler(self._model, grammar, FIELD))
        except RequestRefused:
            raise RequestRefused(f"the pattern {pattern[:100]!r} cannot be kept to here", FIELD) from None

    def _converted(self, schema: Mapping[str, Any], what: str) -> str:
        converter: Any = import_module("llama_cpp.llama_grammar").json_schema_to_gbnf
        try:
            grammar: str = converter(json.dumps(schema))
        except (AssertionError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            told = f"{type(error).__name__}: {error}"[:300]
            raise RequestRefused(f"the {what} cannot be kept to here: {told}", FIELD) from error
        return grammar

    # The prompt

    def _prompt(self, request: Request) -> list[int]:
        text = self._prompts.text(request)
        return self._model.tokens(text, begun=bool(self._begin) and text.startswith(self._begin))
