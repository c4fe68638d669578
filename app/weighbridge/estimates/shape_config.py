"""The layers of a model that is not GGUF, by its config.json.

In these shapes `conv` counts what is kept in the model's own type, `state` what is kept in 32 bits. Rules that differ
between engines go by the format: a folder in the format of MLX is run by mlx-lm. Source: the models of mlx-lm, whose
caches were captured for each type of `_KNOWN`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weighbridge.estimates.config_kinds import Kept, layer_kinds
from weighbridge.estimates.config_states import NONE, state_elements
from weighbridge.estimates.shape import Certainty, Index, Layer, Shape
from weighbridge.formats.configs import sliding_window
from weighbridge.formats.model import MAX_LAYERS, ModelInfo
from weighbridge.formats.quantisation import whole

Widths = tuple[int, int]

_WINDOWED = (
    frozenset(
        {"afmoe", "cohere2", "exaone4", "exaone_moe", "gemma3", "gemma3n", "gemma4", "gpt_oss", "laguna", "llama"}
    )
    | frozenset({"llama4", "mellum", "mimo_v2_flash", "ministral3", "mistral", "muse_glimmer", "muse_spark", "olmo3"})
    | frozenset({"recurrent_gemma", "spark2_5", "step3p5"})
)
"""Types of which mlx-lm keeps only the window where there is one; of others it keeps all."""

_WITHOUT_LENGTH = frozenset(
    [
        "gpt2",
        "gpt_bigcode",
        "granitemoehybrid",
        "jamba",
        "minicpm3",
        "mixtral",
        "nemotron-nas",
        "phi3",
        "qwen2",
        "qwen2_moe",
    ]
)
"""Types whose heads share out the width in mlx-lm, whatever length the config names."""

_EXPANDED = frozenset(["deepseek_v2", "minicpm3"])
"""Types of compressed attention of which mlx-lm keeps each head's keys and values."""

_INDEXED = frozenset(["deepseek_v32", "glm_moe_dsa"])
_TWICE = frozenset(["longcat_flash"])
"""Types with two attentions in each layer."""

