"""Answers and scores of one model that ONNX Runtime GenAI has loaded. One thread owns it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from weighbridge_engines.api import Chunk, ContextExceeded, Load, Request, RequestRefused
from weighbridge_engines.llama_cpp_sampler import log_softmax
from weighbridge_engines.onnx_genai_model import FormRefused, OnnxModel
from weighbridge_engines.onnx_genai_settings import search
from weighbridge_engines.pieces import Pieces
from weighbridge_engines.prompts import Prompts
from weighbridge_engines.schemas import FIELD, check_references

OUTPUTS = 32
"""Tokens whose probabilities are asked for at a time: each takes a row of the whole vocabulary."""


class OnnxSession:
    """Over a loaded `model`."""

    def __init__(self, model: OnnxModel, load: Load) -> None:
        self._model = model
        self._prompts = Prompts(load, Path(load.model))

    def close(self) -> None:
        """Give everything back."""
        self._prompts.close()
        self._model.close()

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The progress of the prompt, then the answer. Stop is seen after each batch and each token."""
        tokens = self._model.encoded(_whole(self._prompts.text(request), "messages"), begun=True)
        if len(tokens) >= self._model.context:
            raise ContextExceeded(len(tokens), self._model.context)
        biases = self._biases(request)
        try:
            options, anew = search(request.sampling), not request.cache_prompt
            reused = self._model.begin(tokens, options, _form(request), anew=anew)
        except FormRefused as error:
            raise RequestRefused(f"the engine does not know this form of an answer: {error}", FIELD) from None
        yield from self._read(tokens, reused)
        yield from self._write(request, biases, len(tokens))

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of `text`, as a text of its own."""
        return self._model.encoded(_whole(text, "input"))

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """The log-probability of each token after those before it, OUTPUTS at a time, or one where the model tells no
        more.
        """
        if len(tokens) > self._model.context:
            raise ContextExceeded(len(tokens), self._model.context)
        self._check_tokens(tokens, "input")
        self._model.begin([], search({"temperature": 0.0}), None)
        yield [None]
        size = OUTPUTS if self._model.tells_all else 1
        for start in range(0, len(tokens) - 1, size):
            part, following = tokens[start : start + size], tokens[start + 1 : start + size + 1]
            self._model.feed(part)
            rows = log_softmax(self._model.rows(len(part)))
            yield [float(row[token]) for row, token in zip(rows, following, strict=False)]

    # One request

    def _check_tokens(self, tokens: Sequence[int], field: str) -> None:
        size = self._model.vocabulary_size
        if size is None or any(token >= size for token in tokens):
            raise RequestRefused("there is no such token", field)

    def _biases(self, request: Request) -> Mapping[int, float]:
        self._check_tokens(list(request.logit_bias), "logit_bias")
        return {**request.logit_bias, **(self._model.no_end if request.ignore_eos else {})}

    def _read(self, tokens: Sequence[int], reused: int) -> Iterator[Chunk]:
        total = len(tokens)
        yield Chunk(prompt_done=reused, prompt_total=total, prompt_cached=reused)
        start_s = time.perf_counter()
        for begin in range(reused, total, self._model.batch):
            part = tokens[begin : begin + self._model.batch]
            self._model.feed(part)
            done = begin + len(part)
            tps = (done - reused) / max(time.perf_counter() - start_s, 1e-9)
            yield Chunk(prompt_done=done, prompt_total=total, prompt_cached=reused, prompt_tps=tps)

    def _write(self, request: Request, biases: Mapping[int, float], prompt_tokens: int) -> Iterator[Chunk]:
        pieces, text, start_s = Pieces(request.stop), self._model.decoder(), 0.0
        room = self._model.context - prompt_tokens
        for count in range(min(request.max_tokens or room, room)):
            token = self._model.next(biases)
            now_s = time.perf_counter()
            start_s = start_s or now_s
            if token in self._model.ends:
                yield Chunk(text=pieces.rest(), finish="stop")
                return
            shown = pieces.feed(text.decode(token).encode("utf-8", "replace"))
            tps = count / (now_s - start_s) if now_s > start_s else None
            yield Chunk(shown, 1, decode_tps=tps, finish="stop" if pieces.stopped else None)
            if pieces.stopped:
                return
        yield Chunk(text=pieces.rest(), finish="length")


def _whole(text: str, field: str) -> str:
    """`text`, unless the library would read it up to its first NUL alone."""
    if "\0" in text:
        raise RequestRefused("this engine reads no text with a NUL character in it", field)
    return text


def _form(request: Request) -> tuple[str, str] | None:
    """What an answer keeps to, as the library takes it. It refuses by itself what it has no way to keep to."""
    if request.schema is None:
        return None
    check_references(request.schema)
    return "json_schema", json.dumps(request.schema)
