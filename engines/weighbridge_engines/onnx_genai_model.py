"""A model that ONNX Runtime GenAI has loaded, and the one generator whose KV cache is kept for the next turn. For one
thread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from weighbridge_engines.api import HOST, Load
from weighbridge_engines.onnx_genai_folder import cache_names, context_of, read, vocabulary_of
from weighbridge_engines.onnx_genai_library import imported
from weighbridge_engines.onnx_genai_settings import PROVIDERS, context_for, overlay, provider_of, threads_of
from weighbridge_engines.prompt_steps import CARD_BATCH, prompt_step
from weighbridge_engines.session_log import tell

_GREEDY: Mapping[str, Any] = {"do_sample": False}


class FormRefused(Exception):
    """The library does not know the form that an answer is to keep to; the text is its own."""


class OnnxModel:
    """Over the library's model, tokenizer and generator. What a generator holds is used again by the next answer that
    chooses its tokens in the same way, without a form and without a seed.
    """

    def __init__(self, load: Load) -> None:
        folder = Path(load.model)
        self._settings = read(folder)
        self._library: Any = imported("onnxruntime_genai")
        self._generator: Any = None
        self._options: Mapping[str, Any] = {}
        self._reusable = False
        self.held: list[int] = []
        self.context = context_for(load, context_of(self._settings))
        tell(stage="reading")
        self._open(load)
        self._on_processor = self._model.device_type == "CPU"
        step = prompt_step(_weights_bytes(folder), threads_of(load)) if self._on_processor else CARD_BATCH
        self.batch = load.batch or step
        tell(stage="warming")
        self._warm()
        self._tell(load)

    def _open(self, load: Load) -> None:
        library = self._library
        config = library.Config(load.model)
        config.overlay(json.dumps(overlay(load)))
        if "provider" in load.extra:
            config.clear_providers()
            if name := PROVIDERS[load.extra["provider"]]:
                config.append_provider(name)
        tell(stage="weights")
        self._model = library.Model(config)
        self._tokenizer: Any = library.Tokenizer(self._model)
        self.ends = frozenset(self._tokenizer.eos_token_ids)

    def _warm(self) -> None:
        """Touch all weights once, and see whether the model tells what would follow each token, or the last alone."""
        self.begin([], _GREEDY, None)
        start = self.encoded("a a")[:2]
        self.feed(start)
        self.tells_all = len(start) == 2 and self.rows(2) is not None

    def _tell(self, load: Load) -> None:
        if self._on_processor:
            tell(threads=threads_of(load))
        else:
            tell(unused="threads")
        device = str(self._model.device_type)
        tell(context=self.context, batch=self.batch, slots=1, provider=provider_of(device))
        tell(device=device)
        if size := self._cache_bytes():
            tell(kv_bytes=size, device=HOST if self._on_processor else device)

    def _cache_bytes(self) -> int | None:
        """The KV cache, where it has its whole size from the start; else it is not told."""
        try:
            parts = [self._generator.get_output(name) for name in cache_names(self._settings)[:1]]
        except RuntimeError:
            return None
        if not parts or self.context not in parts[0].shape:
            return None
        return sum(int(self._generator.get_output(name).nbytes) for name in cache_names(self._settings))

    def close(self) -> None:
        """Give everything back."""
        self._generator = self._tokenizer = self._model = None

    @property
    def vocabulary_size(self) -> int | None:
        """How many tokens there are."""
        return vocabulary_of(self._settings)

    def encoded(self, text: str, begun: bool = False) -> list[int]:
        """The tokens of `text`, after what begins a text unless it is `begun`."""
        self._tokenizer.update_options(add_special_tokens="false" if begun else "true")
        found: list[int] = self._tokenizer.encode(text).tolist()
        return found

    def decoder(self) -> Any:
        """What makes text of the tokens of one answer, as they come."""
        return self._tokenizer.create_stream()

    def begin(
        self, tokens: Sequence[int], options: Mapping[str, Any], form: tuple[str, str] | None, *, anew: bool = False
    ) -> int:
        """Make ready for `tokens`; returns how many of them are held from before, none where all are to be read `anew`.
        The last is always computed anew.

        Raises FormRefused.
        """
        options = {**options, "max_length": self.context}
        kept = self._reusable and not anew and form is None and options == self._options
        reused = self._reuse(tokens) if kept else 0
        if not reused:
            self._renew(options, form)
        return reused

    def _reuse(self, tokens: Sequence[int]) -> int:
        most = min(len(tokens) - 1, len(self.held) - 1)
        same = next((place for place in range(most) if self.held[place] != tokens[place]), most)
        if same <= 0:
            return 0
        try:
            self._generator.rewind_to(same)
        except RuntimeError:  # a model whose cache cannot go back
            return 0
        del self.held[same:]
        return same

    def _renew(self, options: Mapping[str, Any], form: tuple[str, str] | None) -> None:
        self._drop()
        parameters = self._library.GeneratorParams(self._model)
        parameters.set_search_options(**options)
        if form is None:
            self._generator = self._library.Generator(self._model, parameters)
        else:
            self._generator = self._guided(parameters, form)
        self._options = options
        self._reusable = form is None and options.get("random_seed", -1) < 0

    def _guided(self, parameters: Any, form: tuple[str, str]) -> Any:
        try:
            parameters.set_guidance(*form)
            return self._library.Generator(self._model, parameters)
        except RuntimeError as error:
            raise FormRefused(str(error).splitlines()[0].strip().rstrip(".")[:300]) from None

    def _drop(self) -> None:
        self._generator, self.held = None, []

    def feed(self, tokens: Sequence[int]) -> None:
        """Compute `tokens` after what is held. After a failure nothing is."""
        numpy: Any = import_module("numpy")
        try:
            self._generator.append_tokens(numpy.array(tokens, dtype=numpy.int32))
        except BaseException:
            self._drop()
            raise
        self.held += tokens

    def next(self, biases: Mapping[int, float]) -> int:
        """The next token of the answer, chosen after `biases` are added to the logits."""
        if biases:
            logits = self._generator.get_logits().copy()
            for token, bias in biases.items():
                logits[..., token] += bias
            self._generator.set_logits(logits)
        self._generator.generate_next_token()
        token = int(self._generator.get_next_tokens()[0])
        self.held.append(token)
        return token

    def rows(self, count: int) -> Any:
        """The logits after each of the last `count` tokens; None where the model tells those of the last alone."""
        found = self._generator.get_output("logits")[0]
        return found if len(found) == count else None

    @cached_property
    def no_end(self) -> Mapping[int, float]:
        """Biases under which an answer does not end."""
        return dict.fromkeys(self.ends, -math.inf)


def _weights_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if ".onnx" in file.name and file.is_file())
