"""Models that keep a state: by themselves, or in some of their layers beside a cache."""

from __future__ import annotations

from collections.abc import Iterable

from tests.model_zoo.blocks import (
    attention,
    delta_net,
    expert_keys,
    experts,
    gated,
    head_norms,
    latent_attention,
    mamba1,
    mamba2,
    norms,
    short_conv,
    ssm_keys,
    ungated,
)
from tests.model_zoo.made_model import Made, made, weights
from tests.model_zoo.rwkv import RWKV


def _keys(layers: int, width: int, inner: int | list[int] = 0, heads: int = 0, kv: int | list[int] = 0) -> dict:
    return {
        "block_count": layers, "embedding_length": width, "feed_forward_length": inner, "attention.head_count": heads,
        "attention.head_count_kv": kv,
    }  # fmt: skip


def _mamba(name: str, layers: int, width: int, rank: int, vocabulary: int, normed: bool = False) -> Made:
    inner, state = 2 * width, 16
    model = made(name, "mamba", vocabulary, tied=not normed, **_keys(layers, width), **ssm_keys(inner, state, 4, rank))
    if normed:
        model.keys["ssm.dt_b_c_rms"] = True
    for number in range(layers):
        model.block(number, norms(width, "attn_norm"), mamba1(width, inner, state, 4, rank))
    return model


def _mamba2(name: str, layers: int, width: int, heads: int, groups: int, vocabulary: int) -> Made:
    inner, state = 2 * width, 128
    keys = ssm_keys(inner, state, 4, heads, groups)
    model = made(name, "mamba2", vocabulary, tied=groups == 1, **_keys(layers, width), **keys)
    for number in range(layers):
        model.block(number, norms(width, "attn_norm"), mamba2(width, inner, state, 4, heads, groups))
    return model


def _jamba(
    name: str, layers: int, width: int, inner: int, heads: int, kv: int, every: tuple[int, int], count: int = 0
) -> Made:
    period, offset = every
    kv_heads = [kv if number % period == offset else 0 for number in range(layers)]
    rank = width // 16
    keys = _keys(layers, width, inner, heads, kv_heads) | ssm_keys(2 * width, 16, 4, rank)
    model = made(name, "jamba", 65536, **keys, **(expert_keys(count, 2) if count else {}))
    for number, own in enumerate(kv_heads):
        mixer = attention(width, width, own * width // heads) if own else mamba1(width, 2 * width, 16, 4, rank, True)
        forward = experts(width, inner, count) if count and number % 2 else gated(width, inner)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), mixer, forward)
    return model


def _nemotron(name: str, pattern: str, width: int, wide: int, heads: int, kv: int, ssm: tuple[int, int, int]) -> Made:
    """`pattern`: M a scan, * attention, - feed-forward, E experts. `ssm`: inner width, heads, groups."""
    inner, ssm_heads, groups = ssm
    moe = "E" in pattern
    kv_heads = [kv if kind == "*" else 0 for kind in pattern]
    forward = [wide if kind in "-E" else 0 for kind in pattern]
    keys = _keys(len(pattern), width, forward, heads, kv_heads) | ssm_keys(inner, 128, 4, ssm_heads, groups)
    keys |= {"attention.key_length": 128, "attention.value_length": 128}
    if moe:
        keys |= expert_keys(128, 6, wide, expert_shared_feed_forward_length=2 * wide, expert_shared_count=1)
    model = made(name, "nemotron_h_moe" if moe else "nemotron_h", 131072, **keys)
    parts = {
        "M": mamba2(width, inner, 128, 4, ssm_heads, groups),
        "*": attention(width, heads * 128, kv * 128),
        "-": ungated(width, wide),
        "E": experts(width, wide, 128, gate=False, bias=True) | ungated(width, 2 * wide, "_shexp"),
    }
    for number, kind in enumerate(pattern):
        model.block(number, norms(width, "attn_norm"), parts[kind])
    return model


