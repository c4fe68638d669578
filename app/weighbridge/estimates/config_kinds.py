"""What each layer of a model keeps, by the keys of its config.json: a cache, a window of one, a state, or nothing.

Keys and defaults are those of transformers and mlx-lm. A model type whose layers are all alike has its name in a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from weighbridge.formats.model import MAX_LAYERS
from weighbridge.formats.quantisation import Config, whole


class Kept(StrEnum):
    """What a layer keeps. BOTH is a cache and a state of Mamba 2; OTHER is a name that is not known here."""

    FULL = "full"
    SLIDING = "sliding"
    CHUNKED = "chunked"
    DELTA = "delta"
    KDA = "kda"
    MAMBA = "mamba"
    MAMBA2 = "mamba2"
    CONV = "conv"
    RECURRENT = "recurrent"
    RWKV = "rwkv"
    BOTH = "both"
    NOTHING = "nothing"
    OTHER = "other"


Kinds = tuple[Kept, ...]

_NAMES: Mapping[str, Kept] = {
    "full_attention": Kept.FULL,
    "attention": Kept.FULL,
    "sliding_attention": Kept.SLIDING,
    "chunked_attention": Kept.CHUNKED,
    "linear_attention": Kept.DELTA,
    "mamba": Kept.MAMBA2,
    "mamba2": Kept.MAMBA2,
    "conv": Kept.CONV,
    "recurrent": Kept.RECURRENT,
    "hybrid": Kept.BOTH,
    "mlp": Kept.NOTHING,
    "moe": Kept.NOTHING,
}
_LETTERS: Mapping[str, Kept] = {"M": Kept.MAMBA2, "*": Kept.FULL, "-": Kept.NOTHING, "E": Kept.NOTHING}
"""Of Nemotron-H's `hybrid_override_pattern`."""

_ALIKE: Mapping[str, Kept] = {
    "mamba": Kept.MAMBA,
    "falcon_mamba": Kept.MAMBA,
    "mamba2": Kept.MAMBA2,
    "rwkv7": Kept.RWKV,
    "falcon_h1": Kept.BOTH,
}
_BETWEEN: Mapping[str, tuple[Kept, int]] = {
    "cohere2": (Kept.SLIDING, 4),
    "gemma2": (Kept.SLIDING, 2),
    "gemma3": (Kept.SLIDING, 6),
    "gemma4": (Kept.SLIDING, 5),
    "gpt_oss": (Kept.SLIDING, 2),
    "llama4": (Kept.CHUNKED, 4),
    "olmo3": (Kept.SLIDING, 4),
    "olmo_hybrid": (Kept.DELTA, 4),
    "qwen3_5": (Kept.DELTA, 4),
    "qwen3_5_moe": (Kept.DELTA, 4),
    "qwen3_next": (Kept.DELTA, 4),
}
"""Where the config does not say: what the layers are between those of full attention, which is each so-manieth."""

_FIXED = frozenset({"llama4"})
"""mlx-lm goes by the default, whatever the config lists."""


def layer_kinds(config: Config, family: str, layers: int) -> Kinds:
    """What each of the `layers` layers keeps. `family` is the model's type, without the ending "_text"."""
    if family in _ALIKE:
        return (_ALIKE[family],) * layers
    told = None if family in _FIXED else _told(config, layers)
    return told or _by_default(config, family, layers)


def _told(config: Config, layers: int) -> Kinds | None:
    for look in (_by_blocks, _by_letters, _by_numbers, _by_windows, _by_names, _repeated, _by_period):
        found = look(config, layers)
        if found is not None and len(found) == layers:
            return found
    return None


def _by_blocks(config: Config, layers: int) -> Kinds | None:
    """The `block_configs` of Nemotron-NAS."""
    blocks = config.get("block_configs")
    if not isinstance(blocks, list) or len(blocks) < layers:
        return None
    attention = [block.get("attention") if isinstance(block, Mapping) else None for block in blocks[:layers]]
    return tuple(
        Kept.FULL if isinstance(each, Mapping) and whole(each.get("n_heads_in_group")) else Kept.NOTHING
        for each in attention
    )


def _by_letters(config: Config, layers: int) -> Kinds | None:
    pattern = config.get("hybrid_override_pattern")
    letters = pattern if isinstance(pattern, (str, list)) else ""
    return tuple(_LETTERS.get(str(each), Kept.OTHER) for each in letters[:layers]) if letters else None


def _by_numbers(config: Config, layers: int) -> Kinds | None:
    """The layers of full attention that Kimi Linear names, counted from 1."""
    linear = config.get("linear_attn_config")
    full = linear.get("full_attn_layers") if isinstance(linear, Mapping) else None
    if not isinstance(full, list):
        return None
    return tuple(Kept.FULL if number in full else Kept.KDA for number in range(1, layers + 1))


def _by_windows(config: Config, layers: int) -> Kinds | None:
    """MiMo's `hybrid_layer_pattern`: 1 stands for a window."""
    pattern = config.get("hybrid_layer_pattern")
    if not isinstance(pattern, list):
        return None
    return tuple(Kept.SLIDING if each == 1 else Kept.FULL for each in pattern[:layers])


def _by_names(config: Config, layers: int) -> Kinds | None:
    names = config.get("layer_types") or config.get("layers_block_type")
    if not isinstance(names, list):
        return None
    return tuple(_NAMES.get(str(name), Kept.OTHER) for name in names[:layers])


def _repeated(config: Config, layers: int) -> Kinds | None:
    """The `block_types` of RecurrentGemma, and EXAONE's pattern of L(ocal) and G(lobal), over and over."""
    names, letters = config.get("block_types"), config.get("sliding_window_pattern")
    if isinstance(letters, str) and letters:
        return tuple(Kept.SLIDING if letters[each % len(letters)] == "L" else Kept.FULL for each in range(layers))
    if not isinstance(names, list) or not names:
        return None
    return tuple(_NAMES.get(str(names[each % len(names)]), Kept.OTHER) for each in range(layers))


def _by_period(config: Config, layers: int) -> Kinds | None:
    """Jamba's: one layer of attention in each period, the others Mamba's."""
    period, offset = whole(config.get("attn_layer_period"), MAX_LAYERS), whole(config.get("attn_layer_offset")) or 0
    if not period:
        return None
    return tuple(Kept.FULL if each % period == offset else Kept.MAMBA for each in range(layers))


def _by_default(config: Config, family: str, layers: int) -> Kinds:
    between, every = _BETWEEN.get(family, (Kept.FULL, 0))
    interval = whole(config.get("full_attention_interval"), MAX_LAYERS)
    pattern = whole(config.get("sliding_window_pattern"), MAX_LAYERS)
    if interval:
        between, every = Kept.DELTA, interval
    elif pattern:
        between, every = Kept.SLIDING, pattern
    return tuple(Kept.FULL if not every or (each + 1) % every == 0 else between for each in range(layers))
