"""The parts of which the layers of made models consist: attention, feed-forward, experts, and what is recurrent."""

from __future__ import annotations

from tests.model_zoo.made_model import Shapes, weights


def norms(width: int, *names: str) -> Shapes:
    """Vectors of the width of the model."""
    return weights(**{name: (width,) for name in names})


def attention(width: int, query: int, key: int, value: int | None = None, out: int | None = None) -> Shapes:
    """Separate query, key and value; `query` and the others are widths over all heads."""
    value = key if value is None else value
    out = query if out is None else out
    return weights(attn_q=(width, query), attn_k=(width, key), attn_v=(width, value), attn_output=(out, width))


def head_norms(length: int) -> Shapes:
    """The norms of query and key."""
    return weights(attn_q_norm=(length,), attn_k_norm=(length,))


def gated(width: int, inner: int, suffix: str = "") -> Shapes:
    """A feed-forward part with a gate."""
    return {
        f"ffn_gate{suffix}.weight": (width, inner),
        f"ffn_up{suffix}.weight": (width, inner),
        f"ffn_down{suffix}.weight": (inner, width),
    }


def ungated(width: int, inner: int, suffix: str = "") -> Shapes:
    """A feed-forward part without a gate."""
    return {f"ffn_up{suffix}.weight": (width, inner), f"ffn_down{suffix}.weight": (inner, width)}


def experts(width: int, inner: int, count: int, gate: bool = True, bias: bool = False) -> Shapes:
    """The routed experts and their router."""
    shapes: Shapes = {
        "ffn_gate_inp.weight": (width, count),
        "ffn_up_exps.weight": (width, inner, count),
        "ffn_down_exps.weight": (inner, width, count),
    }
    if gate:
        shapes["ffn_gate_exps.weight"] = (width, inner, count)
    if bias:
        shapes["exp_probs_b.bias"] = (count,)
    return shapes


def latent_attention(
    width: int, heads: int, rank: int, nope: int, rope: int, value: int, query_rank: int = 0, whole: bool = False
) -> Shapes:
    """Compressed attention; `whole` as in old conversions, where keys and values are one matrix."""
    shapes = weights(
        attn_kv_a_mqa=(width, rank + rope),
        attn_kv_a_norm=(rank,),
        attn_output=(heads * value, width),
        attn_norm=(width,),
    )
    if query_rank:
        shapes |= weights(
            attn_q_a=(width, query_rank), attn_q_a_norm=(query_rank,), attn_q_b=(query_rank, heads * (nope + rope))
        )
    else:
        shapes |= weights(attn_q=(width, heads * (nope + rope)))
    if whole:
        return shapes | weights(attn_kv_b=(rank, heads * (nope + value)))
    return shapes | weights(attn_k_b=(nope, rank, heads), attn_v_b=(rank, value, heads))


def mamba1(width: int, inner: int, state: int, steps: int, rank: int, normed: bool = False) -> Shapes:
    """A selective scan of the first kind."""
    shapes = weights(
        ssm_in=(width, 2 * inner), ssm_conv1d=(steps, inner), ssm_x=(inner, rank + 2 * state), ssm_dt=(rank, inner),
        ssm_out=(inner, width),
    )  # fmt: skip
    shapes |= {"ssm_conv1d.bias": (inner,), "ssm_dt.bias": (inner,), "ssm_a": (state, inner), "ssm_d": (inner,)}
    return shapes | (weights(ssm_dt_norm=(rank,), ssm_b_norm=(state,), ssm_c_norm=(state,)) if normed else {})


def mamba2(width: int, inner: int, state: int, steps: int, heads: int, groups: int, normed: bool = True) -> Shapes:
    """A selective scan of the second kind."""
    mixed = inner + 2 * groups * state
    shapes = weights(ssm_in=(width, inner + mixed + heads), ssm_conv1d=(steps, mixed), ssm_out=(inner, width))
    shapes |= {"ssm_conv1d.bias": (mixed,), "ssm_dt.bias": (heads,), "ssm_a": (1, heads), "ssm_d": (1, heads)}
    return shapes | (weights(ssm_norm=(inner // groups, groups)) if normed else {})


def delta_net(width: int, length: int, steps: int, key_heads: int, value_heads: int, joined: bool = False) -> Shapes:
    """A gated delta net; `joined`: beta and alpha are one matrix."""
    keys, values = length * key_heads, length * value_heads
    shapes = weights(
        attn_qkv=(width, 2 * keys + values), attn_gate=(width, values), ssm_conv1d=(steps, 2 * keys + values),
        ssm_norm=(length,), ssm_out=(values, width),
    )  # fmt: skip
    shapes |= {"ssm_dt.bias": (value_heads,), "ssm_a": (value_heads,)}
    if joined:
        return shapes | weights(ssm_ba=(width, 2 * value_heads))
    return shapes | weights(ssm_beta=(width, value_heads), ssm_alpha=(width, value_heads))


def short_conv(width: int, steps: int) -> Shapes:
    """A short convolution."""
    return {
        "shortconv.conv.weight": (steps, width),
        "shortconv.in_proj.weight": (width, 3 * width),
        "shortconv.out_proj.weight": (width, width),
    }


def ssm_keys(inner: int, state: int, steps: int, rank: int, groups: int | None = None) -> dict[str, int]:
    """The keys of whatever is kept under "ssm."; `rank` counts the heads in the newer kinds."""
    keys = {"ssm.inner_size": inner, "ssm.state_size": state, "ssm.conv_kernel": steps, "ssm.time_step_rank": rank}
    return keys if groups is None else {**keys, "ssm.group_count": groups}


def expert_keys(count: int, used: int, inner: int | None = None, **more: object) -> dict[str, object]:
    """The keys of experts."""
    keys: dict[str, object] = {"expert_count": count, "expert_used_count": used}
    if inner is not None:
        keys["expert_feed_forward_length"] = inner
    return {**keys, **{key: value for key, value in more.items() if value is not None}}
