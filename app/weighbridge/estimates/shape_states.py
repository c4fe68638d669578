"""Which layers of a GGUF model keep a recurrent state, and how much of it.

Source: the `load_arch_hparams` of each architecture in llama.cpp, `llama_hparams::n_embd_r` and `n_embd_s`, and the
filters of `create_memory`.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

ONLY_RECURRENT = frozenset(["mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"])
BOTH = "falcon-h1"
"""Each of its layers has attention and a state beside it."""
_INTERLEAVED: Mapping[str, int] = {"minimax-01": 8, "qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4}
"""Recurrent but for every so-manieth layer."""
_WITHOUT_KV_HEADS = frozenset(
    ["bailingmoe3", "glm5-next", "granitehybrid", "jamba", "kimi-k3", "kimi-linear", "lfm2", "lfm2moe", "plamo2"]
)
"""Recurrent where a layer has no KV heads."""
_COUNTS = (
    "kda.head_dim",
    "shortconv.l_cache",
    "ssm.conv_kernel",
    "ssm.group_count",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.time_step_rank",
    "token_shift_count",
    "wkv.head_size",
)
"""On these the widths of a state rest: with one that is no count, nothing can be told."""
MOST = 1 << 17
"""No model has more of any of them: the widest has an inner size of some 32,768."""
_NEMOTRON_H = frozenset(["nemotron_h", "nemotron_h_moe"])
"""A layer is attention, recurrent or feed-forward, and only that."""


def recurrent_layers(architecture: str, info: ModelInfo, keys: Keys, count: int, trunk: int) -> tuple[bool, ...]:
    """Which of `count` layers keep a state; those after `trunk` only predict, and never do."""
    if architecture in ONLY_RECURRENT or architecture == BOTH:
        return (True,) * count
    kv_heads = info.kv_heads or ()
    if architecture in _INTERLEAVED:
        told = keys.flags("attention.recurrent_layers", count)
        every = keys.count("full_attention_interval") or _INTERLEAVED[architecture]
        kept = told or tuple((number + 1) % every != 0 for number in range(count))
    elif architecture in _WITHOUT_KV_HEADS and kv_heads:
        kept = tuple(heads == 0 for heads in kv_heads)
    elif architecture in _NEMOTRON_H and kv_heads:
        inner = keys.per_layer("feed_forward_length", count) or (0,) * count
        kept = tuple(heads == 0 and wide == 0 for heads, wide in zip(kv_heads, inner, strict=True))
    else:
        kept = (False,) * count
    return kept[:trunk] + (False,) * (count - trunk)


def state_widths(architecture: str, info: ModelInfo, keys: Keys) -> tuple[int, int]:
    """Elements of the convolution's and of the state's memory in one recurrent layer; (0, 0) where that is not told."""
    if any(keys.count(key, MOST) is None for key in _COUNTS if f"{architecture}.{key}" in info.metadata):
        return 0, 0
    embedding, heads = info.embedding_length or 0, (info.heads or (0,))[0]
    if head_size := keys.count("wkv.head_size"):
        shifts = keys.count("token_shift_count")
        return (2 if shifts is None else shifts) * embedding, embedding * head_size
    if kept := keys.count("shortconv.l_cache"):
        return embedding * (kept - 1), 0
    steps = (keys.count("ssm.conv_kernel") or 0) - 1
    if length := keys.count("kda.head_dim"):
        return 3 * (steps if steps >= 0 else 3) * heads * length, length**2 * heads
    if architecture == "minimax-01":
        return 0, (info.key_length or 0) ** 2 * heads
    inner, wide = keys.count("ssm.inner_size") or 0, keys.count("ssm.state_size") or 0
    groups = keys.count("ssm.group_count") or 0
    return max(0, steps) * (inner + 2 * groups * wide), wide * inner


def further_conv(architecture: str, info: ModelInfo, keys: Keys) -> tuple[int, int] | None:
    """The one layer that remembers more of its text, for hashed embeddings, and how much more (`ple_conv_state`)."""
    layers, kernel = info.metadata.get(f"{architecture}.ple.layers"), keys.count("ple.conv_kernel")
    if not kernel or not isinstance(layers, tuple) or len(layers) != 1:
        return None
    gram, streams = keys.count("ple.ngram_size") or 0, keys.count("hyper_connection.count") or 0
    return int(layers[0]), (kernel - 1) * gram * streams * (info.embedding_length or 0)
