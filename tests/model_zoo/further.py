"""Models whose tables of memory the formulas were not made from: they show what an architecture unseen so far costs."""

from __future__ import annotations

from tests.model_zoo.blocks import attention, experts, gated, head_norms, norms, ungated
from tests.model_zoo.made_model import Made, made, weights
from tests.model_zoo.mixtures import Mixture
from tests.model_zoo.plain import Plain

_SANDWICH = "attn_norm post_attention_norm ffn_norm post_ffw_norm"
_READS_WHOLE = {"attention.causal": False, "pooling_type": 1}
_SCORED = {"expert_gating_func": 2}
_SECTIONS = {"rope.dimension_sections": [16, 24, 24, 0]}

_FURTHER = (
    Plain("pangu-embedded-7b", "pangu-embedded", 34, 4096, 12800, 32, 8, 153376, biased="attn"),
    Plain("maincoder-1b", "maincoder", 32, 1536, 4096, 16, 4, 151936, length=96, normed_heads=True),
    Plain("hunyuan-vl-1b", "hunyuan_vl", 24, 1024, 3584, 16, 8, 120818, length=128, normed_heads=True, keys=_SECTIONS),
    Plain("paddleocr-vl-0.9b", "paddleocr", 18, 1024, 3072, 16, 2, 103424, length=128, keys=_SECTIONS),
    Plain("eurobert-210m", "eurobert", 12, 768, 3072, 12, 12, 128256, tied=True, keys=_READS_WHOLE),
    Plain(
        "neo-bert", "neo-bert", 28, 768, 2048, 12, 12, 30522, tied=True, gate="joined", fused=True, keys=_READS_WHOLE,
    ),
    Plain(
        "embedding-gemma-300m", "gemma-embedding", 24, 768, 1152, 3, 1, 262144, length=256, tied=True, norms=_SANDWICH,
        normed_heads=True, keys={"attention.sliding_window": 512, "pooling_type": 1},
    ),
    Plain(
        "plamo-3-8b", "plamo3", 32, 4096, 16384, 32, 4, 107520, length=128, gate="joined", fused=True, norms=_SANDWICH,
        normed_heads=True, keys={"attention.sliding_window": 2048},
    ),
    Mixture("rnd1-30b-a3b", "rnd1", 48, 2048, 32, 4, 151936, (128, 8, 768), length=128, normed_heads=True),
    Mixture(
        "mellum-2-12b", "mellum", 28, 2304, 32, 4, 98304, (64, 8, 896), length=128, normed_heads=True,
        keys={"attention.sliding_window": 1024},
    ),
    Mixture(
        "hy-v3-80b", "hy_v3", 48, 4096, 32, 8, 120832, (96, 4, 2048), 8192, 2048, 1, 128, normed_heads=True,
        keys=_SCORED,
    ),
)  # fmt: skip


def _chameleon() -> Made:
    width, layers = 4096, 32
    model = made(
        "chameleon-7b", "chameleon", 65536, block_count=layers, embedding_length=width, feed_forward_length=11008,
        attention__head_count=32, attention__head_count_kv=32,
    )  # fmt: skip
    head = weights(attn_q_norm=(128, 32), attn_k_norm=(128, 32))
    for number in range(layers):
        model.block(number, norms(width, "attn_norm", "ffn_norm"), attention(width, width, width), head)
        model.block(number, gated(width, 11008))
    return model


def _cogvlm() -> Made:
    width, layers, inner = 4096, 32, 14336
    model = made(
        "cogvlm2-8b", "cogvlm", 128256, block_count=layers, embedding_length=width, feed_forward_length=inner,
        attention__head_count=32, attention__head_count_kv=32,
    )  # fmt: skip
    for number in range(layers):
        parts = weights(attn_qkv=(width, 3 * width), attn_output=(width, width)) | gated(width, inner)
        images = {f"vis_{name.removeprefix('ffn_')}": shape for name, shape in parts.items()}
        model.block(number, parts, images)
        model.block(number, norms(width, "attn_norm", "ffn_norm"))
    return model


def _nomic_moe() -> Made:
    """Every other layer is a mixture of experts without gates."""
    width, layers, inner = 768, 12, 3072
    model = made(
        "nomic-embed-text-v2-moe", "nomic-bert-moe", 250048, tied=True, block_count=layers, embedding_length=width,
        feed_forward_length=inner, attention__head_count=12, attention__head_count_kv=12, attention__causal=False,
        pooling_type=1, moe_every_n_layers=2, expert_count=8, expert_used_count=2,
    )  # fmt: skip
    del model.tensors["output_norm.weight"]
    model.keys["tokenizer.ggml.token_type_count"] = 1
    model.tensors |= weights(token_types=(width, 1), token_embd_norm=(width,)) | {"token_embd_norm.bias": (width,)}
    for number in range(layers):
        forward = experts(width, inner, 8, gate=False) if number % 2 else ungated(width, inner)
        named = norms(width, "attn_output_norm", "layer_output_norm")
        biases = {name.replace(".weight", ".bias"): shape for name, shape in named.items()}
        model.block(number, attention(width, width, width), named, biases, forward)
    return model


def _laguna() -> Made:
    """Windowed layers have more heads than full ones, and each head has a gate."""
    width, layers, length = 2048, 40, 128
    heads = [64 if number % 4 else 48 for number in range(layers)]
    model = made(
        "laguna-xs", "laguna", 100352, block_count=layers, embedding_length=width, feed_forward_length=8192,
        attention__head_count=heads, attention__head_count_kv=8, attention__key_length=length,
        attention__value_length=length, attention__sliding_window=512, rope__dimension_count_swa=length,
        rope__dimension_count=length, expert_count=256, expert_used_count=8, expert_feed_forward_length=512,
        expert_shared_feed_forward_length=512, expert_gating_func=2, leading_dense_block_count=1,
    )  # fmt: skip
    sparse = experts(width, 512, 256, bias=True) | gated(width, 512, "_shexp")
    for number, count in enumerate(heads):
        model.block(
            number, norms(width, "attn_norm", "ffn_norm"), attention(width, count * length, 8 * length),
            head_norms(length), weights(attn_gate=(width, count)), sparse if number else gated(width, 8192),
        )  # fmt: skip
    return model


def _renamed(model: Made) -> None:
    """Two architectures have names of their own for some norms."""
    if model.architecture == "neo-bert":
        model.tensors["enc.output_norm.weight"] = model.tensors.pop("output_norm.weight")
    if model.architecture == "plamo3":
        after = [name for name in model.tensors if ".post_" in name]
        model.tensors |= {name.removesuffix(".weight"): model.tensors.pop(name) for name in after}


def models() -> list[Made]:
    """All of them."""
    plain = [kind.made() for kind in _FURTHER]
    for model in plain:
        _renamed(model)
    return [*plain, _chameleon(), _cogvlm(), _nomic_moe(), _laguna()]
