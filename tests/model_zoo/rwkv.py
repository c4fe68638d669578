"""The RWKV family, which has neither attention nor a cache."""

from __future__ import annotations

from tests.model_zoo.blocks import gated, norms
from tests.model_zoo.made_model import Made, Shapes, made, weights


def _pairs(width: int, *names: str) -> Shapes:
    """Weights and biases of the width of the model."""
    return {f"{name}.{kind}": (width,) for name in names for kind in ("weight", "bias")}


def _model(name: str, architecture: str, layers: int, width: int, inner: int, head: int, vocabulary: int) -> Made:
    keys = {"block_count": layers, "embedding_length": width, "feed_forward_length": inner}
    model = made(name, architecture, vocabulary, **keys, **{"wkv.head_size": head, "attention.head_count": 0})
    if architecture in ("rwkv6", "rwkv7"):
        model.tensors |= _pairs(width, "token_embd_norm", "output_norm")
    return model


def _rwkv6(name: str, layers: int, width: int, inner: int, extra: int, decay: int) -> Made:
    model = _model(name, "rwkv6", layers, width, inner, 64, 65536)
    model.keys |= {"time_mix_extra_dim": extra, "time_decay_extra_dim": decay, "rescale_every_n_layers": 6}
    for number in range(layers):
        model.block(
            number, _pairs(width, "attn_norm", "attn_norm_2", "time_mix_ln"), _mix6(width, extra, decay, width),
            weights(time_mix_first=(64, width // 64)),
            weights(
                channel_mix_lerp_k=(width, 1, 1), channel_mix_lerp_r=(width, 1, 1), channel_mix_key=(width, inner),
                channel_mix_value=(inner, width), channel_mix_receptance=(width, width),
            ),
        )  # fmt: skip
    return model


def _mix6(width: int, extra: int, decay: int, wide: int) -> Shapes:
    return weights(
        time_mix_w1=(width, 5 * extra), time_mix_w2=(extra, width, 5), time_mix_lerp_x=(width, 1, 1),
        time_mix_lerp_fused=(width, 1, 1, 5), time_mix_decay=(width,), time_mix_decay_w1=(width, decay),
        time_mix_decay_w2=(decay, width), time_mix_key=(width, wide), time_mix_value=(width, wide),
        time_mix_receptance=(width, width), time_mix_gate=(width, width), time_mix_output=(width, width),
    )  # fmt: skip


def _rwkv6_qwen2(name: str, layers: int, width: int, inner: int, kv: int) -> Made:
    model = _model(name, "rwkv6qwen2", layers, width, inner, 128, 152064)
    model.keys |= {"time_mix_extra_dim": 64, "time_decay_extra_dim": 128, "token_shift_count": 1}
    model.keys |= {"attention.head_count_kv": kv}
    for number in range(layers):
        mix = _mix6(width, 64, 128, kv * 128)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), mix, gated(width, inner))
    return model


def _mix7(number: int, width: int, ranks: tuple[int, int, int, int], lerps: int) -> Shapes:
    """`ranks`: of the decay, of the rate, of the mixed value, of the gate."""
    decay, rate, value, gate = ranks
    value = rate if number == 0 else value
    shapes = weights(
        time_mix_w0=(width,), time_mix_w1=(width, decay), time_mix_w2=(decay, width), time_mix_a0=(width,),
        time_mix_a1=(width, rate), time_mix_a2=(rate, width), time_mix_v0=(width,), time_mix_v1=(width, value),
        time_mix_v2=(value, width), time_mix_lerp_fused=(width, 1, 1, lerps), time_mix_k_k=(width,),
        time_mix_k_a=(width,), time_mix_r_k=(width,), time_mix_key=(width, width), time_mix_value=(width, width),
        time_mix_receptance=(width, width), time_mix_output=(width, width),
    )  # fmt: skip
    return shapes | weights(time_mix_g1=(width, gate), time_mix_g2=(gate, width))


def _rwkv7(
    name: str, layers: int, width: int, inner: int, ranks: tuple[int, int, int, int], arwkv: bool = False
) -> Made:
    model = _model(name, "arwkv7" if arwkv else "rwkv7", layers, width, inner, 64, 151936 if arwkv else 65536)
    ranked = ("decay", "iclr", "value_residual_mix", "gate")
    model.keys |= {f"attention.{rank}_lora_rank": size for rank, size in zip(ranked, ranks, strict=True)}
    if arwkv:
        model.keys["token_shift_count"] = 1
    for number in range(layers):
        mix = _mix7(number, width, ranks, 6)
        if arwkv:
            model.block(number, norms(width, "attn_norm", "ffn_norm"), mix, gated(width, inner))
            continue
        channel = weights(
            channel_mix_lerp_k=(width, 1, 1), channel_mix_key=(width, inner), channel_mix_value=(inner, width)
        )
        model.block(number, _pairs(width, "attn_norm", "attn_norm_2", "time_mix_ln"), mix, channel)
    return model


RWKV = [
    _rwkv6("rwkv-6-1.6b", 24, 2048, 7168, 32, 64),
    _rwkv6("rwkv-6-7b", 32, 4096, 14336, 64, 128),
    _rwkv6_qwen2("qrwkv6-7b", 28, 3584, 18944, 4),
    _rwkv6_qwen2("qrwkv6-32b", 64, 5120, 27648, 8),
    _rwkv7("rwkv-7-0.1b", 12, 768, 3072, (64, 64, 32, 128)),
    _rwkv7("rwkv-7-2.9b", 32, 2560, 10240, (96, 96, 64, 320)),
    _rwkv7("arwkv-7-7b", 28, 3584, 18944, (96, 96, 64, 128), arwkv=True),
]
