"""A first figure for the memory of a model: its weights, and its KV cache in f16 for one conversation.

It knows plain attention. A sliding window makes the figure an upper bound, and anything that keeps another kind of
state (recurrent layers, compressed attention, shared caches) makes it unknown: never a guess. Compute buffers are not
in it. Formulas: llama.cpp's KV cache, one stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.formats.architectures import ENCODERS
from weighbridge.formats.model import ModelInfo

F16_BYTES = 2
CELL_STEP = 256


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = _names("""
    arcee arctic baichuan bailingmoe bailingmoe2 bitnet bloom chameleon chatglm codeshell command-r dbrx deci deepseek
    dots1 ernie4_5 ernie4_5-moe exaone falcon gemma glm4 glm4moe gpt2 gptj gptneox granite granitemoe grok grovemoe
    hunyuan-dense hunyuan-moe internlm2 jais llama minicpm minimax-m2 mistral3 mpt nemotron olmo olmoe openelm orion
    phi2 phi3 phimoe plamo qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3vl qwen3vlmoe refact seed_oss smollm3
    stablelm starcoder starcoder2 xverse
""")
"""Architectures whose every attention layer keeps all tokens. A window in their header is not used by llama.cpp."""

_ALWAYS_WINDOWED = {"cohere2", "gemma2", "gemma3", "gpt-oss", "llama4"}
_WINDOWED = _ALWAYS_WINDOWED | {"exaone4", "olmo2"}
"""Architectures some of whose layers keep only a window; the last two only where their header names one."""


@dataclass(frozen=True)
class Memory:
    """Memory in bytes: `weights_bytes` for all experts, `kv_bytes` at `context` tokens; None is unknown.

    `upper_bound` is True where the cache will be smaller than told.
    """

    weights_bytes: int
    kv_bytes: int | None
    context: int
    upper_bound: bool = False

    @property
    def total_bytes(self) -> int | None:
        """Weights and cache; None where the cache is unknown."""
        return None if self.kv_bytes is None else self.weights_bytes + self.kv_bytes


def simple_memory(info: ModelInfo | None, size_bytes: int, context: int) -> Memory:
    """The memory that a model of `size_bytes` needs with a context of `context` tokens."""
    if info is None:
        return Memory(size_bytes, None, context)
    kv_bytes = kv_cache_bytes(info, context)
    return Memory(size_bytes, kv_bytes, context, kv_bytes is not None and _uses_window(info, context))


def kv_cache_bytes(info: ModelInfo, context: int) -> int | None:
    """The f16 KV cache for `context` tokens; 0 for an encoder, None where the header or this formula does not tell."""
    if info.architecture in ENCODERS:
        return 0
    if info.architecture not in _PLAIN | _WINDOWED or info.kv_heads is None:
        return None
    if info.key_length is None or info.value_length is None:
        return None
    cells = -(-context // CELL_STEP) * CELL_STEP
    heads = sum(info.kv_heads[: len(info.kv_heads) - _prediction_layers(info)])
    return cells * heads * (info.key_length + info.value_length) * F16_BYTES


def _prediction_layers(info: ModelInfo) -> int:
    """Layers at the end that only predict further tokens; they are not loaded, so they keep nothing."""
    count = info.metadata.get(f"{info.architecture}.nextn_predict_layers", 0)
    return count if isinstance(count, int) and 0 <= count <= len(info.kv_heads or ()) else 0


def _uses_window(info: ModelInfo, context: int) -> bool:
    """Whether some layers will keep less than `context` tokens, so that counting them in full is an upper bound."""
    if info.sliding_window is None:
        return info.architecture in _ALWAYS_WINDOWED
    return info.architecture in _WINDOWED and context > info.sliding_window
