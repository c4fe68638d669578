"""Models with compressed attention, an indexer beside it, or layers that predict further tokens."""

from __future__ import annotations

from tests.model_zoo.blocks import attention, expert_keys, experts, gated, head_norms, latent_attention, norms
from tests.model_zoo.made_model import Made, Shapes, made, weights


def _deepseek(
    name, layers, width, inner, heads, moe, lead, vocabulary, lengths=(128, 64, 128), ranks=(1536, 512),
    architecture="deepseek2", whole=False, indexer=None, predicting=0, full_indexers=None, context=163840,
) -> Made:  # fmt: skip
    """`moe`: experts, used, their width, shared. `lengths`: without and with rotation, of a value. `indexer`: heads."""
    nope, rope, value = lengths
    query_rank, rank = ranks
    count, used, expert, shared = moe
    keys = {
        "block_count": layers + predicting, "embedding_length": width, "feed_forward_length": inner,
        "attention.head_count": heads, "attention.head_count_kv": heads if whole else 1, "rope.dimension_count": rope,
        "attention.kv_lora_rank": rank, "leading_dense_block_count": lead, "expert_shared_count": shared,
        "expert_weights_scale": 1.0, "expert_gating_func": 2, "context_length": context,
        **expert_keys(count, used, expert),
    }  # fmt: skip
    if query_rank:
        keys["attention.q_lora_rank"] = query_rank
    if whole:
        keys |= {"attention.key_length": nope + rope, "attention.value_length": value}
    else:
        keys |= {"attention.key_length": rank + rope, "attention.value_length": rank}
        keys |= {"attention.key_length_mla": nope + rope, "attention.value_length_mla": value}
    if indexer:
        keys |= {"attention.indexer.head_count": indexer, "attention.indexer.key_length": 128}
        keys |= {"attention.indexer.top_k": 2048}
    if full_indexers:
        keys["attention.indexer.types"] = full_indexers
    if predicting:
        keys["nextn_predict_layers"] = predicting
    model = made(name, architecture, vocabulary, **keys)
    mixer = latent_attention(width, heads, rank, nope, rope, value, query_rank, whole)
    if indexer:
        mixer |= _indexer(width, query_rank, indexer)
    sparse = experts(width, expert, count, bias=True) | gated(width, shared * expert, "_shexp")
    for number in range(layers + predicting):
        forward = sparse if number >= lead else gated(width, inner)
        model.block(number, norms(width, "ffn_norm"), mixer, forward, _predicting(width) if number >= layers else {})
    return model


def _indexer(width, query_rank, heads) -> Shapes:
    return {"indexer.k_norm.weight": (128,), "indexer.k_norm.bias": (128,)} | weights(
        **{
            "indexer.proj": (width, heads),
            "indexer.attn_k": (width, 128),
            "indexer.attn_q_b": (query_rank, heads * 128),
        }
    )


def _predicting(width) -> Shapes:
    return weights(**{"nextn.eh_proj": (2 * width, width)}) | norms(width, "nextn.enorm", "nextn.hnorm")


def _glm4moe(name, layers, width, inner, heads, count, expert, lead, predicting) -> Made:
    keys = {
        "block_count": layers + predicting, "embedding_length": width, "feed_forward_length": inner,
        "attention.head_count": heads, "attention.head_count_kv": 8, "attention.key_length": 128,
        "attention.value_length": 128, "leading_dense_block_count": lead, "nextn_predict_layers": predicting,
        "expert_shared_count": 1, "expert_gating_func": 2, **expert_keys(count, 8, expert),
    }  # fmt: skip
    model = made(name, "glm4moe", 151552, **keys)
    sparse = experts(width, expert, count, bias=True) | gated(width, expert, "_shexp")
    for number in range(layers + predicting):
        model.block(
            number, norms(width, "attn_norm", "post_attention_norm"), attention(width, heads * 128, 1024),
            head_norms(128), sparse if number >= lead else gated(width, inner),
            _predicting(width) if number >= layers else {},
        )  # fmt: skip
    return model


def _minimax_m3(name) -> Made:
    layers, width, heads, kv, length = 60, 6144, 64, 4, 128
    keys = {
        "block_count": layers, "embedding_length": width, "feed_forward_length": 12288, "rope.dimension_count": 64,
        "attention.head_count": heads, "attention.head_count_kv": kv, "attention.key_length": length,
        "attention.value_length": length, "leading_dense_block_count": 3, "expert_shared_count": 1,
        "expert_gating_func": 2, "attention.indexer.head_count": 4, "attention.indexer.key_length": 128,
        "attention.indexer.top_k": 16, "attention.indexer.block_size": 128, "attention.indexer.local_blocks": 1,
        **expert_keys(128, 4, 3072),
    }  # fmt: skip
    model = made(name, "minimax-m3", 200064, **keys)
    index = weights(
        **{
            "indexer.q_proj": (width, 4 * 128), "indexer.k_proj": (width, 128), "indexer.q_norm": (128,),
            "indexer.k_norm": (128,),
        }
    )  # fmt: skip
    sparse = experts(width, 3072, 128, bias=True) | gated(width, 3072, "_shexp") | index
    for number in range(layers):
        model.block(
            number, norms(width, "attn_norm", "ffn_norm"), attention(width, heads * length, kv * length),
            head_norms(length), sparse if number >= 3 else gated(width, 12288),
        )  # fmt: skip
    return model


