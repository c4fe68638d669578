"""Models of one kind of layer throughout: attention and one feed-forward part, with or without a gate."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.model_zoo.blocks import attention, gated, head_norms, norms, ungated
from tests.model_zoo.made_model import Made, Shapes, made, weights

BOTH = "attn_norm ffn_norm"
_QKV = ("attn_q.", "attn_k.", "attn_v.")
_BIASES = {"all": ("",), "qkv": _QKV, "attn": (*_QKV, "attn_output."), "norms": ("norm",)}


@dataclass(frozen=True)
class Plain:
    """`gate`: "own", "none", or "joined" (one matrix with the other). `after` are norms behind the parts; `biased`
    what has a bias: see below. `length` of a head where it is not width over heads.
    """

    name: str
    architecture: str
    layers: int
    width: int
    inner: int
    heads: int
    kv: int
    vocabulary: int
    length: int = 0
    gate: str = "own"
    fused: bool = False
    tied: bool = False
    norms: str = BOTH
    biased: str = ""
    normed_heads: bool = False
    keys: dict[str, object] = field(default_factory=dict)

    def made(self) -> Made:
        """The model."""
        keys: dict[str, object] = {
            "block_count": self.layers, "embedding_length": self.width, "feed_forward_length": self.inner,
            "attention.head_count": self.heads, "attention.head_count_kv": self.kv, **self.keys,
        }  # fmt: skip
        if self.length:
            keys |= {"attention.key_length": self.length, "attention.value_length": self.length}
        model = made(self.name, self.architecture, self.vocabulary, self.tied, **keys)
        if self.biased in ("all", "norms"):
            model.tensors["output_norm.bias"] = (self.width,)
        for number in range(self.layers):
            model.block(
                number, self._biased(self._attention() | self._forward() | norms(self.width, *self.norms.split()))
            )
        return model

    def _attention(self) -> Shapes:
        length = self.length or self.width // self.heads
        query, key = self.heads * length, self.kv * length
        named = head_norms(length) if self.normed_heads else {}
        if self.fused:
            return weights(attn_qkv=(self.width, query + 2 * key), attn_output=(query, self.width)) | named
        return attention(self.width, query, key) | named

    def _forward(self) -> Shapes:
        if self.gate == "joined":
            return weights(ffn_up=(self.width, 2 * self.inner), ffn_down=(self.inner, self.width))
        return gated(self.width, self.inner) if self.gate == "own" else ungated(self.width, self.inner)

    def _biased(self, shapes: Shapes) -> Shapes:
        kinds = _BIASES.get(self.biased, ())
        matched = {name: shape for name, shape in shapes.items() if any(kind in name for kind in kinds)}
        return shapes | {name.replace(".weight", ".bias"): (shape[-1],) for name, shape in matched.items()}


_SANDWICH = "attn_norm post_attention_norm ffn_norm post_ffw_norm"
_AFTER = "post_attention_norm post_ffw_norm"
_SECTIONS = {"rope.dimension_sections": [16, 24, 24, 0]}
_XIELU = {f"xielu.{key}": [0.5] * 32 for key in ("alpha_n", "alpha_p", "beta", "eps")}
_GRANITE = {"logit_scale": 16.0, "residual_scale": 0.22, "embedding_scale": 12.0, "attention.scale": 0.0078125}

PLAIN = (
    Plain("llama-2-7b", "llama", 32, 4096, 11008, 32, 32, 32000),
    Plain("llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 128256, tied=True),
    Plain("llama-3.1-405b", "llama", 126, 16384, 53248, 128, 8, 128256),
    Plain("tinyllama-1.1b", "llama", 22, 2048, 5632, 32, 4, 32000),
    Plain("smollm2-135m", "llama", 30, 576, 1536, 9, 3, 49152, tied=True),
    Plain("mistral-nemo-12b", "llama", 40, 5120, 14336, 32, 8, 131072, length=128),
    Plain("ministral-3-8b", "mistral3", 34, 4096, 14336, 32, 8, 131072, length=128),
    Plain("qwen-7b", "qwen", 32, 4096, 22016, 32, 32, 151936, fused=True),
    Plain("qwen2.5-0.5b", "qwen2", 24, 896, 4864, 14, 2, 151936, tied=True, biased="qkv"),
    Plain("qwen2.5-72b", "qwen2", 80, 8192, 29568, 64, 8, 152064, biased="qkv"),
    Plain("qwen2-vl-7b", "qwen2vl", 28, 3584, 18944, 28, 4, 152064, biased="qkv", keys=_SECTIONS),
    Plain("qwen3-4b", "qwen3", 36, 2560, 9728, 32, 8, 151936, length=128, tied=True, normed_heads=True),
    Plain("qwen3-32b", "qwen3", 64, 5120, 25600, 64, 8, 151936, length=128, normed_heads=True),
    Plain(
        "qwen3-vl-8b", "qwen3vl", 36, 4096, 12288, 32, 8, 151936, length=128, normed_heads=True,
        keys={**_SECTIONS, "n_deepstack_layers": 3},
    ),
    Plain("gemma-7b", "gemma", 28, 3072, 24576, 16, 16, 256000, length=256, tied=True),
    Plain("phi-2", "phi2", 32, 2560, 10240, 32, 32, 51200, gate="none", norms="attn_norm", biased="all"),
    Plain("phi-3-mini", "phi3", 32, 3072, 8192, 32, 32, 32064, gate="joined", fused=True),
    Plain(
        "falcon-7b", "falcon", 32, 4544, 18176, 71, 1, 65024, gate="none", fused=True, norms="attn_norm",
        biased="norms",
    ),
    Plain(
        "falcon-40b", "falcon", 60, 8192, 32768, 128, 8, 65024, gate="none", fused=True, norms="attn_norm attn_norm_2",
        biased="norms",
    ),
    Plain("bloom-7b1", "bloom", 30, 4096, 16384, 32, 32, 250880, gate="none", fused=True, biased="all"),
    Plain(
        "mpt-7b", "mpt", 32, 4096, 16384, 32, 32, 50432, gate="none", fused=True,
        keys={"attention.max_alibi_bias": 8.0},
    ),
    Plain(
        "pythia-6.9b", "gptneox", 32, 4096, 16384, 32, 32, 50432, gate="none", fused=True, biased="all",
        keys={"use_parallel_residual": True},
    ),
    Plain(
        "gpt-neox-japanese-2.7b", "gptneox", 32, 2560, 10240, 32, 32, 32000, gate="none", fused=True, biased="all",
        keys={"use_parallel_residual": False},
    ),
    Plain("stablelm-2-1.6b", "stablelm", 24, 2048, 5632, 32, 32, 100352, biased="norms"),
    Plain("stablelm-zephyr-3b", "stablelm", 32, 2560, 6912, 32, 32, 50304, biased="norms"),
    Plain("starcoder-15b", "starcoder", 40, 6144, 24576, 48, 1, 49152, gate="none", fused=True, biased="all"),
    Plain("starcoder2-3b", "starcoder2", 30, 3072, 12288, 24, 2, 49152, gate="none", biased="all"),
    Plain("gpt2-medium", "gpt2", 24, 1024, 4096, 16, 16, 50257, gate="none", fused=True, biased="all"),
    Plain("command-r-35b", "command-r", 40, 8192, 22528, 64, 64, 256000, tied=True, norms="attn_norm"),
    Plain(
        "command-r7b", "cohere2", 32, 4096, 14336, 32, 8, 256000, tied=True, norms="attn_norm",
        keys={"attention.sliding_window": 4096, "logit_scale": 0.25},
    ),
    Plain("glm-4-9b", "chatglm", 40, 4096, 13696, 32, 2, 151552, gate="joined", fused=True),
    Plain("glm-4-9b-0414", "glm4", 40, 4096, 13696, 32, 2, 151552, gate="joined", norms=_SANDWICH),
    Plain("glm-4-32b-0414", "glm4", 61, 6144, 23040, 48, 2, 151552, length=128, gate="joined", norms=_SANDWICH),
    Plain("minitron-4b", "nemotron", 32, 3072, 9216, 24, 8, 256000, length=128, gate="none", biased="norms"),
    Plain("internlm2-7b", "internlm2", 32, 4096, 14336, 32, 8, 92544),
    Plain("exaone-3.5-7.8b", "exaone", 32, 4096, 14336, 32, 8, 102400),
    Plain("baichuan2-7b", "baichuan", 32, 4096, 11008, 32, 32, 125696),
    Plain("baichuan2-13b", "baichuan", 40, 5120, 13696, 40, 40, 125696),
    Plain(
        "seed-oss-36b", "seed_oss", 64, 5120, 27648, 80, 8, 155136, length=128, norms="attn_norm post_attention_norm",
        biased="qkv",
    ),
    Plain("olmo-7b", "olmo", 32, 4096, 11008, 32, 32, 50304, norms=""),
    Plain("codeshell-7b", "codeshell", 42, 4096, 16384, 32, 8, 70144, gate="none", biased="all"),
    Plain("orion-14b", "orion", 40, 5120, 15360, 40, 40, 84608, biased="norms"),
    Plain("xverse-7b", "xverse", 32, 4096, 11008, 32, 32, 100534),
    Plain("jais-13b", "jais", 40, 5120, 13653, 40, 40, 84992, fused=True, biased="all"),
    Plain("jais-2-8b", "jais2", 32, 3328, 26624, 26, 26, 150272, length=128, gate="none", biased="all"),
    Plain("minicpm-2b", "minicpm", 40, 2304, 5760, 36, 36, 122753, tied=True),
    Plain("granite-3.3-8b", "granite", 40, 4096, 12800, 32, 8, 49159, tied=True, keys=_GRANITE),
    Plain("afm-4.5b", "arcee", 36, 2560, 18432, 20, 4, 128004, length=128, gate="none"),
    Plain("apertus-8b", "apertus", 32, 4096, 21504, 32, 8, 131072, gate="none", normed_heads=True, keys=_XIELU),
    Plain(
        "bitnet-2b-4t", "bitnet", 30, 2560, 6912, 20, 5, 128256, tied=True,
        norms="attn_norm attn_sub_norm ffn_norm ffn_sub_norm",
    ),
    Plain("refact-1.6b", "refact", 24, 2048, 5632, 32, 1, 49216),
    Plain("plamo-13b", "plamo", 40, 5120, 13824, 40, 40, 50432, norms="attn_norm"),
    Plain("hunyuan-7b", "hunyuan-dense", 32, 4096, 14336, 32, 8, 128167, length=128, normed_heads=True),
    Plain("dream-7b", "dream", 28, 3584, 18944, 28, 4, 152064, biased="qkv"),
    Plain("llada-8b", "llada", 32, 4096, 12288, 32, 32, 126464),
)  # fmt: skip


def models() -> list[Made]:
    """All of them."""
    made_models = [plain.made() for plain in PLAIN]
    for model in made_models:
        _complete(model)
    return made_models


def _complete(model: Made) -> None:
    """What only one architecture has."""
    width, vocabulary = model.tensors["token_embd.weight"]
    if model.architecture in ("starcoder", "gpt2"):
        model.keys["context_length"] = 8192 if model.architecture == "starcoder" else 1024
        model.tensors["position_embd.weight"] = (width, int(str(model.keys["context_length"])))
    if model.architecture == "bloom":
        model.tensors |= {"token_embd_norm.weight": (width,), "token_embd_norm.bias": (width,)}
    if model.architecture == "phi2":
        model.tensors["output.bias"] = (vocabulary,)
    if model.architecture == "olmo":
        del model.tensors["output_norm.weight"]
    for number in range(int(str(model.keys["block_count"]))):
        if model.architecture == "bitnet":
            model.tensors[f"blk.{number}.ffn_sub_norm.weight"] = (6912,)
        if model.architecture == "qwen":
            model.block(number, gated(width, 11008))
            model.tensors[f"blk.{number}.attn_qkv.bias"] = (3 * width,)