_WITHOUT_CACHE = frozenset(
    ["bert", "distilbert", "electra", "mpnet", "modernbert", "nomic_bert", "roberta", "xlm-roberta"]
)
_KNOWN = (
    _WINDOWED
    | _WITHOUT_LENGTH
    | _EXPANDED
    | _INDEXED
    | _TWICE
    | frozenset(["deepseek", "deepseek_v3", "falcon_h1", "falcon_mamba", "gemma", "gemma2", "glm4", "glm4_moe"])
    | frozenset(["glm4_moe_lite", "gpt_bigcode", "kimi_k2", "kimi_linear", "lfm2", "lfm2_moe", "mamba", "mamba2"])
    | frozenset(["minimax_m2", "nemotron_h", "olmo2", "olmo_hybrid", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_moe"])
    | frozenset(["qwen3_next", "rwkv7", "smollm3"])
)


def shape_of_config(info: ModelInfo) -> Shape:
    """What the model of `info` keeps, by its `config`. Never raises: what cannot be told makes the shape UNKNOWN."""
    family = (info.architecture or "").removesuffix("_text")
    if family in _WITHOUT_CACHE:
        return Shape((Layer(),) * (info.layers or 0))
    return _Reader(info, family).shape()


class _Reader:
    """One config's way to its layers."""

    def __init__(self, info: ModelInfo, family: str) -> None:
        self._info = info
        self._config = info.config
        self._family = family
        self._is_mlx = info.format == "mlx"
        self._count = whole(info.config.get("num_layers"), MAX_LAYERS) if family in _TWICE else info.layers

    def shape(self) -> Shape:
        """The whole of it. Layers that share a cache need one that has it."""
        owners = (self._count or 0) - (self._number("num_kv_shared_layers") or 0)
        if not self._count or owners <= 0:
            return Shape((), Certainty.UNKNOWN)
        kinds = layer_kinds(self._config, self._family, self._count)
        layers = [self._layer(number, kept, number < owners) for number, kept in enumerate(kinds)]
        known = tuple(layer for layer in layers if layer is not None)
        if len(known) < len(layers):
            return Shape((), Certainty.UNKNOWN)
        return Shape(known, self._certainty(kinds), latent=self._is_latent)

    def _certainty(self, kinds: tuple[Kept, ...]) -> Certainty:
        windows = Kept.SLIDING in kinds or Kept.CHUNKED in kinds or self._window is not None
        expanded = self._number("kv_lora_rank") and not self._is_latent
        if Kept.OTHER in kinds or self._lacks_window(kinds) or (not self._is_mlx and (windows or expanded)):
            return Certainty.UPPER_BOUND
        return Certainty.KNOWN if self._family in _KNOWN else Certainty.APPROXIMATE

    def _lacks_window(self, kinds: tuple[Kept, ...]) -> bool:
        """Whether some layers keep a window of which the config does not say how long it is: all tokens count then."""
        windowed = filter(self._is_windowed, dict.fromkeys(kinds))
        return self._family in _WINDOWED and any(self._window_of(kept) is None for kept in windowed)

    def _is_windowed(self, kept: Kept) -> bool:
        return kept in (Kept.SLIDING, Kept.CHUNKED) or (self._family == "recurrent_gemma" and kept is Kept.FULL)

    def _layer(self, number: int, kept: Kept, owns: bool) -> Layer | None:
        """One layer, None where the config does not tell. One that does not own its cache uses an earlier one's."""
        states = state_elements(self._config, kept)
        if kept not in (Kept.FULL, Kept.SLIDING, Kept.CHUNKED, Kept.BOTH, Kept.OTHER):
            return None if states is None else Layer(conv=states[0], state=states[1])
        widths = self._widths(number, kept) if owns else NONE
        if widths is None or states is None:
            return None
        layer = Layer(self._of(self._info.heads, number), *widths, conv=states[0], state=states[1])
        if self._family in _INDEXED and self._is_mlx and owns:
            layer = replace(layer, index=self._index())
        return replace(layer, window=self._window_of(kept)) if owns else layer

    def _window_of(self, kept: Kept) -> int | None:
        if self._is_mlx and self._family not in _WINDOWED:
            return None
        if kept is Kept.CHUNKED:
            return self._number("attention_chunk_size") or None
        return self._window if self._is_windowed(kept) else None

    @property
    def _window(self) -> int | None:
        told = [self._number(key) for key in ("sliding_window_size", "attention_window_size")]
        return next((each for each in told if each), sliding_window(self._config))

    @property
    def _is_latent(self) -> bool:
        if not self._number("kv_lora_rank"):
            return False
        return self._info.format == "exl3" or (self._is_mlx and self._family not in _EXPANDED)

    def _widths(self, number: int, kept: Kept) -> Widths | None:
        """The elements of keys and of values that one token takes."""
        if self._number("kv_lora_rank"):
            return self._latent() if self._is_latent else self._expanded()
        heads, key, value = self._kv_heads(number), self._info.key_length, self._info.value_length
        if self._is_mlx and self._family in _WITHOUT_LENGTH:
            key = value = self._shared_out(number)
        if self._family == "gemma4" and kept is Kept.FULL:
            key = value = self._number("global_head_dim") or 512
            told = self._number("num_global_key_value_heads") if self._config.get("attention_k_eq_v") is True else None
            heads = told or heads
        if self._family == "mimo_v2_flash" and kept is Kept.SLIDING:
            heads = self._number("swa_num_key_value_heads")
            key, value = self._number("swa_head_dim"), self._number("swa_v_head_dim")
        return (heads * key, heads * value) if heads and key and value else None

    def _kv_heads(self, number: int) -> int | None:
        blocks = self._config.get("block_configs")
        if isinstance(blocks, list) and number < len(blocks):
            return self._of_group(blocks[number], number)
        counts = self._info.heads if self._family == "gpt2" else self._info.kv_heads
        return self._of(counts, number) or None

    def _of_group(self, block: object, number: int) -> int | None:
        attention = block.get("attention") if isinstance(block, Mapping) else None
        group = whole(attention.get("n_heads_in_group")) if isinstance(attention, Mapping) else None
        return self._of(self._info.heads, number) // group if group else None

    def _latent(self) -> Widths | None:
        rank, turning = self._number("kv_lora_rank"), self._number("qk_rope_head_dim")
        times = 2 if self._family in _TWICE else 1
        return (rank * times, turning * times) if rank and turning is not None else None

    def _expanded(self) -> Widths | None:
        heads, key, value = self._of(self._info.heads, 0), self._info.key_length, self._info.value_length
        if self._is_mlx and self._family == "minicpm3":
            value = self._shared_out(0)
        return (heads * key, heads * value) if heads and key and value else None

    def _index(self) -> Index | None:
        """mlx-lm keeps the indexer's keys as values, too."""
        width = self._number("index_head_dim")
        return Index(width, width) if width else None

    def _shared_out(self, number: int) -> int | None:
        heads, width = self._of(self._info.heads, number), self._info.embedding_length
        return width // heads if width and heads else None

    def _number(self, key: str) -> int | None:
        return whole(self._config.get(key))

    @staticmethod
    def _of(counts: tuple[int, ...] | None, number: int) -> int:
        return counts[number] if counts is not None and number < len(counts) else 0
