"""How many parameters a model has, reckoned from its config alone: for a repository of which no weight is here.

Only for families whose layers are known to be built the usual way; for all others None, never a guess. Where the tables
of tensors are here, they are counted instead (`packed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.formats.configs import text_config
from weighbridge.formats.packed import Held
from weighbridge.formats.quantisation import Config, whole

_TIED = frozenset({"cohere", "cohere2", "gemma", "gemma2", "gemma3_text"})
"""Types whose output is the embedding unless their config says otherwise."""

_QUERY_BIAS = frozenset({"glm4", "glm4_moe", "qwen2", "qwen2_moe", "qwen2_vl_text"})
_HEAD_NORMS = frozenset({"gemma3_text", "qwen3", "qwen3_moe", "qwen3_vl_text", "qwen3_vl_moe_text"})
_NORMS = {"cohere": 1, "cohere2": 1, "gemma2": 4, "gemma3_text": 4, "glm4": 4}
"""How many norms a layer has where it is not two."""

_OTHERS = frozenset({"deepseek_v2", "deepseek_v3", "ernie4_5", "granite", "granitemoe", "kimi_k2", "llama", "mistral"})
_MORE = frozenset({"mixtral", "phi3", "seed_oss", "smollm3"})
_FAMILIES = _TIED | _QUERY_BIAS | _HEAD_NORMS | _OTHERS | _MORE


@dataclass(frozen=True)
class _Sizes:
    """The numbers that the sums are made of."""

    layers: int
    hidden: int
    vocabulary: int
    heads: int
    kv_heads: int
    head: int


def reckoned(config: Config) -> Held:
    """The parameters of the model, and those that one token touches; None where its family is not known well."""
    merged = text_config(config)
    family = str(merged.get("model_type"))
    sizes = _sizes(merged)
    if family not in _FAMILIES or sizes is None or "vision_config" in merged or "audio_config" in merged:
        return Held(None, None)
    dense, used, all_experts = _feed_forward(merged, sizes)
    attention = _attention(merged, sizes, family)
    norms = _NORMS.get(family, 2) * sizes.hidden
    body = sizes.layers * (attention + norms) + dense + sizes.hidden
    table = sizes.vocabulary * sizes.hidden
    tied = merged.get("tie_word_embeddings", family in _TIED) is True
    return Held(body + all_experts + table * (1 if tied else 2), body + used + table)


def _sizes(config: Mapping[str, object]) -> _Sizes | None:
    layers, hidden = whole(config.get("num_hidden_layers")), whole(config.get("hidden_size"))
    vocabulary, heads = whole(config.get("vocab_size")), whole(config.get("num_attention_heads"))
    widths = (whole(config.get(key)) for key in ("intermediate_size", "moe_intermediate_size"))
    if not layers or not hidden or not vocabulary or not heads or not any(widths):
        return None
    kv_heads = whole(config.get("num_key_value_heads")) or heads
    return _Sizes(layers, hidden, vocabulary, heads, kv_heads, whole(config.get("head_dim")) or hidden // heads)


def _attention(config: Config, sizes: _Sizes, family: str) -> int:
    latent = whole(config.get("kv_lora_rank"))
    if latent:
        return _latent_attention(config, sizes, latent)
    queries, keys = sizes.heads * sizes.head, sizes.kv_heads * sizes.head
    count = sizes.hidden * (2 * queries + 2 * keys)
    if family in _QUERY_BIAS or (config.get("attention_bias") is True and family in ("llama", "seed_oss")):
        count += queries + 2 * keys
    return count + (2 * sizes.head if family in _HEAD_NORMS else 0)


def _latent_attention(config: Config, sizes: _Sizes, latent: int) -> int:
    still, turning = whole(config.get("qk_nope_head_dim")) or 0, whole(config.get("qk_rope_head_dim")) or 0
    value, low = whole(config.get("v_head_dim")) or 0, whole(config.get("q_lora_rank"))
    query = sizes.heads * (still + turning)
    queries = sizes.hidden * low + low + low * query if low else sizes.hidden * query
    keys = sizes.hidden * (latent + turning) + latent + latent * sizes.heads * (still + value)
    return queries + keys + sizes.heads * value * sizes.hidden


def _feed_forward(config: Config, sizes: _Sizes) -> tuple[int, int, int]:
    """What all layers have beside experts, then the experts that a token touches, then all of them."""
    width = whole(config.get("intermediate_size")) or 0
    experts = next(
        (whole(config.get(key)) for key in ("num_local_experts", "num_experts", "n_routed_experts") if config.get(key)),
        None,
    )
    if not experts:
        return sizes.layers * 3 * sizes.hidden * width, 0, 0
    narrow = whole(config.get("moe_intermediate_size")) or width
    first = whole(config.get("first_k_dense_replace")) or 0
    mixed = max(0, sizes.layers - first)
    expert = 3 * sizes.hidden * narrow
    shared = (whole(config.get("n_shared_experts")) or 0) * expert + _shared_expert(config, sizes)
    router = sizes.hidden * experts + (experts if config.get("topk_method") == "noaux_tc" else 0)
    used = min(whole(config.get("num_experts_per_tok")) or experts, experts)
    dense = first * 3 * sizes.hidden * width + mixed * (shared + router)
    return dense, mixed * used * expert, mixed * experts * expert


def _shared_expert(config: Config, sizes: _Sizes) -> int:
    """One that every token passes, with its own gate, as Qwen2's mixtures have it."""
    width = whole(config.get("shared_expert_intermediate_size"))
    return 3 * sizes.hidden * width + sizes.hidden if width else 0
