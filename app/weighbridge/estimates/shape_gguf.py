"""The layers of a GGUF model, by the rules that llama.cpp itself applies to the keys of its header.

Source of the rules: llama.cpp's `load_arch_hparams` of each architecture, `llama_hparams` and `create_memory`. Beside
each table stands what its names have in common; an architecture in none of them has plain attention.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from weighbridge.estimates.shape import Certainty, Layer, Shape
from weighbridge.formats.architectures import ENCODERS, TEXT
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import MAX_LAYERS, ModelInfo


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NO_CACHE = ENCODERS | _names("dream llada llada-moe rnd1 gemma-embedding wavtokenizer-dec")
"""Those that read a text at once, or rewrite it as a whole."""

_ONLY_RECURRENT = _names("mamba mamba2 rwkv6 rwkv6qwen2 rwkv7 arwkv7")
_BOTH = "falcon-h1"
"""Each layer has attention and a state beside it."""
_INTERLEAVED = _names("qwen3next qwen35 qwen35moe")
"""Recurrent but for every so-manieth layer."""
_RECURRENT_WITHOUT_KV_HEADS = _names("jamba granitehybrid plamo2 lfm2 lfm2moe kimi-linear")
"""Recurrent where a layer has no KV heads."""
_NEMOTRON_H = _names("nemotron_h nemotron_h_moe")
"""A layer is attention, recurrent or feed-forward, and only that."""

_APPROXIMATE = _names("""
    bailingmoe3 deepseek32 deepseek4 dots3note glm-dsa glm5-next hy_v4 minimax-01 minimax-m3 qwen4exp t5 kimi-k3
