"""Models whose layers differ from one another, or whose attention is compressed but kept whole."""

from __future__ import annotations

from tests.model_zoo.blocks import attention, gated, head_norms, latent_attention, norms
from tests.model_zoo.made_model import Made, made, weights


def _openelm() -> Made:
    width, length = 1280, 64
    heads = [12] * 5 + [16] * 7 + [20] * 4
    kv_heads = [count // 4 for count in heads]
    wide = [768, 1024, 1280, 1536, 1792, 2048, 2560, 2816, 3072, 3328, 3584, 3840, 4352, 4608, 4864, 5120]
    model = made(
        "openelm-270m", "openelm", 32000, tied=True, block_count=16, embedding_length=width, feed_forward_length=wide,
        attention__head_count=heads, attention__head_count_kv=kv_heads, attention__key_length=length,
        attention__value_length=length,
    )  # fmt: skip
    for number, (count, kept, inner) in enumerate(zip(heads, kv_heads, wide, strict=True)):
        qkv = weights(attn_qkv=(width, (count + 2 * kept) * length), attn_output=(count * length, width))
        model.block(number, norms(width, "attn_norm", "ffn_norm"), qkv, head_norms(length), gated(width, inner))
    return model


def _deci() -> Made:
    """Some layers have no attention, and the others' feed-forward parts are of many widths."""
    width, layers, length = 8192, 80, 128
    none = set(range(42, 52)) | set(range(53, 70))
    heads = [0 if number in none else 64 for number in range(layers)]
    wide = [28672 if number < 40 else 14336 if number % 3 else 5632 for number in range(layers)]
    model = made(
        "nemotron-super-49b", "deci", 128256, block_count=layers, embedding_length=width, feed_forward_length=wide,
        attention__head_count=heads, attention__head_count_kv=[count // 8 for count in heads],
        attention__key_length=length, attention__value_length=length, rope__dimension_count=length,
    )  # fmt: skip
    for number, (count, inner) in enumerate(zip(heads, wide, strict=True)):
        if count:
            model.block(number, norms(width, "attn_norm"), attention(width, count * length, count // 8 * length))
        model.block(number, norms(width, "ffn_norm"), gated(width, inner))
    return model


def _minicpm3() -> Made:
    width, layers, heads = 2560, 62, 40
    model = made(
        "minicpm3-4b", "minicpm3", 73448, tied=True, block_count=layers, embedding_length=width,
        feed_forward_length=6400, attention__head_count=heads, attention__head_count_kv=heads,
        attention__q_lora_rank=768, attention__kv_lora_rank=256, attention__key_length=96, attention__value_length=64,
        rope__dimension_count=32,
    )  # fmt: skip
    mixer = latent_attention(width, heads, 256, 64, 32, 64, 768, whole=True)
    for number in range(layers):
        model.block(number, norms(width, "ffn_norm"), mixer, gated(width, 6400))
    return model


def _stablelm() -> Made:
    """The larger one has no norm before its feed-forward part."""
    width, layers = 5120, 40
    model = made(
        "stablelm-2-12b", "stablelm", 100352, block_count=layers, embedding_length=width, feed_forward_length=13824,
        attention__head_count=32, attention__head_count_kv=8, use_parallel_residual=True,
    )  # fmt: skip
    model.tensors["output_norm.bias"] = (width,)
    for number in range(layers):
        head = weights(attn_q_norm=(160, 32), attn_k_norm=(160, 8)) | {"attn_norm.bias": (width,)}
        model.block(number, norms(width, "attn_norm"), attention(width, width, 1280), head, gated(width, 13824))
    return model


def _command_r_plus() -> Made:
    width, layers = 12288, 64
    model = made(
        "command-r-plus-104b", "command-r", 256000, tied=True, block_count=layers, embedding_length=width,
        feed_forward_length=33792, attention__head_count=96, attention__head_count_kv=8,
    )  # fmt: skip
    for number in range(layers):
        head = weights(attn_q_norm=(128, 96), attn_k_norm=(128, 8))
        model.block(number, norms(width, "attn_norm"), attention(width, width, 1024), head, gated(width, 33792))
    return model


def _modern_bert() -> Made:
    width, layers = 768, 22
    model = made(
        "modern-bert-base", "modern-bert", 50368, tied=True, block_count=layers, embedding_length=width,
        feed_forward_length=1152, attention__head_count=12, attention__head_count_kv=12, attention__causal=False,
        attention__sliding_window=128,
    )  # fmt: skip
    model.tensors["token_embd_norm.weight"] = (width,)
    for number in range(layers):
        mixer = weights(attn_qkv=(width, 3 * width), attn_output=(width, width))
        forward = weights(ffn_up=(width, 2304), ffn_down=(1152, width))
        model.block(number, norms(width, "ffn_norm", *(["attn_norm"] if number else [])), mixer, forward)
    return model


def models() -> list[Made]:
    """All of them."""
    return [_openelm(), _deci(), _minicpm3(), _stablelm(), _command_r_plus(), _modern_bert()]
