"""Mixtures of experts whose attention is plain."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.model_zoo.blocks import attention, expert_keys, experts, gated, head_norms, norms
from tests.model_zoo.made_model import Made, Shapes, made, weights


@dataclass(frozen=True)
class Mixture:
    """`experts`: how many, used at a time, their width. `shared` is the width of what each token passes beside them.

    The first `dense` layers have a feed-forward part of the width `inner` in their place.
    """

    name: str
    architecture: str
    layers: int
    width: int
    heads: int
    kv: int
    vocabulary: int
    experts: tuple[int, int, int]
    inner: int = 0
    shared: int = 0
    dense: int = 0
    length: int = 0
    norms: str = "attn_norm ffn_norm"
    fused: bool = False
    normed_heads: bool = False
    router_bias: bool = False
    keys: dict[str, object] = field(default_factory=dict)

    def made(self) -> Made:
        """The model."""
        count, used, wide = self.experts
        keys: dict[str, object] = {
            "block_count": self.layers, "embedding_length": self.width, "feed_forward_length": self.inner or wide,
            "attention.head_count": self.heads, "attention.head_count_kv": self.kv, **expert_keys(count, used, wide),
        }  # fmt: skip
        if self.dense:
            keys["leading_dense_block_count"] = self.dense
        if self.length:
            keys |= {"attention.key_length": self.length, "attention.value_length": self.length}
        model = made(self.name, self.architecture, self.vocabulary, **keys, **self.keys)
        for number in range(self.layers):
            model.block(number, norms(self.width, *self.norms.split()), self._attention(), self._forward(number))
        return model

    def _attention(self) -> Shapes:
        length = self.length or self.width // self.heads
        query, key = self.heads * length, self.kv * length
        named = head_norms(length) if self.normed_heads else {}
        if self.fused:
            return weights(attn_qkv=(self.width, query + 2 * key), attn_output=(query, self.width)) | named
        return attention(self.width, query, key) | named

    def _forward(self, number: int) -> Shapes:
        if number < self.dense:
            return gated(self.width, self.inner)
        shared = gated(self.width, self.shared, "_shexp") if self.shared else {}
        return experts(self.width, self.experts[2], self.experts[0], bias=self.router_bias) | shared


_SCORED = {"expert_gating_func": 2}
_GRANITE = {"logit_scale": 6.0, "residual_scale": 0.22, "embedding_scale": 12.0, "attention.scale": 0.015625}
_GROVE = {"expert_chunk_feed_forward_length": 128, "expert_group_scale": 0.05, "experts_per_group": 2}
_SANDWICH = "attn_norm post_attention_norm ffn_norm post_ffw_norm"

MIXTURES = (
    Mixture("mixtral-8x7b", "llama", 32, 4096, 32, 8, 32000, (8, 2, 14336)),
    Mixture("mixtral-8x22b", "llama", 56, 6144, 48, 8, 32768, (8, 2, 16384)),
    Mixture("phi-3.5-moe", "phimoe", 32, 4096, 32, 8, 32064, (16, 2, 6400)),
    Mixture("qwen1.5-moe-a2.7b", "qwen2moe", 24, 2048, 16, 16, 151936, (60, 4, 1408), 5632, 5632),
    Mixture(
        "qwen2-57b-a14b", "qwen2moe", 28, 3584, 28, 4, 151936, (64, 8, 2560), 18944, 20480,
        keys={"expert_shared_feed_forward_length": 20480},
    ),
    Mixture("qwen3-235b-a22b", "qwen3moe", 94, 4096, 64, 4, 151936, (128, 8, 1536), length=128, normed_heads=True),
    Mixture("qwen3-coder-480b", "qwen3moe", 62, 6144, 96, 8, 151936, (160, 8, 2560), length=128, normed_heads=True),
    Mixture(
        "qwen3-vl-30b-a3b", "qwen3vlmoe", 48, 2048, 32, 4, 151936, (128, 8, 768), length=128, normed_heads=True,
        keys={"rope.dimension_sections": [24, 20, 20, 0], "n_deepstack_layers": 3},
    ),
    Mixture(
        "olmoe-1b-7b", "olmoe", 16, 2048, 16, 16, 50304, (64, 8, 1024),
        norms="attn_norm ffn_norm attn_q_norm attn_k_norm",
    ),
    Mixture(
        "hunyuan-a13b", "hunyuan-moe", 32, 4096, 32, 8, 128167, (64, 8, 3072), 3072, 3072, length=128,
        normed_heads=True,
    ),
    Mixture("arctic", "arctic", 35, 7168, 56, 8, 32000, (128, 2, 4864), norms="attn_norm ffn_norm ffn_norm_exps"),
    Mixture(
        "dbrx", "dbrx", 40, 6144, 48, 8, 100352, (16, 4, 10752), norms="attn_norm attn_output_norm",
        fused=True, keys={"attention.clamp_kqv": 8.0},
    ),
    Mixture(
        "grok-1", "grok", 64, 6144, 48, 8, 131072, (8, 2, 32768),
        norms="attn_norm attn_output_norm ffn_norm layer_output_norm",
    ),
    Mixture(
        "grok-2", "grok", 64, 8192, 64, 8, 131072, (8, 2, 16384), 32768,
        norms="attn_norm attn_output_norm ffn_norm post_ffw_norm",
    ),
    Mixture(
        "dots.llm1", "dots1", 62, 4096, 32, 32, 152064, (128, 6, 1408), 10944, 2816, 1, 128, normed_heads=True,
        router_bias=True, keys={"expert_shared_count": 2, **_SCORED},
    ),
    Mixture(
        "ling-mini-2.0", "bailingmoe2", 20, 2048, 16, 4, 157184, (256, 8, 512), 5120, 512, 1, 128, fused=True,
        normed_heads=True, router_bias=True, keys={"expert_shared_count": 1, **_SCORED},
    ),
    Mixture(
        "ling-flash-2.0", "bailingmoe2", 32, 4096, 32, 4, 157184, (256, 8, 1024), 9216, 1024, 1, 128, fused=True,
        normed_heads=True, router_bias=True, keys={"expert_shared_count": 1, "expert_group_count": 8,
        "expert_group_used_count": 4, **_SCORED},
    ),
    Mixture(
        "minimax-m2", "minimax-m2", 62, 3072, 48, 8, 200064, (256, 8, 1536), length=128, router_bias=True,
        keys=_SCORED,
    ),
    Mixture(
        "trinity-mini", "afmoe", 32, 2048, 32, 4, 200192, (128, 8, 1024), 6144, 1024, 2, 128, _SANDWICH,
        normed_heads=True, router_bias=True,
        keys={"expert_shared_count": 1, "attention.sliding_window": 2048, **_SCORED},
    ),
    Mixture(
        "smallthinker-21b-a3b", "smallthinker", 52, 2560, 28, 4, 151936, (64, 6, 768), length=128,
        keys={"attention.sliding_window": 4096, **_SCORED},
    ),
    Mixture(
        "deepseek-moe-16b", "deepseek", 28, 2048, 16, 16, 102400, (64, 6, 1408), 10944, 2816, 1,
        keys={"expert_shared_count": 2, "expert_weights_scale": 1.0},
    ),
    Mixture("granite-3-3b-a800m", "granitemoe", 32, 1536, 24, 8, 49155, (40, 8, 512), keys=_GRANITE),
    Mixture("llada-moe-7b-a1b", "llada-moe", 16, 2048, 16, 16, 157184, (64, 8, 1024), normed_heads=True),
    Mixture(
        "k-exaone-236b-a23b", "exaone-moe", 48, 6144, 64, 8, 153600, (128, 8, 2048), 18432, 2048, 1, 128,
        normed_heads=True, router_bias=True,
        keys={"expert_shared_count": 1, "attention.sliding_window": 128, **_SCORED},
    ),
    Mixture(
        "grove-moe", "grovemoe", 48, 2048, 32, 4, 151936, (128, 8, 768), length=128, normed_heads=True,
        keys=_GROVE,
    ),
)  # fmt: skip


def models() -> list[Made]:
    """All of them."""
    made_models = [mixture.made() for mixture in MIXTURES]
    for model in made_models:
        _complete(model)
    return made_models


def _complete(model: Made) -> None:
    """What only one architecture has."""
    width = model.tensors["token_embd.weight"][0]
    if model.architecture == "phimoe":
        model.tensors |= {"output_norm.bias": (width,), "output.bias": (32064,)}
    for number in range(int(str(model.keys["block_count"]))):
        model.block(number, *_parts(model, width))


def _parts(model: Made, width: int) -> list[Shapes]:
    """The further tensors of each layer."""
    return {
        "phimoe": [{"attn_norm.bias": (width,), "ffn_norm.bias": (width,), "attn_output.bias": (width,)}],
        "qwen2moe": [weights(ffn_gate_inp_shexp=(width,))],
        "arctic": [gated(width, width)],
        "grok": [gated(width, 32768)] if model.name == "grok-2" else [],
        "minimax-m2": [weights(attn_q_norm=(6144,), attn_k_norm=(1024,))],
        "afmoe": [weights(attn_gate=(width, 4096))],
        "grovemoe": [
            weights(
                ffn_gate_chexps=(width, 128, 64), ffn_up_chexps=(width, 128, 64), ffn_down_chexps=(128, width, 64)
            )
        ],
    }.get(model.architecture, [])  # fmt: skip