""")
"""Those that keep more than is counted here: caches of an indexer, compressed ones, or those of an encoder."""

_LATENT = "attention.key_length_mla"


@dataclass(frozen=True)
class _Windows:
    """Which layers look back over a window only: all but every `period`-th (the first of each group, or the last).

    `tokens` stands in where the header names no window, `forced` whatever it names; None: then there is none. A
    `period` of None: the header must say it layer by layer.
    """

    period: int | None
    tokens: int | None = None
    first_is_full: bool = False
    forced: int | None = None


_WINDOWS: Mapping[str, _Windows] = {
    "afmoe": _Windows(4),
    "cohere2": _Windows(4),
    "cohere2moe": _Windows(4, first_is_full=True),
    "exaone-moe": _Windows(4, tokens=128),
    "exaone4": _Windows(4, tokens=4096),
    "gemma2": _Windows(2, tokens=4096),
    "gemma3": _Windows(6),
    "gemma3n": _Windows(5),
    "gemma4": _Windows(None),
    "gpt-oss": _Windows(2),
    "granite_swa": _Windows(None),
    "laguna": _Windows(4, first_is_full=True),
    "llama4": _Windows(4, forced=8192),
    "maple": _Windows(None),
    "mellum": _Windows(4),
    "mimo2": _Windows(None),
    "olmo2": _Windows(4),
    "plamo3": _Windows(8),
    "smallthinker": _Windows(4, first_is_full=True, forced=4096),
    "spark2_5": _Windows(None),
    "step35": _Windows(None),
}
_EXAONE4_LAYERS = 64
"""Only the largest model of EXAONE 4 has windows."""
_GEMMA3N_CACHES = 20
"""Layers of Gemma 3n after these use the caches of earlier ones."""


def shape_of_gguf(info: ModelInfo) -> Shape:
    """What the model of this header keeps. Never raises: what cannot be told makes the shape UNKNOWN."""
    keys = Keys(info.metadata)
    architecture = info.architecture or ""
    if info.layers is None:
        return Shape((), Certainty.UNKNOWN)
    if architecture in _NO_CACHE:
        return Shape(tuple(Layer(heads=heads) for heads in info.heads or (0,) * info.layers))
    reader = _Reader(info, keys, architecture)
    layers = reader.layers()
    if layers is None:
        return Shape((), Certainty.UNKNOWN)
    count = len(layers) - min(keys.count("nextn_predict_layers", MAX_LAYERS) or 0, len(layers))
    return Shape(layers[:count], _certainty(architecture), layers[count:], reader.latent)


def _certainty(architecture: str) -> Certainty:
    if architecture in _APPROXIMATE:
        return Certainty.APPROXIMATE
    return Certainty.KNOWN if architecture in TEXT else Certainty.UPPER_BOUND


class _Reader:
    """One header's way to its layers."""

    def __init__(self, info: ModelInfo, keys: Keys, architecture: str) -> None:
        self._info = info
        self._keys = keys
        self._architecture = architecture
        self._count = info.layers or 0
        self._trunk = self._count - min(keys.count("nextn_predict_layers", MAX_LAYERS) or 0, self._count)
        self.latent = bool(keys.count(_LATENT) and keys.count("attention.value_length_mla"))

    def layers(self) -> tuple[Layer, ...] | None:
        """All layers, those that only predict last; None where the header says too little."""
        recurrent = self._recurrent()
        conv, state = self._state()
        if any(recurrent) and conv + state == 0:
            return None
        if all(recurrent) and self._architecture != _BOTH:
            return tuple(Layer(conv=conv, state=state) for _ in recurrent)
        attention = self._attention()
        if attention is None:
            return None
        both = self._architecture == _BOTH
        return tuple(
            layer if not kept else replace(layer if both else Layer(), conv=conv, state=state)
            for layer, kept in zip(attention, recurrent, strict=True)
        )

    def _recurrent(self) -> tuple[bool, ...]:
        """Which layers keep a state."""
        if self._architecture in _ONLY_RECURRENT or self._architecture == _BOTH:
            return (True,) * self._count
        kv_heads = self._info.kv_heads or ()
        if self._architecture in _RECURRENT_WITHOUT_KV_HEADS and kv_heads:
            return tuple(heads == 0 for heads in kv_heads)
        if self._architecture in _NEMOTRON_H and kv_heads:
            feed_forward = self._keys.per_layer("feed_forward_length", self._count) or (0,) * self._count
            return tuple(heads == 0 and wide == 0 for heads, wide in zip(kv_heads, feed_forward, strict=True))
        if self._architecture in _INTERLEAVED:
            return self._interleaved()
        return (False,) * self._count

    def _interleaved(self) -> tuple[bool, ...]:
        told = self._keys.flags("attention.recurrent_layers", self._count)
        every = self._keys.count("full_attention_interval") or 4
        recurrent = told or [(number + 1) % every != 0 for number in range(self._count)]
        return tuple(kept and number < self._trunk for number, kept in enumerate(recurrent))

    def _state(self) -> tuple[int, int]:
        """Elements of the convolution's and of the state's memory in one recurrent layer."""
        keys, embedding = self._keys, self._info.embedding_length or 0
        if head_size := keys.count("wkv.head_size"):
            return (keys.count("token_shift_count") or 2) * embedding, embedding * head_size
        if kept := keys.count("shortconv.l_cache"):
            return embedding * (kept - 1), 0
        steps = (keys.count("ssm.conv_kernel") or 0) - 1
        if head_length := keys.count("kda.head_dim"):
            heads = max(self._info.heads or (0,))
            return 3 * (steps if steps > 0 else 3) * heads * head_length, head_length**2 * heads
        inner, wide = keys.count("ssm.inner_size") or 0, keys.count("ssm.state_size") or 0
        groups = keys.count("ssm.group_count") or 0
        return max(0, steps) * (inner + 2 * groups * wide), wide * inner

    def _attention(self) -> list[Layer] | None:
        """Each layer's attention, with the cache it has of its own."""
        info, windows = self._info, self._windows()
        if info.heads is None or info.kv_heads is None or info.key_length is None or info.value_length is None:
            return None
        short_key = self._keys.count("attention.key_length_swa") or info.key_length
        short_value = self._keys.count("attention.value_length_swa") or info.value_length
        owners = self._owners()
        layers: list[Layer] = []
        for number, (heads, kv_heads, window) in enumerate(zip(info.heads, info.kv_heads, windows, strict=True)):
            key_length = info.key_length if window is None else short_key
            value_length = info.value_length if window is None else short_value
            kept = kv_heads if number < owners else 0
            value_width = 0 if self.latent else kept * value_length
            key_width = min(kept, 1) * key_length if self.latent else kept * key_length
            layers.append(Layer(heads, key_width, value_width, window))
        return layers

    def _owners(self) -> int:
        """How many of the first layers have a cache of their own."""
        if self._architecture == "gemma3n":
            return _GEMMA3N_CACHES
        return self._count - min(self._keys.count("attention.shared_kv_layers") or 0, self._count)

    def _windows(self) -> Sequence[int | None]:
        """The window of each layer."""
        rule = self._window_rule()
        told = self._keys.count("attention.sliding_window")
        tokens = (rule.forced if rule.forced and told != 0 else told or rule.tokens) if rule else None
        if rule is None or not tokens:
            return (None,) * self._count
        short = self._short_layers(rule)
        return [tokens if is_short else None for is_short in short]

    def _window_rule(self) -> _Windows | None:
        if self._architecture == "exaone4" and self._trunk != _EXAONE4_LAYERS:
            return None
        if self._architecture in ("lfm2", "lfm2moe"):
            return _Windows(1) if self._info.sliding_window else None
        if self._architecture == "smallthinker" and not self._info.sliding_window:
            return None
        return _WINDOWS.get(self._architecture)

    def _short_layers(self, rule: _Windows) -> Sequence[bool]:
        key = "attention.sliding_window_pattern"
        told = self._keys.flags(key, self._count)
        if told is not None:
            return told
        period = self._keys.count(key, MAX_LAYERS) or rule.period
        if period is None:
            return (False,) * self._count
        is_short: Callable[[int], bool] = (
            (lambda number: number % period != 0)
            if rule.first_is_full
            else (lambda number: period == 1 or number % period < period - 1)
        )
        return [number < self._trunk and is_short(number) for number in range(self._count)]
