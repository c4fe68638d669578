"""Answers and scores of one model of mlx-lm. One thread owns it; what the caches hold is kept for the next turn."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from weighbridge_engines.api import Chunk, ContextExceeded, Request, RequestRefused, TokenLogprob
from weighbridge_engines.mlx_grammar import Grammars
from weighbridge_engines.mlx_held import Held
from weighbridge_engines.mlx_pace import Pace
from weighbridge_engines.mlx_prompt import Conversation, is_gone_on_with
from weighbridge_engines.mlx_sampler import DEFAULTS, bans, check_sampling, in_full, processors, sampler
from weighbridge_engines.mlx_text import Writer, token_bytes
from weighbridge_engines.pieces import Pieces

ENDLESS = 1 << 30
"""Tokens of an answer that nothing ends."""

_TABLE = 16 << 20
"""Logits of one part of a text that is scored: 64 MiB of them."""

Steps = Generator[tuple[int, Any], None, None]


@dataclass(frozen=True)
class Limits:
    """The tokens of a prompt and its answer together, None where nothing limits them. Where it is `shifting` an answer
    goes on beyond, and what is oldest is forgotten.
    """

    context: int | None
    shifting: bool = False

    def check(self, tokens: int) -> None:
        """Raises ContextExceeded where a prompt of so many leaves no room for an answer."""
        if self.context is not None and tokens >= self.context:
            raise ContextExceeded(tokens, self.context)

    def room(self, tokens: int, asked: int | None) -> int:
        """Tokens of the answer to a prompt of `tokens`, at most."""
        room = ENDLESS if self.context is None or self.shifting else self.context - tokens
        return min(asked or room, room)


class MlxSession:
    """Over what `held` holds. `draft` proposes `draft_tokens` at a time; `usual` is how tokens are chosen where a
    request does not say.
    """

    def __init__(
        self,
        held: Held,
        conversation: Conversation,
        limits: Limits,
        pace: Pace,
        usual: Mapping[str, float],
        draft: Held | None,
        draft_tokens: int,
    ) -> None:
        self._held = held
        self._model = held.model
        self._core = held.model.core
        self._draft = draft
        self._draft_tokens = draft_tokens
        self._conversation = conversation
        self._limits = limits
        self._pace = pace
        self._usual = {**DEFAULTS, **usual}
        self._grammars = Grammars(self._model.tokenizer, self._model.ends)
        self._generate: Any = import_module("mlx_lm.generate")
        self._vocabulary_size = self._warm()

    def close(self) -> None:
        """Give everything back."""
        self._conversation.close()
        del self._held, self._draft, self._model, self._conversation, self._grammars
        self._core.clear_cache()

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The progress of the prompt, then the answer. Stop is seen after each step and each token."""
        check_sampling(request.sampling)
        tokens = self._conversation.tokens(request)
        self._limits.check(len(tokens))
        values = {**self._usual, **request.sampling}
        done = self._processors(request, values, tokens)
        choose = sampler(values, self._vocabulary_size)
        with self._generate.wired_limit(self._model.network, [self._generate.generation_stream]):
            read = Chunk()
            for read in self._read(tokens, request.cache_prompt):
                yield read
            most = self._limits.room(len(tokens), request.max_tokens)
            steps = self._steps(tokens[-1], most, choose, done)
            yield from self._write(request, tokens, replace(read, prompt_done=len(tokens)), most, steps)

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of `text`, as a text of its own."""
        return self._model.tokens(text, begun=False)

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """The log-probability of each token after those before it, some at a time."""
        if self._limits.context is not None and len(tokens) > self._limits.context:
            raise ContextExceeded(len(tokens), self._limits.context)
        if any(token >= self._vocabulary_size for token in tokens):
            raise RequestRefused("there is no such token", "input")
        self._drop()
        yield [None]
        done = 0
        while done < len(tokens) - 1:
            size = max(1, min(self._pace.step, _TABLE // self._vocabulary_size))
            part, following = tokens[done : done + size], tokens[done + 1 : done + size + 1]
            yield self._scores(part[: len(following)], following)
            done += size

    def _scores(self, part: Sequence[int], following: Sequence[int]) -> list[float | None]:
        start_s = time.perf_counter()
        rows = self._held.rows(part)
        self._pace.took(len(part), time.perf_counter() - start_s)
        chosen = self._core.take_along_axis(rows, self._core.array(list(following))[:, None], axis=-1)[:, 0]
        told: list[float | None] = (chosen - self._core.logsumexp(rows, axis=-1)).tolist()
        return told

    # What is held

    def _warm(self) -> int:
        """Compute something once, so that the first answer is not slower than the others. The size of the vocabulary,
        as the model's output has it.
        """
        size = 0
        for held in self._all_held:
            rows = held.rows([min(held.model.ends, default=0)])
            size = size or int(rows.shape[-1])
            held.drop()
        return size

    @property
    def _all_held(self) -> Sequence[Held]:
        return (self._held,) if self._draft is None else (self._held, self._draft)

    def _drop(self) -> None:
        for held in self._all_held:
            held.drop()

    def _settle(self, tokens: Sequence[int]) -> None:
        """Of `tokens`, all are held now, or where a draft was wrong all that the caches say."""
        if self._draft is None:
            self._held.tokens = list(tokens)
            return
        for held in self._all_held:
            held.settle(tokens)

    # One request

    def _processors(self, request: Request, values: Mapping[str, float], tokens: Sequence[int]) -> list[Any]:
        bounded = request.schema is not None or request.grammar is not None
        if bounded and request.ignore_eos:
            raise RequestRefused("an answer that is held to a form ends with it", "ignore_eos")
        if any(token >= self._vocabulary_size for token in request.logit_bias):
            raise RequestRefused("there is no such token", "logit_bias")
        ends = bans(sorted(self._model.ends)) if request.ignore_eos else {}
        made = processors(values, {**request.logit_bias, **ends}, tokens)
        if request.schema is not None:
            made.append(self._grammars.of_schema(request.schema))
        elif request.grammar is not None:
            made.append(self._grammars.of_text(request.grammar))
        return [in_full, *made] if made or request.logprobs is not None else []

    def _read(self, tokens: Sequence[int], cached: bool) -> Iterator[Chunk]:
        """All but the last token, which is computed with the first of the answer."""
        if not cached:
            self._drop()
        total, reused = len(tokens), self._held.reuse(tokens)
        yield Chunk(prompt_done=reused, prompt_total=total, prompt_cached=reused)
        start_s = time.perf_counter()
        for done in self._read_by(self._held, tokens):
            tps = (done - reused) / max(time.perf_counter() - start_s, 1e-9)
            yield Chunk(prompt_done=done, prompt_total=total, prompt_cached=reused, prompt_tps=tps)
        if self._draft is not None:
            self._draft.reuse(tokens)
            for _ in self._read_by(self._draft, tokens):
                yield Chunk(prompt_done=total - 1, prompt_total=total, prompt_cached=reused)

    def _read_by(self, held: Held, tokens: Sequence[int]) -> Iterator[int]:
        """How many tokens of the prompt are read, after each step."""
        while (done := len(held.tokens)) < len(tokens) - 1:
            part = tokens[done : min(done + self._pace.step, len(tokens) - 1)]
            start_s = time.perf_counter()
            held.read(part)
            self._pace.took(len(part), time.perf_counter() - start_s)
            yield done + len(part)

    def _steps(self, last: int, most: int, choose: Any, done: list[Any]) -> Steps:
        """The library's own: each token, and the logarithms of what all were likely to be."""
        prompt = self._core.array([last])
        options: dict[str, Any] = {"max_tokens": most, "sampler": choose, "logits_processors": done}
        options |= self._held.options
        if self._draft is None:
            yield from self._generate.generate_step(
                prompt, self._model.network, prompt_cache=self._held.caches, **options
            )
            return
        caches = [*self._held.caches, *self._draft.caches]
        with contextlib.closing(
            self._generate.speculative_generate_step(
                prompt,
                self._model.network,
                self._draft.model.network,
                num_draft_tokens=self._draft_tokens,
                prompt_cache=caches,
                **options,
            )
        ) as steps:
            yield from ((token, logprobs) for token, logprobs, _ in steps)

    def _write(self, request: Request, tokens: Sequence[int], read: Chunk, most: int, steps: Steps) -> Iterator[Chunk]:
        """The answer, after what tells that all is `read`. What was computed is held after it, unless that failed."""
        given, held = list(tokens), False
        try:
            with contextlib.closing(steps):
                yield from self._answer(request, given, read, most, steps)
            held = True
        except GeneratorExit:
            held = True
            raise
        finally:
            if held:
                self._settle(given)
            else:
                self._drop()

    def _answer(self, request: Request, given: list[int], read: Chunk, most: int, steps: Steps) -> Iterator[Chunk]:
        writer = Writer(self._model.tokenizer, given[-1] if is_gone_on_with(request) else None)
        pieces, start_s = Pieces(request.stop), 0.0
        for count, (token, row) in enumerate(steps):
            given.append(token)
            now_s = time.perf_counter()
            start_s = start_s or now_s
            if count == 0:
                yield read
            if token in self._model.ends:
                yield Chunk(text=pieces.feed(writer.rest()) + pieces.rest(), finish="stop")
                return
            tps = count / (now_s - start_s) if now_s > start_s else None
            logprobs = () if request.logprobs is None else (self._logprob(token, row, request.logprobs),)
            text = pieces.feed(writer.add(token))
            yield Chunk(text, 1, decode_tps=tps, finish="stop" if pieces.stopped else None, logprobs=logprobs)
            if pieces.stopped:
                return
            if count + 1 == most:
                break
        yield Chunk(text=pieces.feed(writer.rest()) + pieces.rest(), finish="length")

    def _logprob(self, token: int, row: Any, most: int) -> TokenLogprob:
        """How likely `token` was to be next, and the `most` that were likeliest, after penalties and by the grammar."""
        numpy: Any = import_module("numpy")
        logprobs = numpy.array(row.astype(self._core.float32))
        best = numpy.argpartition(-logprobs, range(most))[:most] if most else ()
        name = self._model.tokenizer
        likeliest = tuple((token_bytes(name, int(one)), float(logprobs[one])) for one in best)
        return TokenLogprob(token_bytes(name, token), float(logprobs[token]), likeliest)
