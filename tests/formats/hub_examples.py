"""The shapes of real repositories: names of files as they are there, configs as their converters write them.

Sizes are made up where they do not matter, as are the numbers of shards where many are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from weighbridge.formats.variant import File, Hints, Reader

LLAMA_3_8B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "vocab_size": 128256,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
}


@dataclass(frozen=True)
class Repository:
    """A repository's files at one revision."""

    id: str
    files: tuple[File, ...]
    json: dict[str, dict[str, Any]] = field(default_factory=dict)
    branch: str = "main"
    tags: frozenset[str] = frozenset()
    parameters: int | None = None

    def hints(self) -> Hints:
        return Hints(self.id, self.branch, self.tags, parameters=self.parameters)

    def reader(self) -> Reader:
        return Reader(json=self.json.get)


def repository(
    id: str,
    *names: str | tuple[str, int],
    json: dict[str, dict[str, Any]] | None = None,
    branch: str = "main",
    tags: tuple[str, ...] = (),
    parameters: int | None = None,
) -> Repository:
    told = [(name, 1000) if isinstance(name, str) else name for name in names]
    told += [(name, 500) for name in json or {}]
    return Repository(id, tuple(File(*each) for each in told), json or {}, branch, frozenset(tags), parameters)


def shards(pattern: str, count: int, first: int = 1) -> list[str]:
    """ "m-{:05}-of-{:05}.gguf" as all of a set."""
    return [pattern.format(number, count) for number in range(first, first + count)]


def weights(count: int, folder: str = "") -> list[str]:
    if count == 1:
        return [f"{folder}model.safetensors"]
    return shards(folder + "model-{:05}-of-{:05}.safetensors", count)


def config(quantisation: dict[str, Any] | None = None, **more: Any) -> dict[str, dict[str, Any]]:
    values: dict[str, Any] = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **more}
    return {"config.json": values | ({"quantization_config": quantisation} if quantisation else {})}


def exl3(bits: float, head_bits: int, **more: Any) -> dict[str, Any]:
    return {"quant_method": "exl3", "version": "0.0.6", "bits": bits, "head_bits": head_bits, **more}


QUANTS = [
    "IQ4_NL",
    "IQ4_XS",
    "Q2_K",
    "Q2_K_L",
    "Q3_K_M",
    "Q3_K_S",
    "Q4_0",
    "Q4_1",
    "Q4_K_M",
    "Q4_K_S",
    "Q5_K_M",
    "Q5_K_S",
    "Q6_K",
    "Q8_0",
    "UD-IQ1_M",
    "UD-IQ1_S",
    "UD-IQ2_M",
    "UD-IQ2_XXS",
    "UD-IQ3_XXS",
    "UD-Q2_K_XL",
    "UD-Q3_K_XL",
    "UD-Q4_K_XL",
    "UD-Q5_K_XL",
    "UD-Q6_K_XL",
]

UNSLOTH = repository(
    "unsloth/Qwen3.8-27B-GGUF",
    *(f"Qwen3.8-27B-{quant}.gguf" for quant in QUANTS),
    *shards("BF16/Qwen3.8-27B-BF16-{:05}-of-{:05}.gguf", 2),
    "mmproj-BF16.gguf",
    "mmproj-F16.gguf",
    "imatrix_unsloth.gguf",
    "MTP/mtp-Qwen3.8-27B-Q8_0.gguf",
    "README.md",
    json=config(),
)

W4A16 = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {
        "group_0": {"weights": {"num_bits": 4, "group_size": 32, "type": "int"}, "input_activations": None}
    },
}

MIXED = {
    "quant_method": "modelopt",
    "quant_algo": "MIXED_PRECISION",
    "quantized_layers": {
        **{f"model.layers.{layer}.self_attn.q_proj": {"quant_algo": "FP8"} for layer in range(208)},
        **{
            f"model.layers.{layer}.mlp.up_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16} for layer in range(193)
        },
    },
}

FP8 = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}

MLX_MXFP4_Q8 = {
    "quantization": {
        "group_size": 32,
        "bits": 4,
        "mode": "mxfp4",
        "model.embed_tokens": {"group_size": 64, "bits": 8},
        "model.layers.0.self_attn.q_proj": {"group_size": 64, "bits": 8},
        "model.layers.0.mlp.router": {"group_size": 64, "bits": 8},
    }
}
