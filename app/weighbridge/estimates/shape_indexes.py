"""The second caches that some GGUF models keep: of an indexer that chooses tokens, or of tokens pressed together.

Source: `create_memory`, `llama_kv_cache_dsa`, `_msa`, `_dsv4` and `llama_memory_hybrid_idx` in llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from weighbridge.estimates.shape import Index, Layer
from weighbridge.formats.keys import Keys

_LENGTH, _TYPES = "attention.indexer.key_length", "attention.indexer.types"
_RATIOS = "attention.compress_ratios"
_LONG_CONTEXT = 1_048_576
"""GLM with this context shares its indexers where the header does not say which."""
_PRESSED = 4
"""Of DeepSeek V4's two ways to press tokens together, the one that has an indexer and overlaps."""

Rule = Callable[[Keys, list[Layer], Sequence[bool]], list[Layer]]


def with_indexes(architecture: str, keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    """The layers, with the second caches that this architecture keeps; `recurrent` are those with a state."""
    rule = _RULES.get(architecture)
    return rule(keys, layers, recurrent) if rule else layers


def _marked(layers: list[Layer], index: Index, has: Callable[[int], bool]) -> list[Layer]:
    return [replace(layer, index=index) if has(number) else layer for number, layer in enumerate(layers)]


def _every_layer(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    return _marked(layers, Index(keys.count(_LENGTH) or 0), lambda _: True)


def _told_layers(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    if not keys.count("attention.indexer.top_k"):
        return layers
    full = _full(keys, len(layers), all_by_default=False)
    return _marked(
        layers, Index(keys.count(_LENGTH) or 0), lambda number: full[number] and layers[number].window is None
    )


def _glm(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    full = _full(keys, len(layers), all_by_default=True)
    if keys.flags(_TYPES, len(layers)) is None and (keys.count("context_length") or 0) >= _LONG_CONTEXT:
        full = [number < 2 or number % 4 == 2 for number in range(len(layers))]
    return _marked(layers, Index(keys.count(_LENGTH) or 0), full.__getitem__)


def _after_the_dense(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    """This one keeps values beside the indexer's keys, as long as those of one head."""
    dense = keys.count("leading_dense_block_count") or 0
    index = Index(keys.count(_LENGTH) or 0, keys.count("attention.value_length") or 0)
    return _marked(layers, index, lambda number: number >= dense)


def _pooled(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    """A key, its gate and the key of the pool, beside attention."""
    full = _full(keys, len(layers), all_by_default=True)
    return _marked(layers, Index(3 * (keys.count(_LENGTH) or 0)), lambda n: full[n] and not recurrent[n])


def _pooled_in_blocks(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    """A key, and that of its block where there are blocks."""
    rows = 2 if any(keys.per_layer(_RATIOS, len(layers)) or ()) else 1
    return _marked(layers, Index(rows * (keys.count(_LENGTH) or 0)), lambda number: not recurrent[number])


def _compressed(keys: Keys, layers: list[Layer], recurrent: Sequence[bool]) -> list[Layer]:
    """Keys only, for each slot apart; beside the window the whole text, pressed, and what the compressor remembers."""
    ratios = keys.per_layer(_RATIOS, len(layers)) or (0,) * len(layers)
    length, chosen = keys.count("attention.key_length") or 0, keys.count(_LENGTH) or 0
    made = []
    for layer, every in zip(layers, ratios, strict=True):
        wide = length + chosen if every == _PRESSED else length
        kept = 2 * every * 2 * wide if every == _PRESSED else every * wide
        index = Index(wide, every=every) if every else None
        made.append(replace(layer, value_width=0, padded_width=None, separate=True, index=index, state=2 * kept))
    return made


def _full(keys: Keys, count: int, *, all_by_default: bool) -> list[bool]:
    """Which layers have an indexer of their own, and do not use another's."""
    told = keys.flags(_TYPES, count)
    return list(told) if told is not None else [all_by_default] * count


_RULES: Mapping[str, Rule] = {
    "deepseek32": _every_layer,
    "deepseek4": _compressed,
    "dots3note": _told_layers,
    "glm-dsa": _glm,
    "glm5-next": _pooled,
    "hy_v4": _told_layers,
    "minimax-m3": _after_the_dense,
    "qwen4exp": _pooled_in_blocks,
}
