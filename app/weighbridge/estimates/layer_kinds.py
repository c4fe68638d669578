"""Which layer of a model does what, by its config.json: attends to all, attends to a window, keeps a state, or neither.

Sources: the configurations of Hugging Face's transformers, and the models of mlx-lm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from weighbridge.formats.model import MAX_LAYERS
from weighbridge.formats.quantisation import Config, whole


class LayerKind(StrEnum):
    """What a layer does: FULL attention, a WINDOW of it, a STATE, BOTH attention and a state, or NONE of them."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"
    BOTH = "both"
    NONE = "none"


FULL, WINDOW, STATE, BOTH, NONE = LayerKind

Kinds = tuple[LayerKind, ...]

_BY_WORD: Mapping[str, LayerKind] = {
    "attention": FULL,
    "full_attention": FULL,
    "global_attention": FULL,
    "sliding_attention": WINDOW,
    "chunked_attention": WINDOW,
    "local_attention": WINDOW,
    "linear_attention": STATE,
    "mamba": STATE,
    "mamba2": STATE,
    "conv": STATE,
    "recurrent": STATE,
    "hybrid": BOTH,
    "mlp": NONE,
    "moe": NONE,
}
_BY_LETTER: Mapping[str, LayerKind] = {"*": FULL, "M": STATE, "-": NONE, "E": NONE, "L": WINDOW, "G": FULL}
_LISTS = ("layer_types", "layers_block_type", "block_types", "_block_types")

ONLY_STATE = frozenset({"falcon_mamba", "mamba", "mamba2", "rwkv7"})
_BOTH = frozenset({"falcon_h1"})
_CHUNKED = "llama4_text"


@dataclass(frozen=True)
class _Windows:
    """All layers but every `period`-th have a window, of `tokens` where the config names none; 0: every layer has."""

    period: int
    tokens: int | None = None


_WINDOWS: Mapping[str, _Windows] = {
    "afmoe": _Windows(4),
    "cohere2": _Windows(4, 4096),
    "exaone4": _Windows(4),
    "gemma2": _Windows(2, 4096),
    "gemma3_text": _Windows(6, 4096),
    "gemma3n_text": _Windows(5, 512),
    "gemma4_text": _Windows(6, 512),
    "gpt_oss": _Windows(2, 128),
    "llama4_text": _Windows(4, 8192),
    "mistral": _Windows(0),
    "mixtral": _Windows(0),
    "ministral": _Windows(0),
    "olmo3": _Windows(4, 4096),
    "phi3": _Windows(0),
    "phimoe": _Windows(0),
    "starcoder2": _Windows(0),
}
_WINDOW_KEYS = ("sliding_window", "sliding_window_size", "attention_window_size", "attention_chunk_size")


def layer_count(config: Config) -> int | None:
    """How many layers there are; None where the config does not say, or says more than any model has."""
    for key in ("num_hidden_layers", "n_layer", "n_layers", "num_layers"):
        count = whole(config.get(key), MAX_LAYERS)
        if count:
            return count
    letters = config.get("hybrid_override_pattern")
    return len(letters) if isinstance(letters, str | list) and 0 < len(letters) <= MAX_LAYERS else None


def layer_kinds(config: Config, family: str, count: int) -> Kinds | None:
    """What each of `count` layers does; None where a list in the config has words that are not known."""
    if family in ONLY_STATE:
        return (STATE,) * count
    if family in _BOTH:
        return (BOTH,) * count
    told = _told(config, family, count)
    if told is not None:
        return told if len(told) == count else None
    reckoned = _BY_FAMILY.get(family, _by_windows)
    return reckoned(config, family, count)


def window_of(config: Config, family: str) -> int | None:
    """The window in tokens; None where there is none."""
    if config.get("use_sliding_window") is False:
        return None
    keys = ("attention_chunk_size",) if family == _CHUNKED else _WINDOW_KEYS
    told = next((size for size in (whole(config.get(key)) for key in keys) if size is not None), None)
    rule = _WINDOWS.get(family)
    return (told or None) if told is not None or rule is None else rule.tokens


def _told(config: Config, family: str, count: int) -> Kinds | None:
    """What the config lists, layer by layer; () for words that are not known, None where it lists nothing."""
    for key in _LISTS:
        words = config.get(key)
        if isinstance(words, list) and words:
            return _worded(words, family, count)
    letters = config.get("hybrid_override_pattern")
    if isinstance(letters, str | list) and letters:
        return _lettered(letters)
    return None