def _falcon_h1(
    name: str, layers: int, width: int, inner: int, attn: tuple[int, int, int], ssm: tuple[int, int, int, int]
) -> Made:
    """`attn`: heads, KV heads, length. `ssm`: inner width, state, heads, groups."""
    heads, kv, length = attn
    ssm_inner, state, ssm_heads, groups = ssm
    keys = _keys(layers, width, inner, heads, kv) | ssm_keys(ssm_inner, state, 4, ssm_heads, groups)
    keys |= {"attention.key_length": length, "attention.value_length": length}
    model = made(name, "falcon-h1", 130048, **keys)
    for number in range(layers):
        scan = mamba2(width, ssm_inner, state, 4, ssm_heads, groups, normed=False)
        model.block(
            number, norms(width, "attn_norm"), {"ffn_norm": (width,)}, scan,
            attention(width, heads * length, kv * length), gated(width, inner),
        )  # fmt: skip
    return model


def _granite(
    name: str, layers: int, width: int, inner: int, attn: tuple[int, int], every: Iterable[int], heads: int,
    count: int = 0, used: int = 0, shared: int = 0,
) -> Made:  # fmt: skip
    full = set(every)
    kv_heads = [attn[1] if number in full else 0 for number in range(layers)]
    keys = _keys(layers, width, inner, attn[0], kv_heads) | ssm_keys(2 * width, 128, 4, heads, 1)
    if count:
        keys |= expert_keys(count, used, expert_shared_feed_forward_length=shared)
    model = made(name, "granitehybrid", 100352, tied=True, **keys)
    for number, own in enumerate(kv_heads):
        length = width // attn[0]
        mixer = attention(width, width, own * length) if own else mamba2(width, 2 * width, 128, 4, heads, 1)
        forward = experts(width, inner, count) | gated(width, shared, "_shexp") if count else gated(width, inner)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), mixer, forward)
    return model


def _delta(
    name: str, architecture: str, layers: int, width: int, attn: tuple[int, int], value_heads: int,
    inner: int = 0, moe: tuple[int, int, int] | None = None, predicting: int = 0,
) -> Made:  # fmt: skip
    """Qwen with gated delta nets in three of four layers. `moe`: experts, used, their width."""
    heads, kv = attn
    length, old = 256, architecture == "qwen3next"
    keys = _keys(layers + predicting, width, inner or 512, heads, kv) | ssm_keys(
        128 * value_heads, 128, 4, value_heads, 16
    )
    keys |= {"attention.key_length": length, "attention.value_length": length, "rope.dimension_count": 64}
    if not old:
        keys["rope.dimension_sections"] = [11, 11, 10, 0]
    if moe:
        keys |= expert_keys(*moe, expert_shared_feed_forward_length=moe[2])
    if predicting:
        keys["nextn_predict_layers"] = predicting
    model = made(name, architecture, 151936 if old else 248320, **keys)
    forward = gated(width, inner)
    if moe:
        forward = experts(width, moe[2], moe[0]) | gated(width, moe[2], "_shexp") | norms(width, "ffn_gate_inp_shexp")
    full = attention(width, 2 * heads * length, kv * length, out=heads * length) | head_norms(length)
    short = delta_net(width, 128, 4, 16, value_heads, joined=old)
    for number in range(layers + predicting):
        recurrent = number < layers and (number + 1) % 4 != 0
        model.block(number, norms(width, "attn_norm", "post_attention_norm"), short if recurrent else full, forward)
        if number >= layers:
            model.block(
                number, weights(**{"nextn.eh_proj": (2 * width, width)}), norms(width, "nextn.enorm", "nextn.hnorm")
            )
    return model


def _lfm2(
    name: str, layers: int, width: int, inner: int, attn: tuple[int, int], full: set[int],
    moe: tuple[int, int, int, int] | None = None, vocabulary: int = 65536,
) -> Made:  # fmt: skip
    """`moe`: experts, used, their width, the first layers without any."""
    heads, kv = attn
    kv_heads = [kv if number in full else 0 for number in range(layers)]
    keys = _keys(layers, width, inner, heads, kv_heads) | {"shortconv.l_cache": 3}
    if moe:
        keys |= expert_keys(*moe[:3], leading_dense_block_count=moe[3], expert_gating_func=2)
    model = made(name, "lfm2moe" if moe else "lfm2", vocabulary, tied=True, **keys)
    model.tensors["token_embd_norm.weight"] = model.tensors.pop("output_norm.weight")
    for number, own in enumerate(kv_heads):
        length = width // heads
        mixer = attention(width, width, own * length) | head_norms(length) if own else short_conv(width, 3)
        sparse = moe is not None and number >= moe[3]
        forward = experts(width, moe[2], moe[0], bias=True) if moe and sparse else gated(width, inner)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), mixer, forward)
    return model


