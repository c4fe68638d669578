"""What was read of a conversation, kept for its next turn: the caches of one model, and the tokens in them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from weighbridge_engines.mlx_controls import CacheForm
from weighbridge_engines.mlx_model import MlxModel


class Held:
    """Of `model`, in caches of that form. Raises Unsupported where it has none of that form."""

    def __init__(self, model: MlxModel, form: CacheForm) -> None:
        self.model = model
        self.tokens: list[int] = []
        self._form = form
        self._cache: Any = import_module("mlx_lm.models.cache")
        self._generate: Any = import_module("mlx_lm.generate")
        self.caches = self._new()

    @property
    def options(self) -> dict[str, Any]:
        """What the library's own generation is told of the caches, so that they stay of the same form."""
        form = self._form
        return {"kv_bits": form.bits, "kv_group_size": form.group, "quantized_kv_start": form.start}

    @property
    def goes_back(self) -> bool:
        """Whether the last tokens can always be forgotten again, whatever was read."""
        plain = (self._cache.KVCache, self._cache.QuantizedKVCache)
        return all(isinstance(cache, plain) for cache in self.caches)

    def drop(self) -> None:
        """Forget all."""
        self.caches, self.tokens = self._new(), []

    def reuse(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` are held already; all else is forgotten. The last one is always computed anew."""
        most = min(len(tokens) - 1, len(self.tokens))
        same = next((place for place in range(most) if self.tokens[place] != tokens[place]), most)
        surplus = len(self.tokens) - same
        if surplus and self._cache.trim_prompt_cache(self.caches, surplus) != surplus:
            self.drop()
            return 0
        del self.tokens[same:]
        return same

    def read(self, tokens: Sequence[int]) -> None:
        """Compute `tokens` after what is held. After a failure nothing is."""
        self._compute(tokens, of_rows=False)

    def rows(self, tokens: Sequence[int]) -> Any:
        """As `read`, with the logits after each of `tokens`, in single precision."""
        return self._compute(tokens, of_rows=True)

    def settle(self, tokens: Sequence[int]) -> None:
        """`tokens` have been handed over and some may have been forgotten again: the caches know how many."""
        self.tokens = list(tokens[: self.caches[0].offset])

    def _compute(self, tokens: Sequence[int], *, of_rows: bool) -> Any:
        core = self.model.core
        try:
            with core.stream(self._generate.generation_stream):
                logits = self.model.logits(tokens, self.caches)
                rows = logits.astype(core.float32) if of_rows else None
                self._keep_form()
                core.eval([cache.state for cache in self.caches], rows)
            core.clear_cache()
        except BaseException:
            self.drop()
            raise
        self.tokens += tokens
        return rows

    def _new(self) -> list[Any]:
        caches = self.model.caches(self._form)
        if self._form.start == 0:
            self._generate.maybe_quantize_kv_cache(caches, 0, self._form.group, self._form.bits)
        return caches

    def _keep_form(self) -> None:
        form = self._form
        self._generate.maybe_quantize_kv_cache(self.caches, form.start, form.group, form.bits)