def _worded(words: Sequence[object], family: str, count: int) -> Kinds:
    kinds = [_BY_WORD.get(word) if isinstance(word, str) else None for word in words[:MAX_LAYERS]]
    if None in kinds:
        return ()
    known = [kind for kind in kinds if kind is not None]
    if family == "recurrent_gemma":
        windowed = [WINDOW if kind is FULL else kind for kind in known]
        return tuple(windowed[place % len(windowed)] for place in range(count))
    return tuple(known[:count])


def _lettered(letters: Sequence[object]) -> Kinds:
    kinds = [_BY_LETTER.get(letter) if isinstance(letter, str) else None for letter in letters[:MAX_LAYERS]]
    return () if None in kinds else tuple(kind for kind in kinds if kind is not None)


def _by_windows(config: Config, family: str, count: int) -> Kinds:
    """Every so-manieth layer attends to all, the last of each group; the config's own period goes first."""
    rule = _WINDOWS.get(family)
    if rule is None or window_of(config, family) is None:
        return (FULL,) * count
    letters = config.get("sliding_window_pattern")
    if isinstance(letters, str) and letters:
        pattern = _lettered(letters) or (FULL,)
        return tuple(pattern[place % len(pattern)] for place in range(count - 1)) + (FULL,)
    period = whole(letters, MAX_LAYERS) or rule.period
    return tuple(FULL if period and place % period == period - 1 else WINDOW for place in range(count))


def _by_interval(config: Config, _family: str, count: int) -> Kinds:
    every = whole(config.get("full_attention_interval"), MAX_LAYERS) or 4
    return tuple(FULL if (place + 1) % every == 0 else STATE for place in range(count))


def _jamba(config: Config, _family: str, count: int) -> Kinds:
    period = whole(config.get("attn_layer_period"), MAX_LAYERS) or 8
    offset = 4 if config.get("attn_layer_offset") is None else whole(config.get("attn_layer_offset"))
    return tuple(FULL if place % period == offset else STATE for place in range(count))


def _kimi_linear(config: Config, _family: str, count: int) -> Kinds | None:
    inner = config.get("linear_attn_config")
    numbers = inner.get("full_attn_layers") if isinstance(inner, Mapping) else None
    if not isinstance(numbers, list):
        return None
    return tuple(FULL if place + 1 in numbers else STATE for place in range(count))


def _mimo(config: Config, _family: str, count: int) -> Kinds | None:
    pattern = config.get("hybrid_layer_pattern")
    if not isinstance(pattern, list) or len(pattern) < count:
        return None
    return tuple(WINDOW if each == 1 else FULL for each in pattern[:count])


def _lfm2(config: Config, _family: str, count: int) -> Kinds | None:
    numbers = config.get("full_attn_idxs")
    if not isinstance(numbers, list):
        return None
    return tuple(FULL if place in numbers else STATE for place in range(count))


def _nemotron_nas(config: Config, _family: str, count: int) -> Kinds | None:
    blocks = config.get("block_configs")
    if not isinstance(blocks, list) or len(blocks) < count:
        return None
    parts = [block.get("attention") if isinstance(block, Mapping) else None for block in blocks[:count]]
    return tuple(FULL if isinstance(part, Mapping) and part.get("n_heads_in_group") else NONE for part in parts)


def _minimax(config: Config, _family: str, count: int) -> Kinds | None:
    pattern = config.get("attn_type_list")
    if not isinstance(pattern, list) or len(pattern) < count:
        return None
    return tuple(FULL if each == 1 else STATE for each in pattern[:count])


def _qwen2(config: Config, family: str, count: int) -> Kinds:
    """The first layers attend to all, those after them to a window, where it is switched on at all."""
    first = whole(config.get("max_window_layers"), MAX_LAYERS)
    if config.get("use_sliding_window") is not True or first is None or window_of(config, family) is None:
        return (FULL,) * count
    return tuple(WINDOW if place >= first else FULL for place in range(count))


_BY_FAMILY: Mapping[str, Callable[[Config, str, int], Kinds | None]] = {
    "jamba": _jamba,
    "kimi_linear": _kimi_linear,
    "lfm2": _lfm2,
    "lfm2_moe": _lfm2,
    "mimo_v2_flash": _mimo,
    "minimax_text_01": _minimax,
    "nemotron-nas": _nemotron_nas,
    "olmo_hybrid": _by_interval,
    "qwen2": _qwen2,
    "qwen2_moe": _qwen2,
    "qwen3": _qwen2,
    "qwen3_5_moe_text": _by_interval,
    "qwen3_5_text": _by_interval,
    "qwen3_moe": _qwen2,
    "qwen3_next": _by_interval,
}