def _plamo2(name: str, layers: int, width: int, inner: int, attn: tuple[int, int], ssm: tuple[int, int]) -> Made:
    """`ssm`: inner width, heads."""
    heads, kv = attn
    kv_heads = [kv if number % 2 else 0 for number in range(layers)]
    keys = _keys(layers, width, inner, heads, kv_heads) | ssm_keys(ssm[0], 64, 4, ssm[1], 0)
    keys |= {"attention.key_length": 128, "attention.value_length": 128}
    model = made(name, "plamo2", 100000, tied=True, **keys)
    rank = max(64, width // 16)
    scan = weights(
        ssm_in=(width, 2 * ssm[0]), ssm_conv1d=(4, ssm[0]), ssm_x=(ssm[0], rank + 128), ssm_dt=(rank, ssm[1]),
        ssm_out=(ssm[0], width),
    )  # fmt: skip
    scan |= {"ssm_dt.bias": (ssm[1],), "ssm_a": (ssm[1],), "ssm_d": (ssm[1],)}
    scan |= {"ssm_dt_norm": (rank,), "ssm_b_norm": (64,), "ssm_c_norm": (64,)}
    full = weights(
        attn_qkv=(width, (heads + 2 * kv) * 128), attn_q_norm=(128, heads), attn_k_norm=(128, kv),
        attn_output=(heads * 128, width),
    )  # fmt: skip
    for number, own in enumerate(kv_heads):
        after = {"post_attention_norm": (width,), "post_ffw_norm": (width,)}
        forward = weights(ffn_up=(width, 2 * inner), ffn_down=(inner, width))
        model.block(number, norms(width, "attn_norm", "ffn_norm"), full if own else scan, after, forward)
    return model


def _kimi_linear() -> Made:
    layers, width, heads, length = 27, 2304, 32, 128
    kv_heads = [1 if number in {3, 7, 11, 15, 19, 23, 26} else 0 for number in range(layers)]
    keys = _keys(layers, width, 9216, heads, kv_heads) | {"ssm.conv_kernel": 4, "kda.head_dim": length}
    keys |= {
        "attention.key_length": 576, "attention.value_length": 512, "attention.kv_lora_rank": 512,
        "attention.key_length_mla": 192, "attention.value_length_mla": 128, "rope.dimension_count": 64,
    }  # fmt: skip
    moe = expert_keys(256, 8, 1024, expert_shared_count=1, leading_dense_block_count=1, expert_gating_func=2)
    model = made("kimi-linear-48b-a3b", "kimi-linear", 163840, **keys, **moe)
    wide = heads * length
    delta = attention(width, wide, wide) | weights(
        ssm_conv1d_q=(4, 1, wide), ssm_conv1d_k=(4, 1, wide), ssm_conv1d_v=(4, 1, wide), ssm_f_a=(width, length),
        ssm_f_b=(length, wide), ssm_beta=(width, heads), ssm_g_a=(width, length), ssm_g_b=(length, wide),
        ssm_norm=(length,),
    )  # fmt: skip
    delta |= {"ssm_a": (1, heads), "ssm_dt.bias": (wide,)}
    full = latent_attention(width, heads, 512, 128, 64, 128)
    sparse = experts(width, 1024, 256, bias=True) | gated(width, 1024, "_shexp")
    for number, own in enumerate(kv_heads):
        forward = sparse if number else gated(width, 9216)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), full if own else delta, forward)
    return model


def _minimax_01() -> Made:
    layers, width, heads, length = 80, 6144, 64, 128
    keys = _keys(layers, width, 9216, heads, 8) | {"attention.key_length": length, "attention.value_length": length}
    keys |= {"rope.dimension_count": 64, "residual_scale": 3.5565588200778455}
    model = made("minimax-text-01", "minimax-01", 200064, **keys, **expert_keys(32, 2))
    wide = heads * length
    short = weights(attn_norm_2=(wide,), attn_qkv=(width, 3 * wide), attn_gate=(width, wide), attn_output=(wide, width))
    full = attention(width, wide, 8 * length)
    for number in range(layers):
        mixer = short if (number + 1) % 8 else full
        model.block(number, norms(width, "attn_norm", "ffn_norm"), mixer, experts(width, 9216, 32))
    return model


