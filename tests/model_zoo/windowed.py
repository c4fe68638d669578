"""Models whose layers keep only a window of the text, share the caches of others, or keep none."""

from __future__ import annotations

from tests.model_zoo.blocks import attention, expert_keys, experts, gated, head_norms, norms, ungated
from tests.model_zoo.made_model import Made, made, weights


def _keys(layers, width, inner, heads, kv, length=None, window=None):
    keys = {"block_count": layers, "embedding_length": width, "feed_forward_length": inner}
    keys |= {"attention.head_count": heads, "attention.head_count_kv": kv}
    if length:
        keys |= {"attention.key_length": length, "attention.value_length": length}
    return keys if window is None else {**keys, "attention.sliding_window": window}


def _dense(
    name, architecture, vocabulary, layers, width, inner, attn, window=None, tied=False, normed=True,
    before=("attn_norm", "ffn_norm"), after=(), **more,
) -> Made:  # fmt: skip
    """All layers alike. `attn`: heads, KV heads, their length."""
    heads, kv, length = attn
    keys = _keys(layers, width, inner, heads, kv, length, window)
    model = made(name, architecture, vocabulary, tied, **keys, **more)
    head = head_norms(length) if normed else {}
    for number in range(layers):
        model.block(number, norms(width, *before, *after), attention(width, heads * length, kv * length), head)
        model.block(number, gated(width, inner))
    return model


def _gemma(name, architecture, layers, width, inner, attn, window, **more) -> Made:
    after = ("post_attention_norm", "post_ffw_norm")
    vocabulary = 256000 if architecture == "gemma2" else 262144
    normed = architecture != "gemma2"
    return _dense(name, architecture, vocabulary, layers, width, inner, attn, window, True, normed, after=after, **more)


def _gemma3n(name, layers, inner) -> Made:
    width, small = 2048, 256
    model = _gemma(name, "gemma3n", layers, width, inner, (8, 2, 256), 512, embedding_length_per_layer_input=small)
    model.tensors |= weights(
        altup_proj=(width, width, 3), altup_unembd_proj=(width, width, 3), per_layer_proj_norm=(small,),
        per_layer_token_embd=(small * layers, 262144), per_layer_model_proj=(width, small * layers),
    )  # fmt: skip
    for number in range(layers):
        model.block(
            number, norms(width, "post_norm", "altup_correct_scale", "altup_router_norm", "laurel_post_norm"),
            weights(
                inp_gate=(width, small), proj=(small, width), altup_correct_coef=(4, 4), altup_predict_coef=(4, 16),
                altup_router=(width, 4), laurel_l=(width, 64), laurel_r=(64, width),
            ),
        )  # fmt: skip
    return model


def _gemma4(name, layers, width, inner, heads, kv, period, window, small=0, shared=0, moe=None, double=False) -> Made:
    """`kv`: KV heads of a windowed and of a full layer. `double`: layers without a cache have a wider feed-forward."""
    short = [(number + 1) % period != 0 for number in range(layers)]
    kv_heads = [kv[0] if is_short else kv[1] for is_short in short]
    owners = layers - shared
    wide = [2 * inner if double and number >= owners else inner for number in range(layers)]
    keys = _keys(layers, width, wide, heads, kv_heads, 512, window) | {
        "attention.key_length_swa": 256, "attention.value_length_swa": 256, "attention.shared_kv_layers": shared,
        "attention.sliding_window_pattern": short, "embedding_length_per_layer_input": small,
    }  # fmt: skip
    model = made(name, "gemma4", 262144, True, **keys, **(expert_keys(*moe) if moe else {}))
    model.tensors["rope_freqs.weight"] = (256,)
    if small:
        model.tensors |= weights(
            per_layer_token_embd=(small * layers, 262144), per_layer_model_proj=(width, small * layers),
            per_layer_proj_norm=(small,),
        )  # fmt: skip
    for number in range(layers):
        length = 256 if short[number] else 512
        model.block(
            number, norms(width, "attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"), head_norms(length),
            attention(width, heads * length, kv_heads[number] * length), gated(width, wide[number]),
            {"layer_output_scale.weight": (1,)},
        )  # fmt: skip
        if small:
            model.block(number, weights(inp_gate=(width, small), proj=(small, width)), norms(width, "post_norm"))
        if moe:
            count, _, expert = moe
            model.block(
                number, norms(width, "pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"),
                {"ffn_gate_inp.scale": (width,), "ffn_down_exps.scale": (count,)},
                weights(
                    ffn_gate_inp=(width, count), ffn_gate_up_exps=(width, 2 * expert, count),
                    ffn_down_exps=(expert, width, count),
                ),
            )  # fmt: skip
    return model


def _gpt_oss(name, layers, count) -> Made:
    width = 2880
    keys = _keys(layers, width, width, 64, 8, 64, 128) | {"rope.dimension_count": 64} | expert_keys(count, 4, width)
    model = made(name, "gpt-oss", 201088, **keys)
    for number in range(layers):
        model.block(
            number, norms(width, "attn_norm", "post_attention_norm"), attention(width, 4096, 512),
            experts(width, width, count),
            {
                "attn_q.bias": (4096,), "attn_k.bias": (512,), "attn_v.bias": (512,), "attn_output.bias": (width,),
                "attn_sinks.weight": (64,), "ffn_gate_inp.bias": (count,), "ffn_gate_exps.bias": (width, count),
                "ffn_up_exps.bias": (width, count), "ffn_down_exps.bias": (width, count),
            },
        )  # fmt: skip
    return model


