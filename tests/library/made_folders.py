"""Folders of weights made for tests, as their converters write them, but tiny."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.made_safetensors import safetensors

CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 2,
    "hidden_size": 128,
    "vocab_size": 10,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "intermediate_size": 256,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MLX_4BIT = {"group_size": 64, "bits": 4}


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def put_weights(path: Path, tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = safetensors(tensors, metadata)
    path.write_bytes(content)
    return len(content)


def put_mlx(folder: Path, shards: int = 1, **config: Any) -> int:
    """A model of MLX at 4 bits. Returns the size of its weights."""
    write_json(folder / "config.json", CONFIG | {"quantization": MLX_4BIT, "quantization_config": MLX_4BIT} | config)
    write_json(folder / "tokenizer_config.json", {"chat_template": "{{ messages }}"})
    size, names = 0, {}
    for number in range(1, shards + 1):
        name = "model.safetensors" if shards == 1 else f"model-{number:05}-of-{shards:05}.safetensors"
        base = f"model.layers.{number - 1}.mlp.up_proj"
        tensors = {
            f"{base}.weight": ("U32", (64, 16)),
            f"{base}.scales": ("F16", (64, 2)),
            f"{base}.biases": ("F16", (64, 2)),
        }
        if number == 1:
            tensors |= {"model.embed_tokens.weight": ("BF16", (10, 128)), "lm_head.weight": ("BF16", (10, 128))}
        size += put_weights(folder / name, tensors, {"format": "mlx"})
        names |= dict.fromkeys(tensors, name)
    if shards > 1:
        write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": names})
    return size


def put_exl3(folder: Path, bits: float) -> int:
    """A model of EXL3. Returns the size of its weights."""
    told = {"quant_method": "exl3", "version": "0.0.6", "bits": bits, "head_bits": 6}
    write_json(folder / "config.json", CONFIG | {"quantization_config": told})
    base = "model.layers.0.mlp.up_proj"
    return put_weights(
        folder / "model.safetensors",
        {
            f"{base}.trellis": ("I16", (8, 4, int(bits * 16))),
            f"{base}.suh": ("F16", (128,)),
            f"{base}.svh": ("F16", (64,)),
        },
    )


def put_exl2(folder: Path, name: str = "output.safetensors") -> int:
    """A model of EXL2 whose config does not say so. Returns the size of its weights."""
    write_json(folder / "config.json", CONFIG)
    base = "model.layers.0.mlp.up_proj"
    return put_weights(folder / name, {f"{base}.q_weight": ("I32", (18, 64)), f"{base}.q_invperm": ("I16", (128,))})


def put_plain(folder: Path) -> int:
    """Weights as they were trained. Returns their size."""
    write_json(folder / "config.json", CONFIG)
    return put_weights(folder / "model.safetensors", {"model.layers.0.mlp.up_proj.weight": ("BF16", (64, 128))})


def put_openvino(folder: Path) -> int:
    """A model of OpenVINO. Returns its size."""
    write_json(folder / "config.json", CONFIG)
    for name, size in {"openvino_model.xml": 30, "openvino_model.bin": 500, "openvino_tokenizer.xml": 3}.items():
        (folder / name).write_bytes(bytes(size))
    return 533


def put_genai(folder: Path) -> int:
    """A model of onnxruntime-genai. Returns its size."""
    write_json(folder / "genai_config.json", {"model": {"type": "qwen3"}})
    (folder / "model.onnx").write_bytes(bytes(20))
    (folder / "model.onnx.data").write_bytes(bytes(700))
    return 720