_NEMOTRON_8B = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"
_NEMOTRON_NANO_9B = "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"
_NEMOTRON_NANO_30B = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"


def models() -> list[Made]:
    """All of them."""
    return [
        _mamba("mamba-130m", 24, 768, 48, 50280),
        _mamba("mamba-2.8b", 64, 2560, 160, 50280),
        _mamba("falcon-mamba-7b", 64, 4096, 256, 65024, normed=True),
        _mamba2("mamba2-2.7b", 64, 2560, 80, 1, 50288),
        _mamba2("mamba-codestral-7b", 64, 4096, 128, 8, 32768),
        _jamba("jamba-mini", 32, 4096, 14336, 32, 8, (8, 4), 16),
        _jamba("jamba-reasoning-3b", 28, 2560, 8192, 20, 1, (14, 7)),
        _nemotron("nemotron-h-8b", _NEMOTRON_8B, 4096, 21504, 32, 8, (8192, 128, 8)),
        _nemotron("nemotron-nano-9b-v2", _NEMOTRON_NANO_9B, 4480, 15680, 40, 8, (10240, 128, 8)),
        _nemotron("nemotron-3-nano-30b", _NEMOTRON_NANO_30B, 2688, 1856, 32, 2, (4096, 64, 8)),
        _falcon_h1("falcon-h1-0.5b", 36, 1024, 2048, (8, 2, 64), (1536, 128, 24, 1)),
        _falcon_h1("falcon-h1-7b", 44, 3072, 12288, (12, 2, 128), (3072, 256, 24, 1)),
        _falcon_h1("falcon-h1-34b", 72, 5120, 21504, (20, 4, 128), (4096, 256, 32, 2)),
        _granite("granite-4-h-350m", 32, 768, 2048, (12, 4), (10, 13, 17, 27), 24),
        _granite("granite-4-h-micro", 40, 2048, 8192, (32, 8), (5, 15, 25, 35), 64),
        _granite("granite-4-h-tiny", 40, 1536, 512, (12, 4), (5, 15, 25, 35), 48, 64, 6, 1024),
        _granite("granite-4-h-small", 40, 4096, 768, (32, 8), (5, 15, 25, 35), 128, 72, 10, 1536),
        _delta("qwen3-next-80b-a3b", "qwen3next", 48, 2048, (16, 2), 32, moe=(512, 10, 512)),
        _delta("qwen3.5-0.8b", "qwen35", 24, 1024, (8, 2), 16, inner=3584),
        _delta("qwen3.5-4b", "qwen35", 32, 2560, (16, 4), 32, inner=9216),
        _delta("qwen3.5-9b-mtp", "qwen35", 32, 4096, (16, 4), 32, inner=12288, predicting=1),
        _delta("qwen3.5-27b", "qwen35", 64, 5120, (24, 4), 48, inner=17408),
        _delta("qwen3.5-35b-a3b", "qwen35moe", 40, 2048, (16, 2), 32, moe=(256, 8, 512)),
        _delta("qwen3.5-122b-a10b", "qwen35moe", 48, 3072, (32, 2), 64, moe=(256, 8, 1024)),
        _delta("qwen3.5-397b-a17b-mtp", "qwen35moe", 60, 4096, (32, 2), 64, moe=(512, 10, 1024), predicting=1),
        _lfm2("lfm2-350m", 16, 1024, 4608, (16, 8), {2, 5, 8, 10, 12, 14}),
        _lfm2("lfm2-2.6b", 30, 2048, 10752, (32, 8), {2, 5, 9, 13, 17, 20, 24, 27}),
        _lfm2("lfm2-8b-a1b", 24, 2048, 7168, (32, 8), {2, 6, 10, 14, 18, 21}, (32, 4, 1792, 2)),
        *RWKV,
        _plamo2("plamo-2-1b", 16, 2048, 8192, (32, 4), (4096, 32)),
        _plamo2("plamo-2-8b", 32, 4096, 16384, (32, 4), (8192, 64)),
        _kimi_linear(),
        _minimax_01(),
    ]
