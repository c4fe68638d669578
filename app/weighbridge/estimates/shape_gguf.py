"""The layers of a GGUF model, by the rules that llama.cpp itself applies to the keys of its header.

Source of the rules: llama.cpp's `load_arch_hparams` of each architecture, `llama_hparams` and `create_memory`. Beside
each table stands what its names have in common; an architecture in none of them has plain attention.
"""

from __future__ import annotations

from dataclasses import replace

from weighbridge.estimates.shape import Certainty, Layer, Shape
from weighbridge.estimates.shape_indexes import with_indexes
from weighbridge.estimates.shape_states import BOTH, further_conv, recurrent_layers, state_widths
from weighbridge.estimates.shape_tensors import layers_of_tensors
from weighbridge.estimates.shape_windows import windows
from weighbridge.formats.architectures import ENCODERS, TEXT
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import MAX_LAYERS, ModelInfo

_NO_CACHE = ENCODERS | frozenset(
    ["clef", "dream", "gemma-embedding", "gemma4-assistant", "llada", "llada-moe", "rnd1", "wavtokenizer-dec"]
)
"""Those that read a text at once, or rewrite it as a whole, or look into the cache of another model."""
_APPROXIMATE = frozenset(["t5"])
"""Those that keep more than is counted here: an encoder's answer."""
_PREDICTING_KEEPS = frozenset(["bailingmoe3", "deepseek4"])
"""Their layers that only predict have a cache even where nothing predicts."""
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
    layers = None if architecture in TEXT else layers_of_tensors(info, keys)
    layers = layers or reader.layers()
    if layers is None:
        return Shape((), Certainty.UNKNOWN)
    certainty = _certainty(architecture, reader.trunk < len(layers))
    return Shape(tuple(layers[: reader.trunk]), certainty, tuple(layers[reader.trunk :]), reader.latent)


def _certainty(architecture: str, predicts: bool) -> Certainty:
    if architecture in _APPROXIMATE or (predicts and architecture in _PREDICTING_KEEPS):
        return Certainty.APPROXIMATE
    return Certainty.KNOWN if architecture in TEXT else Certainty.UPPER_BOUND


class _Reader:
    """One header's way to its layers."""

    def __init__(self, info: ModelInfo, keys: Keys, architecture: str) -> None:
        self._info = info
        self._keys = keys
        self._architecture = architecture
        self._count = info.layers or 0
        self.trunk = self._count - min(keys.count("nextn_predict_layers", MAX_LAYERS) or 0, self._count)
        self.latent = bool(keys.count("attention.key_length_mla") and keys.count("attention.value_length_mla"))

    def layers(self) -> list[Layer] | None:
        """All layers, those that only predict last; None where the header says too little."""
        architecture, trunk = self._architecture, self.trunk
        recurrent = recurrent_layers(architecture, self._info, self._keys, self._count, trunk)
        if all(recurrent) and architecture != BOTH:
            layers = [Layer() for _ in recurrent]
        else:
            attention = self._attention()
            if attention is None:
                return None
            layers = with_indexes(architecture, self._keys, attention[:trunk], recurrent) + attention[trunk:]
        return self._repeated(self._with_states(layers, recurrent))

    def _with_states(self, layers: list[Layer], recurrent: tuple[bool, ...]) -> list[Layer] | None:
        """The layers, of which the recurrent ones keep a state instead of a cache, or beside it."""
        if not any(recurrent):
            return layers
        conv, state = state_widths(self._architecture, self._info, self._keys)
        if conv + state == 0:
            return None
        both = self._architecture == BOTH
        made = [
            replace(layer if both else Layer(), conv=conv, state=state) if kept else layer
            for layer, kept in zip(layers, recurrent, strict=True)
        ]
        further = further_conv(self._architecture, self._info, self._keys)
        if further and further[0] < len(made):
            made[further[0]] = replace(made[further[0]], conv=conv + further[1])
        return made

    def _repeated(self, layers: list[Layer] | None) -> list[Layer] | None:
        """Two architectures run their layers more than once, or have one more that no tensor shows."""
        if layers and self._architecture == "nanbeige":
            loops = self._keys.count("num_loops", MAX_LAYERS) or 1
            return [_wider(layer, loops * layer.key_width, loops * layer.value_width) for layer in layers]
        if layers and self._architecture == "graniteswitch":
            last, key, value = layers[-1], self._info.key_length or 0, self._info.value_length or 0
            return [*layers[:-1], _wider(last, last.key_width + key, last.value_width + value)]
        return layers

    def _attention(self) -> list[Layer] | None:
        """Each layer's attention, with the cache it has of its own."""
        info = self._info
        if info.heads is None or info.kv_heads is None or info.key_length is None or info.value_length is None:
            return None
        spans = windows(self._architecture, self._keys, self._count, self.trunk)
        short_key = self._keys.count("attention.key_length_swa") or info.key_length
        short_value = self._keys.count("attention.value_length_swa") or info.value_length
        layers: list[Layer] = []
        owners = self._owners()
        for number, (heads, kv_heads, window) in enumerate(zip(info.heads, info.kv_heads, spans, strict=True)):
            key, value = (info.key_length, info.value_length) if window is None else (short_key, short_value)
            kept = kv_heads if number < owners else 0
            layers.append(Layer(heads, kept * key, 0 if self.latent else kept * value, window))
        widest = max((layer.value_width for layer in layers), default=0)
        return [replace(layer, padded_width=widest) if layer.value_width else layer for layer in layers]

    def _owners(self) -> int:
        """How many of the first layers have a cache of their own."""
        if self._architecture == "gemma3n":
            return _GEMMA3N_CACHES
        return self._count - min(self._keys.count("attention.shared_kv_layers") or 0, self._count)


def _wider(layer: Layer, key_width: int, value_width: int) -> Layer:
    return replace(layer, key_width=key_width, value_width=value_width, padded_width=value_width or None)