def _llama4(name, layers, count, step) -> Made:
    width, inner, expert = 5120, 16384, 8192
    keys = _keys(layers, width, inner, 40, 8, 128) | {"interleave_moe_layer_step": step} | expert_keys(count, 1, expert)
    model = made(name, "llama4", 202048, **keys)
    for number in range(layers):
        sparse = (number + 1) % step == 0
        forward = experts(width, expert, count) | gated(width, expert, "_shexp") if sparse else gated(width, inner)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), attention(width, 5120, 1024), forward)
    return model


def _mixed_heads(name, architecture, layers, width, inner, period, heads, kv, lengths, moe, lead, window) -> Made:
    """Windowed and full layers with heads of their own. `heads`, `kv`: of a windowed and of a full layer."""
    short = [number % period != 0 for number in range(layers)]
    head_counts = [heads[0] if is_short else heads[1] for is_short in short]
    kv_heads = [kv[0] if is_short else kv[1] for is_short in short]
    count, used, expert, shared = moe
    keys = _keys(layers, width, inner, head_counts, kv_heads, None, window) | {
        "attention.key_length": lengths[0], "attention.value_length": lengths[1], "rope.dimension_count": 64,
        "attention.sliding_window_pattern": short, **expert_keys(count, used, expert), "expert_gating_func": 2,
    }  # fmt: skip
    if shared:
        keys["expert_shared_feed_forward_length"] = shared
    model = made(name, architecture, 152576, **keys)
    for number in range(layers):
        query, key, value = (head_counts[number] * lengths[0], *(kv_heads[number] * length for length in lengths))
        sparse = experts(width, expert, count, bias=True) | (gated(width, shared, "_shexp") if shared else {})
        model.block(
            number, norms(width, "attn_norm", "ffn_norm"),
            attention(width, query, key, value, out=head_counts[number] * lengths[1]),
            sparse if number >= lead else gated(width, inner),
        )  # fmt: skip
    return model


