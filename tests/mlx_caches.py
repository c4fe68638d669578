"""Captures what mlx-lm really keeps, for small models of many types: `python -m tests.mlx_caches`.

Needs mlx-lm (and `mlx[cpu]` off macOS); the tests read only the file it writes. Each model is built from a config with
the structure of its type, small and with random weights, and reads a text of a few hundred tokens in steps, then one
token more, as generation does. Kept for each run are the largest sizes of its caches, by class, in bytes.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("data") / "mlx_caches.json"

RUNS = ((257, 256), (641, 128), (1025, 512))
"""Tokens in all, and how many of them are computed at a time."""

_PLAIN: dict[str, Any] = {
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "rms_norm_eps": 1e-5,
    "layer_norm_eps": 1e-5,
    "vocab_size": 256,
    "rope_theta": 10000.0,
    "max_position_embeddings": 4096,
    "attention_bias": False,
    "tie_word_embeddings": True,
}
_EXPERTS: dict[str, Any] = {
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "moe_intermediate_size": 64,
    "norm_topk_prob": True,
}
_DELTA: dict[str, Any] = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4,
}
_LATENT: dict[str, Any] = {
    "kv_lora_rank": 64,
    "q_lora_rank": 48,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32,
    "v_head_dim": 40,
    "num_key_value_heads": 4,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
_SLIDE = ["sliding_attention", "full_attention"]


def _mamba(**changes: Any) -> dict[str, Any]:
    return {
        "mamba_n_heads": 4,
        "mamba_d_head": 64,
        "mamba_d_state": 16,
        "mamba_d_conv": 4,
        "mamba_n_groups": 2,
        "mamba_expand": 2,
        "mamba_proj_bias": False,
        "mamba_conv_bias": True,
    } | changes


def configs() -> dict[str, dict[str, Any]]:
    """The model types, each with a config as its config.json would have it."""
    return {name: _config(name, changes) for name, changes in _changes().items()}


def _config(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    model_type = name.partition("/")[0]
    if text_type := changes.pop("text_type", None):
        return {
            "model_type": model_type,
            "vocab_size": 256,
            "text_config": _PLAIN | {"model_type": text_type} | changes,
        }
    return _PLAIN | {"model_type": model_type} | changes


def _changes() -> dict[str, dict[str, Any]]:
    return _plain_types() | _windowed_types() | _latent_types() | _recurrent_types()


def _plain_types() -> dict[str, dict[str, Any]]:
    return {
        "llama": {},
        "mistral": {"sliding_window": 100, "head_dim": None},
        "mixtral": _EXPERTS | {"sliding_window": 100},
        "qwen2": {"sliding_window": 100, "use_sliding_window": False},
        "qwen3": {},
        "qwen3_moe": _EXPERTS | {"decoder_sparse_step": 1, "mlp_only_layers": []},
        "glm4": {"partial_rotary_factor": 0.5},
        "glm4_moe": _EXPERTS
        | {
            "n_shared_experts": 1,
            "first_k_dense_replace": 1,
            "routed_scaling_factor": 1.0,
            "n_group": 1,
            "topk_group": 1,
            "use_qk_norm": True,
            "partial_rotary_factor": 0.5,
            "rope_scaling": None,
        },
        "gemma2": {"sliding_window": 100},
        "phi3": {"sliding_window": 100, "num_key_value_heads": 4},
        "smollm3": {"no_rope_layer_interval": 4},
        "olmo2": {},
        "minimax_m2": _EXPERTS | {"rotary_dim": 32, "shared_intermediate_size": 64},
        "gpt2": {
            "n_ctx": 1024,
            "n_embd": 128,
            "n_head": 4,
            "n_layer": 4,
            "n_positions": 1100,
            "layer_norm_epsilon": 1e-5,
        },
        "gpt_bigcode": {
            "n_embd": 128,
            "n_head": 4,
            "n_layer": 4,
            "n_inner": 256,
            "n_positions": 1100,
            "layer_norm_epsilon": 1e-5,
            "multi_query": True,
        },
        "nemotron-nas": {"block_configs": _block_configs(), "num_hidden_layers": 3},
    }


def _block_configs() -> list[dict[str, Any]]:
    feed_forward = {"ffn_mult": 1.0, "no_op": False, "replace_with_linear": False}
    return [
        {"attention": {"n_heads_in_group": 2, "no_op": False, "replace_with_linear": False}, "ffn": feed_forward},
        {"attention": {"n_heads_in_group": None, "no_op": True, "replace_with_linear": False}, "ffn": feed_forward},
        {"attention": {"n_heads_in_group": 4, "no_op": False, "replace_with_linear": False}, "ffn": feed_forward},
    ]


def _windowed_types() -> dict[str, dict[str, Any]]:
    seven: dict[str, Any] = {"num_hidden_layers": 7, "sliding_window": 100}
    return {
        "gemma3_text": seven | {"sliding_window_pattern": 6},
        "gemma3": seven | {"text_type": "gemma3_text", "sliding_window_pattern": 6},
        "gemma3n": {
            "text_type": "gemma3n_text",
            "num_hidden_layers": 6,
            "sliding_window": 100,
            "layer_types": [*_SLIDE, *_SLIDE, *_SLIDE],
            "num_kv_shared_layers": 2,
            "vocab_size_per_layer_input": 256,
            "hidden_size_per_layer_input": 16,
            "activation_sparsity_pattern": [0.0] * 6,
            "altup_num_inputs": 2,
            "altup_coef_clip": 120.0,
            "altup_correct_scale": True,
            "altup_active_idx": 0,
            "laurel_rank": 8,
            "rope_local_base_freq": 10000.0,
            "final_logit_softcapping": 30.0,
        },
        "gemma4_text": {
            "num_hidden_layers": 6,
            "sliding_window": 100,
            "layer_types": [*_SLIDE, *_SLIDE, *_SLIDE],
            "num_kv_shared_layers": 2,
            "global_head_dim": 128,
            "num_global_key_value_heads": 1,
            "attention_k_eq_v": True,
            "hidden_size_per_layer_input": 16,
            "vocab_size_per_layer_input": 256,
        },
        "gpt_oss": _EXPERTS | {"sliding_window": 100, "layer_types": [*_SLIDE, *_SLIDE]},
        "cohere2": {"hidden_size": 256, "sliding_window": 100, "sliding_window_pattern": 4, "num_hidden_layers": 5},
        "olmo3": {"sliding_window": 100, "num_hidden_layers": 5},
        "exaone4": {
            "sliding_window": 100,
            "sliding_window_pattern": "LLLG",
            "num_hidden_layers": 6,
            "rope_scaling": None,
        },
        "ministral3": {
            "sliding_window": 100,
            "layer_types": [*_SLIDE, *_SLIDE],
            "rope_parameters": {
                "rope_theta": 10000.0,
                "llama_4_scaling_beta": 0.1,
                "original_max_position_embeddings": 4096,
            },
        },
        "mimo_v2_flash": _EXPERTS | _mimo(),
        "llama4": _EXPERTS
        | {
            "text_type": "llama4_text",
            "num_hidden_layers": 5,
            "num_experts_per_tok": 1,
            "attention_chunk_size": 300,
            "interleave_moe_layer_step": 1,
            "intermediate_size_mlp": 128,
            "rope_scaling": None,
            "use_qk_norm": True,
        },
    }


def _mimo() -> dict[str, Any]:
    return {
        "hybrid_layer_pattern": [0, 1, 1, 0],
        "moe_layer_freq": [0, 1, 1, 1],
        "sliding_window_size": 100,
        "sliding_window": 100,
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 4,
        "swa_head_dim": 64,
        "swa_v_head_dim": 32,
        "v_head_dim": 32,
        "add_full_attention_sink_bias": False,
        "add_swa_attention_sink_bias": True,
        "attention_value_scale": 1.0,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "routed_scaling_factor": 1.0,
        "n_shared_experts": None,
        "n_group": 1,
        "topk_group": 1,
        "layernorm_epsilon": 1e-5,
        "partial_rotary_factor": 0.5,
        "swa_rope_theta": 10000.0,
    }


def _latent_types() -> dict[str, dict[str, Any]]:
    deepseek = _EXPERTS | _LATENT
    return {
        "deepseek_v2": deepseek | {"rope_scaling": _yarn()},
        "deepseek_v3": deepseek,
        "deepseek_v32": deepseek | {"index_head_dim": 32, "index_n_heads": 4, "index_topk": 64},
        "glm4_moe_lite": deepseek,
        "minicpm3": _LATENT
        | {"dim_model_base": 128, "scale_depth": 1.4, "scale_emb": 1.0, "rope_scaling": _longrope()},
        "longcat_flash": deepseek
        | {
            "num_layers": 2,
            "ffn_hidden_size": 128,
            "expert_ffn_hidden_size": 64,
            "moe_topk": 2,
            "zero_expert_num": 2,
            "zero_expert_type": "identity",
            "routed_scaling_factor": 1.0,
            "mla_scale_q_lora": True,
            "mla_scale_kv_lora": True,
            "attention_method": "MLA",
        },
        "kimi_linear": _EXPERTS
        | _LATENT
        | {
            "model_max_length": 4096,
            "num_shared_experts": 1,
            "linear_attn_config": {
                "full_attn_layers": [4],
                "kda_layers": [1, 2, 3],
                "num_heads": 4,
                "head_dim": 32,
                "short_conv_kernel_size": 4,
            },
        },
    }


def _longrope() -> dict[str, Any]:
    return {
        "type": "longrope",
        "long_factor": [1.0] * 8,
        "short_factor": [1.0] * 8,
        "original_max_position_embeddings": 4096,
    }


def _yarn() -> dict[str, Any]:
    return {
        "type": "yarn",
        "factor": 40,
        "original_max_position_embeddings": 4096,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 0.7,
        "mscale_all_dim": 0.7,
    }


def _recurrent_types() -> dict[str, dict[str, Any]]:
    state: dict[str, Any] = {
        "state_size": 16,
        "conv_kernel": 4,
        "use_bias": False,
        "use_conv_bias": True,
        "time_step_rank": 8,
    }
    nemotron: dict[str, Any] = {
        "mamba_num_heads": 4,
        "mamba_head_dim": 64,
        "mamba_proj_bias": False,
        "ssm_state_size": 16,
        "conv_kernel": 4,
        "n_groups": 2,
        "mlp_bias": False,
        "layer_norm_epsilon": 1e-5,
        "use_bias": False,
        "use_conv_bias": True,
    }
    return {
        "qwen3_next": _EXPERTS
        | _DELTA
        | {
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "shared_expert_intermediate_size": 64,
            "partial_rotary_factor": 0.25,
            "full_attention_interval": 4,
        },
        "qwen3_5": _DELTA | {"text_type": "qwen3_5_text", "full_attention_interval": 4, "num_hidden_layers": 8},
        "olmo_hybrid": _DELTA | {"linear_allow_neg_eigval": True},
        "granitemoehybrid": _mamba()
        | {
            "layer_types": ["mamba", "mamba", "attention", "mamba"],
            "embedding_multiplier": 1.0,
            "attention_multiplier": 0.1,
            "logits_scaling": 1.0,
            "residual_multiplier": 1.0,
            "shared_intermediate_size": 128,
        },
        "nemotron_h": nemotron | {"hybrid_override_pattern": "M-M*M-", "num_hidden_layers": 6},
        "jamba": _EXPERTS
        | _mamba()
        | {
            "attn_layer_offset": 2,
            "attn_layer_period": 4,
            "expert_layer_offset": 1,
            "expert_layer_period": 2,
            "num_hidden_layers": 5,
        },
        "falcon_h1": _mamba(mamba_d_ssm=256),
        "mamba": state | {"intermediate_size": 256},
        "mamba2": state
        | {"num_heads": 4, "head_dim": 64, "n_groups": 2, "layer_norm_epsilon": 1e-5}
        | {"intermediate_size": 256, "time_step_limit": [0.0, 100.0]},
        "lfm2": {
            "norm_eps": 1e-5,
            "conv_bias": False,
            "conv_L_cache": 3,
            "block_dim": 128,
            "block_multiple_of": 64,
            "block_ffn_dim_multiplier": 1.0,
            "block_auto_adjust_ff_dim": False,
            "layer_types": ["conv", "conv", "full_attention", "conv"],
            "head_dim": None,
        },
        "rwkv7": {
            "norm_eps": 1e-5,
            "head_dim": 32,
            "a_low_rank_dim": 8,
            "v_low_rank_dim": 8,
            "gate_low_rank_dim": 8,
            "decay_low_rank_dim": 8,
        },
        "recurrent_gemma": {
            "attention_window_size": 100,
            "block_types": ["recurrent", "recurrent", "attention"],
            "conv1d_width": 4,
            "logits_soft_cap": 30.0,
            "num_key_value_heads": 1,
            "head_dim": None,
        },
    }


def capture(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of the model of `config`: tokens, step, and the largest size of each class of cache in bytes."""
    import mlx.core as mx
    from mlx import nn
    from mlx.utils import tree_map_with_path
    from mlx_lm.models.switch_layers import SwitchLinear
    from mlx_lm.utils import _get_classes

    model_class, args_class = _get_classes(config)
    model = model_class(args_class.from_dict(json.loads(json.dumps(config))))
    keep = getattr(model, "cast_predicate", lambda _: True)
    model.update(tree_map_with_path(lambda path, p: p.astype(mx.bfloat16) if keep(path) else p, model.parameters()))
    nn.quantize(model, group_size=32, bits=4, class_predicate=lambda _, module: isinstance(module, SwitchLinear))
    return [{"tokens": tokens, "step": step, **_run(model, tokens, step)} for tokens, step in RUNS]


def _run(model: Any, tokens: int, step: int) -> dict[str, Any]:
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache

    caches = make_prompt_cache(model)
    largest: Counter[str] = Counter()
    sizes = [min(step, tokens - 1 - start) for start in range(0, tokens - 1, step)] + [1]
    for size in sizes:
        mx.eval(model(mx.ones((1, size), dtype=mx.int32), cache=caches), [cache.state for cache in caches])
        now: Counter[str] = Counter()
        for leaf in _leaves(caches):
            now[type(leaf).__name__] += leaf.nbytes
        largest |= now
    return {"bytes": dict(sorted(largest.items()))}


def _leaves(caches: Any) -> Iterator[Any]:
    for cache in caches:
        if hasattr(cache, "caches"):
            yield from _leaves(cache.caches)
        else:
            yield cache


def main() -> int:
    """Capture all, or the types named, and write the file."""
    wanted = set(sys.argv[1:])
    kept = json.loads(FILE.read_text()) if wanted else {}
    for name, config in configs().items():
        if wanted and name not in wanted:
            continue
        kept[name] = {"config": config, "runs": capture(config)}
        sys.stdout.write(f"{name}: {kept[name]['runs'][-1]['bytes']}\n")
    FILE.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
