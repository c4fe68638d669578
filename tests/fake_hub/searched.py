"""Repositories as a search for "qwen3" finds them: one model in every format, another, and what is no chat model."""

from __future__ import annotations

from typing import Any

from tests.fake_hub.hub import FakeHub

BASE = "Qwen/Qwen3-8B"
PARAMETERS = 8_190_735_360
PACKED = {"parameters": {"U32": 1_023_737_856, "BF16": 255_934_464}, "total": 1_279_672_320}
"""What the Hub counts of four bits each, eight of them in one number."""

_OF_BASE = (f"base_model:{BASE}", f"base_model:quantized:{BASE}", "license:apache-2.0")
_GGUF = {"total": PARAMETERS, "architecture": "qwen3", "context_length": 40_960}


def add_family(hub: FakeHub) -> None:
    """The most downloaded first, each with a thousand less than the one before."""
    of_base = (f"base_model:{BASE}-Base", f"base_model:finetune:{BASE}-Base", "license:apache-2.0")
    whole = {"parameters": {"BF16": PARAMETERS}, "total": PARAMETERS}
    chat: dict[str, Any] = {"pipeline_tag": "text-generation"}
    rows: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...] = (
        (BASE, ("safetensors", *of_base), {"safetensors": whole, **chat}),
        ("unsloth/Qwen3-8B-GGUF", ("gguf", *_OF_BASE), {"gguf": _GGUF, "likes": 300, **chat}),
        ("mlx-community/Qwen3-8B-4bit", ("mlx", "safetensors", *_OF_BASE), {"safetensors": PACKED, **chat}),
        ("turboderp/Qwen3-8B-exl3", ("exl3", *_OF_BASE), {}),
        ("someone/qwen3_8b.i1-GGUF", ("gguf",), {"gguf": _GGUF, "gated": "manual"}),
        ("someone/Qwen3-0.6B-GGUF", ("gguf", "license:mit"), {"gguf": {**_GGUF, "total": 596_049_920}}),
        ("Qwen/Qwen3-Embedding-0.6B", ("safetensors",), {"pipeline_tag": "feature-extraction"}),
    )
    for number, (name, tags, facts) in enumerate(rows):
        told = {"downloads": (len(rows) - number) * 1000, **facts}
        hub.add(name, {f"{name.rpartition('/')[2]}.gguf": b"GGUF", "README.md": "# Qwen"}, tags=tags, **told)
