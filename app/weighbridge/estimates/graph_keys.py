"""The tensors that a layer of a model with a state would have, told by the keys of its header alone.

For a brief read, which does not reach the table of tensors. Only those names are there that `compute_recurrent` looks
at, without ".weight".
"""

from __future__ import annotations

from weighbridge.estimates.shape import Layer
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

Made = dict[str, tuple[int, ...]]

_GATED_QUERIES = frozenset(["qwen3next", "qwen35", "qwen35moe"])
_ONE_PART = frozenset(["nemotron_h", "nemotron_h_moe"])
"""A layer is a mixer or a feed-forward part, and that has no gate."""
_NEVER_FORWARD = frozenset(["mamba", "mamba2"])


def shapes_of_keys(info: ModelInfo, keys: Keys, number: int, kept: Layer) -> Made:
    """What layer `number`, which keeps `kept`, would have."""
    width, architecture = info.embedding_length or 0, info.architecture or ""
    if keys.count("wkv.head_size"):
        return _rwkv(info, keys, width)
    shapes: Made = {}
    if kept.conv or kept.state:
        shapes |= _state(architecture, info, keys, width)
    if kept.cached:
        shapes |= _attention(architecture, info, keys, width, kept)
    alone = architecture in _ONE_PART and bool(shapes)
    return shapes if alone or architecture in _NEVER_FORWARD else shapes | _forward(architecture, info, keys, number)


def _state(architecture: str, info: ModelInfo, keys: Keys, width: int) -> Made:
    own = (info.heads or (0,))[0]
    if keys.count("shortconv.l_cache"):
        return {"shortconv.conv": (1, width)}
    if length := keys.count("kda.head_dim"):
        made: Made = {"ssm_conv1d_q": (1, 1, own * length), "attn_q": (width, own * length), "ssm_beta": (width, own)}
        return made | {"ssm_f_a": (width, length)}
    if architecture == "minimax-01":
        return {"attn_norm_2": (width,), "attn_gate": (width, own * (info.key_length or 0))}
    return _scan(architecture, keys, width)


def _scan(architecture: str, keys: Keys, width: int) -> Made:
    inner, wide = keys.count("ssm.inner_size") or 0, keys.count("ssm.state_size") or 0
    heads, groups = keys.count("ssm.time_step_rank") or 0, keys.count("ssm.group_count") or 0
    mixed = inner + 2 * groups * wide
    if architecture in _GATED_QUERIES:
        return {"attn_gate": (width, inner), "ssm_conv1d": (1, mixed)}
    if architecture in ("mamba", "jamba"):
        norms: Made = {"ssm_dt_norm": (heads,)} if architecture == "jamba" else {}
        return {"ssm_in": (width, 2 * inner), "ssm_x": (inner, 1), "ssm_a": (wide, inner), **norms}
    if architecture == "plamo2":
        return {"ssm_in": (width, 2 * inner), "ssm_x": (inner, 1), "ssm_a": (heads,), "ssm_conv1d": (1, inner)}
    return {"ssm_in": (width, inner + mixed + heads), "ssm_conv1d": (1, mixed)}


def _attention(architecture: str, info: ModelInfo, keys: Keys, width: int, kept: Layer) -> Made:
    heads, key, value = kept.heads, info.key_length or 0, info.value_length or 0
    if whole := keys.count("attention.key_length_mla"):
        rank = keys.count("attention.kv_lora_rank") or value
        rope = kept.key_width - rank
        narrow = keys.count("attention.q_lora_rank")
        made: Made = {"attn_kv_a_mqa": (width, kept.key_width), "attn_kv_a_norm": (rank,)}
        made |= {"attn_k_b": (whole - rope, rank, heads)}
        made |= {"attn_v_b": (rank, keys.count("attention.value_length_mla") or 0, heads)}
        return made | ({"attn_q_a_norm": (narrow,)} if narrow else {})
    if architecture == "plamo2":
        joined = heads * key + kept.key_width + kept.value_width
        return {"attn_qkv": (width, joined), "attn_output": (heads * value, width)}
    gate = 2 if architecture in _GATED_QUERIES else 1
    return {
        "attn_q": (width, gate * heads * key),
        "attn_k": (width, kept.key_width),
        "attn_v": (width, kept.value_width),
        "attn_output": (heads * key, width),
    }


def _forward(architecture: str, info: ModelInfo, keys: Keys, number: int) -> Made:
    width, count = info.embedding_length or 0, info.experts or 0
    inner = (keys.per_layer("feed_forward_length", info.layers) or (0,) * (number + 1))[number]
    sparse = count and number >= (keys.count("leading_dense_block_count") or 0)
    if architecture == "jamba":
        sparse = count and number % 2 == 1
    if architecture in _ONE_PART and not inner:
        return {}
    gate = architecture not in _ONE_PART
    if sparse:
        return _experts(info, keys, number, inner, gate=gate)
    if architecture == "plamo2":
        return {"ffn_down": (inner, width), "ffn_up": (width, 2 * inner)}
    return _pair("", width, inner, gate=gate) if inner else {}


def _experts(info: ModelInfo, keys: Keys, number: int, inner: int, *, gate: bool) -> Made:
    width, count = info.embedding_length or 0, info.experts or 0
    own = (keys.per_layer("expert_feed_forward_length", info.layers) or (0,) * (number + 1))[number] or inner
    narrow = keys.count("moe_latent_size") or width
    shared = keys.count("expert_shared_feed_forward_length") or (keys.count("expert_shared_count") or 0) * own
    made: Made = {"ffn_down_exps": (own, narrow, count)}
    if gate:
        made["ffn_gate_exps"] = (narrow, own, count)
    if keys.count("expert_gating_func"):
        made["exp_probs_b.bias"] = (count,)
    if shared:
        made |= _pair("_shexp", width, shared, gate=gate)
    if info.architecture in _GATED_QUERIES:
        made["ffn_gate_inp_shexp"] = (width,)
    return made


def _pair(suffix: str, width: int, inner: int, *, gate: bool) -> Made:
    made: Made = {f"ffn_down{suffix}": (inner, width), f"ffn_up{suffix}": (width, inner)}
    return made | {f"ffn_gate{suffix}": (width, inner)} if gate else made


def _rwkv(info: ModelInfo, keys: Keys, width: int) -> Made:
    inner = (keys.per_layer("feed_forward_length", info.layers) or (0,))[0]
    alone = info.architecture in ("rwkv6", "rwkv7")
    made: Made = {"channel_mix_key": (width, inner)} if alone else _pair("", width, inner, gate=True)
    if extra := keys.count("time_mix_extra_dim"):
        kept = (info.kv_heads or (0,))[0] * (keys.count("wkv.head_size") or 0)
        made |= {"time_mix_w1": (width, 5 * extra), "time_mix_key": (width, kept or width)}
        made["time_mix_decay_w1"] = (width, keys.count("time_decay_extra_dim") or 0)
        return made | ({"time_mix_first": (1, 1), "channel_mix_receptance": (width, width)} if alone else {})
    names = {"w1": "decay", "a1": "iclr", "v1": "value_residual_mix", "g1": "gate"}
    for name, rank in names.items():
        made[f"time_mix_{name}"] = (width, keys.count(f"attention.{rank}_lora_rank") or 0)
    return made | {"time_mix_w0": (width,)} | ({"time_mix_ln": (width,)} if alone else {})
