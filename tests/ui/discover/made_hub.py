"""Repositories as they are on the Hub, with true headers of a few KiB and sizes that are only claimed."""

from __future__ import annotations

from tests.fake_hub import FakeHub
from tests.fake_hub.examples import folder
from tests.fake_hub.repository import Repo
from tests.formats.made_gguf import gguf, tensor
from tests.library.made_folders import put_exl3, put_mlx
from tests.ui.made_library import keys

GIB, MIB = 1 << 30, 1 << 20

CARD = """---
license: apache-2.0
---
# Qwen3-8B GGUF

<p align="center"><img src="http://127.0.0.1:9/logo.png"></p>

Made with [llama.cpp](https://github.com/ggml-org/llama.cpp) out of the original weights.

| Quantisation | Bits |
|---|--:|
| Q4_K_M | 4.9 |
| Q8_0 | 8.5 |
"""
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
EIGHT = {"Q8_0": 8.11, "Q6_K": 6.26, "Q5_K_M": 5.45, "Q4_K_M": 4.68, "IQ4_XS": 4.25, "Q3_K_M": 3.84, "Q2_K": 3.06}
SMALL = {"Q8_0": 0.6, "Q4_K_M": 0.37}
FORTEEN = {"Q8_0": 14.6, "Q4_K_M": 8.38}


def gguf_repo(
    hub: FakeHub, repo_id: str, stem: str, sizes: dict[str, float], header: dict[str, object], **facts: object
) -> Repo:
    """One with a file for each quantisation, as large as they are."""
    base = str(facts.pop("base"))
    content = gguf(
        {**header, "tokenizer.chat_template": TEMPLATE},
        [tensor("blk.0.ffn_up.weight", (64, 64))],
        bytes(64 * 64 * 4),
    )
    repo = hub.add(
        repo_id,
        {"README.md": CARD, **{f"{stem}-{quant}.gguf": content for quant in sizes}},
        tags=("gguf", "license:apache-2.0", f"base_model:{base}", f"base_model:quantized:{base}"),
        pipeline_tag="text-generation",
        lastModified="2026-11-20T10:00:00.000Z",
        **facts,
    )
    for quant, gib in sizes.items():
        repo.claim(f"{stem}-{quant}.gguf", size=round(gib * GIB))
    return repo


def fill(hub: FakeHub) -> None:
    """Three base models, each with its repositories."""
    eight, small = keys("qwen3", 36, 40_960, 8, 128, 32), keys("qwen3", 28, 40_960, 8, 128, 16)
    forteen = keys("qwen3", 40, 40_960, 8, 128, 40)
    told = {"total": 8_190_735_360, "architecture": "qwen3", "context_length": 40_960}
    gguf_repo(
        hub, "unsloth/Qwen3-8B-GGUF", "Qwen3-8B", EIGHT, eight, base="Qwen/Qwen3-8B", downloads=912_000, gguf=told
    )
    gguf_repo(
        hub,
        "bartowski/Qwen_Qwen3-8B-GGUF",
        "Qwen_Qwen3-8B",
        {"Q4_K_M": 4.69, "Q8_0": 8.11},
        eight,
        base="Qwen/Qwen3-8B",
        downloads=240_000,
        gguf=told,
    )
    gguf_repo(
        hub,
        "ggml-org/Qwen3-0.6B-GGUF",
        "Qwen3-0.6B",
        SMALL,
        small,
        base="Qwen/Qwen3-0.6B",
        downloads=410_000,
        gguf={**told, "total": 596_000_000},
    )
    gguf_repo(
        hub,
        "Qwen/Qwen3-14B-GGUF",
        "Qwen3-14B",
        FORTEEN,
        forteen,
        base="Qwen/Qwen3-14B",
        downloads=130_000,
        gated="manual",
        gguf={**told, "total": 14_768_307_200},
    )
    _exl3(hub)
    _mlx(hub)
    hub.add(
        "sentence-transformers/all-MiniLM-L6-v2-GGUF",
        {"README.md": CARD},
        tags=("gguf",),
        pipeline_tag="sentence-similarity",
        downloads=5_000_000,
    )


def _exl3(hub: FakeHub) -> None:
    tags = ("exl3", "license:apache-2.0", "base_model:Qwen/Qwen3-8B", "base_model:quantized:Qwen/Qwen3-8B")
    repo = hub.add(
        "turboderp/Qwen3-8B-exl3",
        {"README.md": CARD},
        tags=tags,
        pipeline_tag="text-generation",
        downloads=9_000,
    )
    for branch, bits in {"4.0bpw": 4.0, "6.0bpw": 6.0}.items():
        files = folder(put_exl3, bits)
        repo.commit({"README.md": CARD, **files}, branch)


def _mlx(hub: FakeHub) -> None:
    tags = ("mlx", "license:apache-2.0", "base_model:Qwen/Qwen3-8B", "base_model:quantized:Qwen/Qwen3-8B")
    hub.add(
        "mlx-community/Qwen3-8B-4bit",
        {"README.md": CARD, **folder(put_mlx, shards=2)},
        tags=tags,
        pipeline_tag="text-generation",
        library_name="mlx",
        downloads=52_000,
    )
