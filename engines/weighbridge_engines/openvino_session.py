"""Answers and scores of one model that OpenVINO GenAI has loaded. One thread owns it.

What its KV cache holds of earlier prompts is used again by the library itself, in whole blocks.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Chunk, ContextExceeded, Load, Request, RequestRefused
from weighbridge_engines.openvino_cache import Known
from weighbridge_engines.openvino_model import Answering, OpenVinoModel
from weighbridge_engines.openvino_settings import generation
from weighbridge_engines.openvino_text import Text
from weighbridge_engines.pieces import Pieces
from weighbridge_engines.prompts import Prompts
from weighbridge_engines.schemas import BOUNDS, FIELD, check_schema
from weighbridge_engines.xgrammar_schemas import check_for_xgrammar

_SEEDS = 1 << 32


class OpenVinoSession:
    """Over a loaded `model`."""

    def __init__(self, model: OpenVinoModel, load: Load) -> None:
        self._model = model
        self._prompts = Prompts(_with_template(load, model), Path(load.model))
        self._known = Known(model.kept_tokens, model.block)

    def close(self) -> None:
        """Give everything back."""
        self._prompts.close()
        self._model.close()

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The progress of the prompt, then the answer. Stop is seen after each batch and each token."""
        if request.logit_bias:
            raise RequestRefused("this engine has no logit_bias", "logit_bias")
        self._mend()
        prompt = self._model.encoded(self._prompts.text(request), begun=True)
        tokens = prompt.data[0].tolist()
        fields = self._fields(request, len(tokens))
        if not request.cache_prompt:
            self._forget(tokens)
        answering = self._model.answer(prompt, fields)
        try:
            yield from self._answer(request, answering, tokens)
        finally:
            answering.close()

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of `text`, as a text of its own."""
        found: list[int] = self._model.encoded(text).data[0].tolist()
        return found

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """The log-probability of each token after those before it. Where the library knows the beginning from before it
        tells none of it: then the model is loaded anew.
        """
        if len(tokens) >= self._model.context:
            raise ContextExceeded(len(tokens), self._model.context)
        if any(token >= self._model.vocabulary_size for token in tokens):
            raise RequestRefused("there is no such token", "input")
        self._mend()
        self._forget(tokens)
        yield [None]
        self._known.add(tokens)
        yield from self._scored(tokens)

    # One request

    def _forget(self, tokens: Sequence[int]) -> None:
        """See that nothing is known of `tokens`. The library has no way to forget but to load the model anew."""
        if self._known.of(tokens):
            self._renew()

    def _mend(self) -> None:
        if self._model.broken:
            self._renew()

    def _renew(self) -> None:
        self._model.renew()
        self._known.forget()

    def _fields(self, request: Request, prompt_tokens: int) -> dict[str, Any]:
        fields = generation(request.sampling, random.randrange(_SEEDS))
        room = self._model.context - prompt_tokens
        fields["max_new_tokens"] = min(request.max_tokens or room, room)
        fields["ignore_eos"] = request.ignore_eos
        if request.schema is not None:
            fields["structured_output_config"] = self._kept_to(request.schema)
        elif request.grammar is not None:
            fields["structured_output_config"] = self._structured("grammar", grammar=request.grammar)
        return fields

    def _kept_to(self, schema: Mapping[str, Any]) -> Any:
        check_schema(schema, BOUNDS)
        check_for_xgrammar(schema)
        return self._structured(FIELD, json_schema=json.dumps(schema))

    def _structured(self, field: str, **form: str) -> Any:
        try:
            return self._model.structured(**form)
        except ValueError as error:
            raise RequestRefused(f"the engine does not know this form of an answer: {error}", field) from None

    def _answer(self, request: Request, answering: Answering, tokens: list[int]) -> Iterator[Chunk]:
        cached = self._known.of(tokens)
        written: list[int] = []
        try:
            came = yield from self._read(answering, len(tokens), cached)
            yield from self._write(request, answering, came, written)
        finally:
            self._known.add([*tokens, *written])

    def _read(self, answering: Answering, total: int, cached: int) -> Generator[Chunk, None, list[int]]:
        """The progress of the prompt; returns the first tokens of the answer."""
        yield Chunk(prompt_done=cached, prompt_total=total, prompt_cached=cached)
        done, start_s = cached, time.perf_counter()
        while answering.running:
            came = answering.step()
            done = total if came else min(total, done + self._model.batch)
            tps = (done - cached) / max(time.perf_counter() - start_s, 1e-9)
            yield Chunk(prompt_done=done, prompt_total=total, prompt_cached=cached, prompt_tps=tps)
            if came:
                return came
        return []

    def _write(self, request: Request, answering: Answering, came: list[int], written: list[int]) -> Iterator[Chunk]:
        pieces, text, start_s = Pieces(request.stop), Text(self._model.decoded), time.perf_counter()
        while came:
            for token in came:
                if token in self._model.ends and not request.ignore_eos:
                    yield Chunk(pieces.rest(), decode_tps=answering.decode_tps, finish="stop")
                    return
                written.append(token)
                shown = pieces.feed(text.feed(token).encode("utf-8", "replace"))
                tps = (len(written) - 1) / max(time.perf_counter() - start_s, 1e-9) or None
                yield Chunk(shown, 1, decode_tps=tps, finish="stop" if pieces.stopped else None)
                if pieces.stopped:
                    return
            came = answering.step() if answering.running else []
        yield Chunk(pieces.rest(), decode_tps=answering.decode_tps, finish="length")

    def _scored(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """By an answer of one token that repeats the prompt: its probabilities come at the end, all at once."""
        fields = {"max_new_tokens": 1, "echo": True, "logprobs": 1, "do_sample": False}
        answering = self._model.answer(self._model.tensor(tokens), fields)
        found: list[float] = []
        try:
            while answering.running:
                found += answering.logprobs()
                yield ()
        finally:
            answering.close()
        if len(found) != len(tokens) + 1:
            raise RuntimeError(f"the library told {len(found)} probabilities for {len(tokens)} tokens")
        yield found[1:-1]


def _with_template(load: Load, model: OpenVinoModel) -> Load:
    """`load` with the template that the library has found, unless it names one or the folder has one as a file."""
    own = load.template or (None if (Path(load.model) / "chat_template.jinja").is_file() else model.template)
    values = {**model.special, **load.extra.get("template_values", {})}
    return replace(load, template=own, extra={**load.extra, "template_values": values})