def _phi3(name, layers, width, inner, heads, kv, vocabulary, window) -> Made:
    keys = _keys(layers, width, inner, heads, kv, None, window) | {"rope.dimension_count": width // heads}
    model = made(name, "phi3", vocabulary, **keys)
    length = width // heads
    for number in range(layers):
        qkv = weights(attn_qkv=(width, (heads + 2 * kv) * length), attn_output=(width, width))
        forward = weights(ffn_up=(width, 2 * inner), ffn_down=(inner, width))
        model.block(number, norms(width, "attn_norm", "ffn_norm"), qkv, forward)
    return model


def _bert(name, architecture, layers, width, inner, heads) -> Made:
    keys = _keys(layers, width, inner, heads, heads) | {"context_length": 512 if architecture == "bert" else 8192}
    keys |= {"attention.causal": False, "pooling_type": 1, "tokenizer.ggml.token_type_count": 2}
    model = made(name, architecture, 30522, True, **keys)
    del model.tensors["output_norm.weight"]
    model.tensors |= weights(token_types=(width, 2), token_embd_norm=(width,)) | {"token_embd_norm.bias": (width,)}
    if architecture == "bert":
        model.tensors["position_embd.weight"] = (width, 512)
    for number in range(layers):
        both = {
            f"{norm}.{kind}": (width,)
            for norm in ("attn_output_norm", "layer_output_norm")
            for kind in ("weight", "bias")
        }
        forward = ungated(width, inner) if architecture == "bert" else gated(width, inner)
        model.block(number, both, attention(width, width, width), forward)
    return model


def _t5(name, layers, width, inner, heads, length) -> Made:
    keys = _keys(layers, width, inner, heads, heads, length) | {"attention.relative_buckets_count": 32}
    keys |= {"decoder_start_token_id": 0, "decoder_block_count": layers, "context_length": 512}
    model = made(name, "t5", 32128, **keys)
    del model.tensors["output_norm.weight"]
    model.tensors |= weights(**{"enc.output_norm": (width,), "dec.output_norm": (width,)})
    wide = heads * length
    for number in range(layers):
        for side, kinds in (("enc", ("attn",)), ("dec", ("attn", "cross_attn"))):
            place = f"{side}.blk.{number}."
            for kind in kinds:
                model.tensors |= {f"{place}{kind}_{part}.weight": (width, wide) for part in "qkv"}
                model.tensors |= {f"{place}{kind}_o.weight": (wide, width), f"{place}{kind}_norm.weight": (width,)}
            model.tensors |= {f"{place}{part}": shape for part, shape in gated(width, inner).items()}
            model.tensors |= {f"{place}ffn_norm.weight": (width,)}
            if number == 0:
                model.tensors[f"{place}attn_rel_b.weight"] = (heads, 32)
    return model


def _ernie(name) -> Made:
    width, layers = 8192, 54
    keys = _keys(layers, width, 28672, 64, 8, 128) | expert_keys(64, 8, 3584)
    model = made(name, "ernie4_5-moe", 103424, **keys, interleave_moe_layer_step=1, leading_dense_block_count=3)
    for number in range(layers):
        forward = experts(width, 3584, 64, bias=True) if number >= 3 else gated(width, 28672)
        model.block(number, norms(width, "attn_norm", "ffn_norm"), attention(width, 8192, 1024), forward)
    return model


def models() -> list[Made]:
    """All of them."""
    after = ("post_attention_norm", "post_ffw_norm")
    exaone = {"before": (), "after": after}
    return [
        _gemma("gemma-2-2b", "gemma2", 26, 2304, 9216, (8, 4, 256), 4096),
        _gemma("gemma-2-9b", "gemma2", 42, 3584, 14336, (16, 8, 256), 4096),
        _gemma("gemma-2-27b", "gemma2", 46, 4608, 36864, (32, 16, 128), 4096),
        _gemma("gemma-3-4b", "gemma3", 34, 2560, 10240, (8, 4, 256), 1024),
        _gemma("gemma-3-27b", "gemma3", 62, 5376, 21504, (32, 16, 128), 1024),
        _gemma3n("gemma-3n-e2b", 30, 8192),
        _gemma3n("gemma-3n-e4b", 35, 16384),
        _gemma4("gemma-4-e2b", 35, 1536, 6144, 8, (1, 1), 5, 512, small=256, shared=20, double=True),
        _gemma4("gemma-4-e4b", 42, 2560, 10240, 8, (2, 2), 6, 512, small=256, shared=18),
        _gemma4("gemma-4-12b", 48, 3840, 15360, 16, (8, 2), 6, 1024),
        _gemma4("gemma-4-26b-a4b", 30, 2816, 2112, 16, (8, 2), 6, 1024, moe=(128, 8, 704)),
        _gemma4("gemma-4-31b", 60, 5376, 21504, 32, (16, 4), 6, 1024),
        _gpt_oss("gpt-oss-120b", 36, 128),
        _dense(
            "command-a-111b",
            "cohere2",
            256000,
            64,
            12288,
            36864,
            (96, 8, 128),
            4096,
            True,
            False,
            before=("attn_norm",),
            logit_scale=0.25,
        ),
        _muse_glimmer("muse-glimmer-30b"),
        _llama4("llama-4-scout", 48, 16, 1),
        _llama4("llama-4-maverick", 48, 128, 2),
        _dense("exaone-4-32b", "exaone4", 102400, 64, 5120, 27392, (40, 8, 128), 4096, **exaone),
        _dense("exaone-4-1.2b", "exaone4", 102400, 30, 2048, 4096, (32, 8, 64), None, True, **exaone),
        _olmo("olmo-2-13b", 40, 5120, 13824, 40, 40, None),
        _olmo("olmo-3-7b", 32, 4096, 11008, 32, 32, 4096),
        _olmo("olmo-3-32b", 64, 5120, 27648, 40, 8, 4096),
        _phi3("phi-3-mini-4k", 32, 3072, 8192, 32, 32, 32064, 2047),
        _phi3("phi-4", 40, 5120, 17920, 40, 10, 100352, None),
        _dense("smollm3-3b", "smollm3", 128256, 36, 2048, 11008, (16, 4, 128), None, True, False),
        _mixed_heads(
            "mimo-v2-flash", "mimo2", 48, 4096, 16384, 6, (64, 64), (8, 4), (192, 128), (256, 8, 2048, 0), 1, 128
        ),
        _mixed_heads(
            "step-3.5-flash", "step35", 45, 4096, 11264, 4, (96, 64), (8, 8), (128, 128), (288, 8, 1280, 1280), 3, 512
        ),
        _ernie("ernie-4.5-300b-a47b"),
        _dense("ernie-4.5-0.3b", "ernie4_5", 103424, 18, 1024, 3072, (16, 2, 128), None, True, False),
        _bert("bge-large", "bert", 24, 1024, 4096, 16),
        _bert("nomic-embed-text", "nomic-bert", 12, 768, 3072, 12),
        _t5("flan-t5-base", 12, 768, 2048, 12, 64),
    ]


def _olmo(name, layers, width, inner, heads, kv, window) -> Made:
    after = ("post_attention_norm", "post_ffw_norm", "attn_q_norm")
    length = width // heads
    attn = (heads, kv, length)
    model = _dense(name, "olmo2", 100352, layers, width, inner, attn, window, normed=False, before=(), after=after)
    for number in range(layers):
        model.block(number, weights(attn_k_norm=(kv * length,)))
    return model


def _muse_glimmer(name) -> Made:
    after = ("post_attention_norm", "post_ffw_norm")
    scaled = {"logit_scale": 0.196, "final_logit_softcapping": 20.0}
    model = _dense(name, "muse-glimmer", 202048, 52, 6656, 19968, (32, 2, 128), 2048, after=after, **scaled)
    for number in range(52):
        model.block(number, weights(attn_gate=(6656, 4096)))
    return model
