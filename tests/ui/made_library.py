"""A folder of models that look real: headers by hand, sizes by sparse files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.formats.made_gguf import gguf

GIB = 1 << 30
MIB = 1 << 20


def keys(architecture: str, layers: int, context: int, kv_heads: int, head: int, heads: int) -> dict[str, object]:
    """The keys that a memory figure needs."""
    return {
        "general.architecture": architecture,
        "general.type": "model",
        f"{architecture}.block_count": layers,
        f"{architecture}.context_length": context,
        f"{architecture}.embedding_length": heads * head,
        f"{architecture}.attention.head_count": heads,
        f"{architecture}.attention.head_count_kv": kv_heads,
        f"{architecture}.attention.key_length": head,
        f"{architecture}.attention.value_length": head,
        "tokenizer.ggml.model": "gpt2",
    }


def put(folder: Path, name: str, header: dict[str, object], size_bytes: int) -> Path:
    """A model file that takes no room on the disk."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(gguf(header))
        file.truncate(size_bytes)
    return path


def fill(folder: Path) -> None:
    """Seven models: plain ones, one with a window, one of an unknown kind, one damaged."""
    qwen8 = keys("qwen3", 36, 40_960, 8, 128, 32)
    put(folder, "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf", qwen8, round(4.68 * GIB))
    put(folder, "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf", qwen8, round(8.11 * GIB))
    put(folder, "Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf", keys("qwen3", 28, 40_960, 8, 128, 16), 610 * MIB)
    put(folder, "bartowski/Llama-3.2-3B-Q6_K.gguf", keys("llama", 28, 131_072, 8, 128, 24), round(2.46 * GIB))
    gemma = keys("gemma3", 34, 131_072, 4, 256, 8) | {"gemma3.attention.sliding_window": 1024}
    put(folder, "google/gemma-3-4b-it-q4_0.gguf", gemma, round(2.93 * GIB))
    put(folder, "tii/Falcon-H1-1B-Q5_K_M.gguf", keys("falcon-h1", 24, 131_072, 2, 64, 8), round(1.05 * GIB))
    damaged = folder / "old" / "Broken-7B.Q4_0.gguf"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")


def fill_programs(home: Path) -> None:
    """Models of LM Studio and of Ollama below a home folder, one of them a double of ours, and a projector of ours."""
    projector = {"general.architecture": "clip", "general.type": "mmproj", "clip.vision.projection_dim": 4096}
    put(home / "data" / "models", "Qwen/Qwen3-8B-GGUF/mmproj-Qwen3-8B-F16.gguf", projector, 800 * MIB)
    studio, ollama = home / ".lmstudio" / "models" / "lmstudio-community", home / ".ollama" / "models"
    template = {
        "tokenizer.chat_template": "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"
    }
    gemma = keys("gemma3", 48, 131_072, 8, 256, 16) | template
    put(studio, "gemma-3-12b-it-GGUF/gemma-3-12b-it-Q4_K_M.gguf", gemma, round(6.8 * GIB))
    put(studio, "Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf", keys("qwen3", 36, 40_960, 8, 128, 32), round(8.11 * GIB))
    digest = "ab" * 32
    blob = put(ollama / "blobs", f"sha256-{digest}", keys("llama", 32, 131_072, 8, 128, 32), round(4.58 * GIB))
    layer = {
        "mediaType": "application/vnd.ollama.image.model",
        "digest": f"sha256:{digest}",
        "size": blob.stat().st_size,
    }
    manifest = ollama / "manifests" / "registry.ollama.ai" / "library" / "llama3.1" / "8b"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "config": {}, "layers": [layer]}), encoding="utf-8")