def _deepseek4(name, layers, width, heads, ratios, count, expert) -> Made:
    length, rank, groups, low, streams, index = 512, 1024, 8, 1024, 4, 64
    keys = {
        "block_count": layers, "embedding_length": width, "feed_forward_length": expert,
        "attention.head_count": heads, "attention.head_count_kv": 1, "attention.key_length": length,
        "attention.value_length": length, "rope.dimension_count": 64, "attention.q_lora_rank": rank,
        "attention.sliding_window": 128, "expert_shared_count": 1, "expert_weights_scale": 1.5,
        "expert_weights_norm": True, "expert_gating_func": 4, "swiglu_clamp_exp": 10.0,
        "attention.indexer.head_count": index, "attention.indexer.key_length": 128, "attention.indexer.top_k": 512,
        "attention.output_group_count": groups, "attention.output_lora_rank": low,
        "attention.compress_rope_freq_base": 160000.0, "hyper_connection.count": streams,
        "hyper_connection.sinkhorn_iterations": 20, "hyper_connection.epsilon": 1e-6, "hash_layer_count": 3,
        "attention.compress_ratios": ratios, **expert_keys(count, 6, expert),
    }  # fmt: skip
    model = made(name, "deepseek4", 129280, **keys)
    wide, mixes = streams * width, (2 + streams) * streams
    model.tensors |= weights(output_hc_fn=(wide, streams), output_hc_base=(streams,), output_hc_scale=(1,))
    for number, ratio in enumerate(ratios):
        model.block(
            number, norms(width, "attn_norm", "ffn_norm"), {"attn_sinks.weight": (heads,)},
            weights(
                attn_q_a=(width, rank), attn_q_a_norm=(rank,), attn_q_b=(rank, heads * length), attn_kv=(width, length),
                attn_kv_a_norm=(length,), attn_output_a=(heads * length // groups, low, groups),
                attn_output_b=(groups * low, width), hc_attn_fn=(wide, mixes), hc_attn_base=(mixes,),
                hc_attn_scale=(3,), hc_ffn_fn=(wide, mixes), hc_ffn_base=(mixes,), hc_ffn_scale=(3,),
            ),
            experts(width, expert, count, bias=number >= 3), gated(width, expert, "_shexp"),
            weights(ffn_gate_tid2eid=(6, 129280)) if number < 3 else {},
            _compressor(width, length, rank, ratio, index) if ratio else {},
        )  # fmt: skip
    return model


def _compressor(width, length, rank, ratio, index) -> Shapes:
    wide = (2 if ratio == 4 else 1) * length
    shapes = weights(
        attn_compressor_kv=(width, wide), attn_compressor_gate=(width, wide), attn_compressor_ape=(wide, ratio),
        attn_compressor_norm=(length,),
    )  # fmt: skip
    if ratio == 4:
        shapes |= weights(
            **{"indexer.proj": (width, index), "indexer.attn_q_b": (rank, index * 128)},
            indexer_compressor_kv=(width, 256), indexer_compressor_gate=(width, 256),
            indexer_compressor_ape=(256, ratio), indexer_compressor_norm=(128,),
        )  # fmt: skip
    return shapes


def models() -> list[Made]:
    """All of them."""
    v3 = (61, 7168, 18432, 128, (256, 8, 2048, 1), 3, 129280)
    return [
        _deepseek("deepseek-v2-lite-old", 27, 2048, 10944, 16, (64, 6, 1408, 2), 1, 102400, ranks=(0, 512), whole=True),
        _deepseek("deepseek-v2", 60, 5120, 12288, 128, (160, 6, 1536, 2), 1, 102400),
        _deepseek("deepseek-v3", *v3),
        _deepseek("deepseek-v3-old", *v3, whole=True),
        _deepseek("deepseek-v3-mtp", *v3, predicting=1),
        _deepseek("kimi-k2", 61, 7168, 18432, 64, (384, 8, 2048, 1), 1, 163840),
        _deepseek(
            "glm-4.7-flash", 47, 2048, 10240, 20, (64, 4, 1536, 1), 1, 154880, (192, 64, 256), (768, 512), predicting=1
        ),
        _deepseek(
            "mistral-small-4", 36, 4096, 12288, 32, (128, 4, 2048, 1), 0, 131072, (64, 64, 128), (1024, 256), "mistral4"
        ),
        _deepseek("deepseek-v3.2", *v3, architecture="deepseek32", indexer=64),
        _deepseek(
            "glm-5",
            78,
            6144,
            12288,
            64,
            (256, 8, 2048, 1),
            3,
            154880,
            (192, 64, 256),
            (2048, 512),
            "glm-dsa",
            indexer=32,
            predicting=1,
            context=202752,
        ),
        _deepseek(
            "glm-5-shared",
            78,
            6144,
            12288,
            64,
            (256, 8, 2048, 1),
            3,
            154880,
            (192, 64, 256),
            (2048, 512),
            "glm-dsa",
            indexer=32,
            full_indexers=[number < 3 or number % 4 == 0 for number in range(78)],
        ),
        _glm4moe("glm-4.5-air", 46, 4096, 10944, 96, 128, 1408, 1, 1),
        _glm4moe("glm-4.6", 92, 5120, 12288, 96, 160, 1536, 3, 1),
        _minimax_m3("minimax-m3"),
        _deepseek4("deepseek-v4-flash", 43, 4096, 64, [0, 0, *(4 if n % 2 else 128 for n in range(41))], 256, 2048),
    ]
