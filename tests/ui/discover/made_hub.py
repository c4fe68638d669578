"""Repositories as they are on the Hub: whole headers, true sizes, weights that are made when they are asked for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from math import prod

from tests.fake_hub import FakeHub, Made
from tests.fake_hub.examples import projector_file
from tests.fake_hub.repository import Files, Repo
from tests.formats.made_gguf import gguf, tensor
from tests.formats.made_safetensors import BYTES, head
from tests.library.made_folders import MLX_4BIT

from weighbridge.formats.ggml_types import TYPES

CARD = """---
license: apache-2.0
---
# {name}

<p align="center"><img src="http://127.0.0.1:9/logo.png"></p>

Made with [llama.cpp](https://github.com/ggml-org/llama.cpp) out of the original weights. Non-thinking mode is chosen
by `enable_thinking=False`.

| Quantisation | Bits | Use |
|---|--:|---|
| Q4_K_M | 4.9 | most machines |
| Q8_0 | 8.5 | near lossless |
"""
TEMPLATE = (
    "{% for message in messages %}\n<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
)
QUANTS = {
    "Q8_0": (8, 7),
    "Q6_K": (14, 18),
    "Q5_K_M": (13, 17),
    "Q4_K_M": (12, 15),
    "Q3_K_M": (11, 12),
    "Q2_K": (10, 10),
}
"""The type of its matrices, and what `general.file_type` says."""


@dataclass(frozen=True)
class Dense:
    """The dimensions of a dense model."""

    name: str
    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int = 8
    vocabulary: int = 151_936
    head: int = 128

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Of one layer."""
        wide, narrow = self.heads * self.head, self.kv_heads * self.head
        return {
            "attn_q": (self.hidden, wide),
            "attn_k": (self.hidden, narrow),
            "attn_v": (self.hidden, narrow),
            "attn_output": (wide, self.hidden),
            "ffn_gate": (self.hidden, self.inner),
            "ffn_up": (self.hidden, self.inner),
            "ffn_down": (self.inner, self.hidden),
        }

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.layers * sum(map(prod, self.matrices.values())) + 2 * self.hidden * self.vocabulary

    @property
    def config(self) -> dict[str, object]:
        """As a folder has it."""
        return {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "num_hidden_layers": self.layers,
            "hidden_size": self.hidden,
            "vocab_size": self.vocabulary,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head,
            "intermediate_size": self.inner,
            "max_position_embeddings": 40_960,
            "tie_word_embeddings": False,
            "torch_dtype": "bfloat16",
        }


EIGHT = Dense("Qwen3-8B", 36, 4096, 12_288, 32)
SMALL = Dense("Qwen3-0.6B", 28, 1024, 3072, 16)
FOUR = Dense("Qwen3-4B-Instruct-2507", 36, 2560, 9728, 32)
FOURTEEN = Dense("Qwen3-14B", 40, 5120, 17_408, 40)
LARGE = Dense("Qwen3-32B", 64, 5120, 25_600, 64)


def fill(hub: FakeHub) -> None:
    """Five base models, one of them in three formats, one that asks for its licence, and one that is no chat model."""
    _gguf(hub, "unsloth/Qwen3-8B-GGUF", EIGHT, tuple(QUANTS), downloads=912_000)
    _gguf(hub, "bartowski/Qwen_Qwen3-8B-GGUF", EIGHT, ("Q8_0", "Q4_K_M"), prefix="Qwen_", downloads=240_000)
    _gguf(hub, "ggml-org/Qwen3-0.6B-GGUF", SMALL, ("Q8_0", "Q4_K_M"), downloads=410_000)
    _gguf(hub, "unsloth/Qwen3-4B-Instruct-2507-GGUF", FOUR, tuple(QUANTS), projector=True, downloads=655_000)
    _gguf(hub, "Qwen/Qwen3-14B-GGUF", FOURTEEN, ("Q8_0", "Q4_K_M"), gated="manual", downloads=130_000)
    _gguf(hub, "unsloth/Qwen3-32B-GGUF", LARGE, ("Q8_0", "Q4_K_M"), downloads=98_000)
    _exl3(hub)
    _mlx(hub)
    hub.add(
        "sentence-transformers/all-MiniLM-L6-v2-GGUF",
        {"README.md": "# Sentences"},
        tags=("gguf",),
        pipeline_tag="sentence-similarity",
        downloads=5_000_000,
    )


def _tags(base: str, *more: str) -> tuple[str, ...]:
    return (*more, "license:apache-2.0", f"base_model:{base}", f"base_model:quantized:{base}")


def _gguf(
    hub: FakeHub,
    repo_id: str,
    made: Dense,
    quants: tuple[str, ...],
    *,
    downloads: int,
    prefix: str = "",
    gated: str | None = None,
    projector: bool = False,
) -> None:
    files: Files = {f"{prefix}{made.name}-{quant}.gguf": gguf_content(made, quant) for quant in quants}
    seeing: Files = {"mmproj-F16.gguf": projector_file()} if projector else {}
    repo = hub.add(
        repo_id,
        {"README.md": CARD.format(name=f"{made.name} GGUF"), **files, **seeing},
        tags=_tags(f"Qwen/{made.name}", "gguf"),
        gated=gated,
        pipeline_tag="text-generation",
        lastModified="2026-11-20T10:00:00.000Z",
        downloads=downloads,
        gguf={"total": made.parameters, "architecture": "qwen3", "context_length": 40_960},
    )
    name_hashes(repo, "main")


def add_many(hub: FakeHub, repo_id: str, count: int) -> None:
    """A repository of `count` choices, each a model of its own name."""
    content = gguf_content(SMALL, "Q4_K_M")
    repo = hub.add(repo_id, {f"M{at:05}-Q4_K_M.gguf": content for at in range(count)}, tags=("gguf",))
    name_hashes(repo, "main")


@cache
def gguf_content(made: Dense, quant: str) -> Made:
    """A file with all tensors in its header."""
    type_id, file_type = QUANTS[quant]
    keys: dict[str, object] = {
        "general.architecture": "qwen3",
        "general.type": "model",
        "general.name": made.name,
        "general.file_type": file_type,
        "qwen3.block_count": made.layers,
        "qwen3.context_length": 40_960,
        "qwen3.embedding_length": made.hidden,
        "qwen3.feed_forward_length": made.inner,
        "qwen3.attention.head_count": made.heads,
        "qwen3.attention.head_count_kv": made.kv_heads,
        "qwen3.attention.key_length": made.head,
        "qwen3.attention.value_length": made.head,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.chat_template": TEMPLATE,
    }
    shapes = {"token_embd.weight": (made.hidden, made.vocabulary), "output.weight": (made.hidden, made.vocabulary)}
    for layer in range(made.layers):
        shapes |= {f"blk.{layer}.{name}.weight": shape for name, shape in made.matrices.items()}
    records, end = [], 0
    for name, shape in shapes.items():
        records.append(tensor(name, shape, type_id, end))
        size = prod(shape) // TYPES[type_id].block * TYPES[type_id].block_bytes
        end += size + -size % 32
    begin = gguf(keys, records, b"\0")[:-1]
    return Made(len(begin) + end, head=begin)


def _exl3(hub: FakeHub) -> None:
    base = "Qwen/Qwen3-8B"
    repo = hub.add(
        "turboderp/Qwen3-8B-exl3",
        {"README.md": CARD.format(name="Qwen3-8B EXL3")},
        tags=_tags(base, "exl3"),
        pipeline_tag="text-generation",
        downloads=9_000,
    )
    for bits in (4.0, 6.0):
        told = {"quant_method": "exl3", "version": "0.0.6", "bits": bits, "head_bits": 6}
        config = json.dumps({**EIGHT.config, "quantization_config": told})
        shapes = {
            f"model.layers.{layer}.{name}.trellis": ("I16", (rows // 16, columns // 16, int(bits * 16)))
            for layer in range(EIGHT.layers)
            for name, (rows, columns) in EIGHT.matrices.items()
        }
        shapes["model.embed_tokens.weight"] = ("BF16", (EIGHT.vocabulary, EIGHT.hidden))
        repo.commit({"config.json": config, "model.safetensors": _safetensors(shapes)}, f"{bits}bpw")
        name_hashes(repo, f"{bits}bpw")


def _mlx(hub: FakeHub) -> None:
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {}
    matrices = {
        f"model.layers.{at}.{name}": shape for at in range(EIGHT.layers) for name, shape in EIGHT.matrices.items()
    }
    both = (EIGHT.hidden, EIGHT.vocabulary)
    for name, (rows, columns) in {**matrices, "model.embed_tokens": both, "lm_head": both}.items():
        shapes[f"{name}.weight"] = ("U32", (columns, rows // 8))
        shapes |= {f"{name}.{part}": ("F16", (columns, rows // 64)) for part in ("scales", "biases")}
    config = {**EIGHT.config, "quantization": MLX_4BIT, "quantization_config": MLX_4BIT}
    repo = hub.add(
        "mlx-community/Qwen3-8B-4bit",
        {
            "README.md": CARD.format(name="Qwen3-8B MLX"),
            "config.json": json.dumps(config),
            "tokenizer_config.json": json.dumps({"chat_template": TEMPLATE}),
            "model.safetensors": _safetensors(shapes),
        },
        tags=_tags("Qwen/Qwen3-8B", "mlx"),
        pipeline_tag="text-generation",
        library_name="mlx",
        downloads=52_000,
    )
    name_hashes(repo, "main")


def _safetensors(shapes: dict[str, tuple[str, tuple[int, ...]]]) -> Made:
    values: dict[str, object] = {}
    end = 0
    for name, (kind, shape) in shapes.items():
        begin, end = end, end + BYTES[kind] * prod(shape)
        values[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [begin, end]}
    begun = head(values)
    return Made(len(begun) + end, head=begun)


def name_hashes(repo: Repo, branch: str) -> None:
    """Large files are never read whole here, so that what the Hub says of their hash is made."""
    for path, entry in repo.branches[branch].entries.items():
        if entry.large:
            repo.claim(path, branch, sha256=hashlib.sha256(f"{repo.id}{branch}{path}".encode()).hexdigest())
