"""GGUF files made by hand, byte by byte, for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

U32, F32, BOOL, STRING, ARRAY, U64 = 4, 6, 7, 8, 9, 10


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def head(tensors: int, keys: int, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def value(content: object) -> bytes:
    """A typed value: str, bool, int (u32), float, or a list of one of them."""
    if isinstance(content, str):
        return struct.pack("<I", STRING) + text(content)
    if isinstance(content, bool):
        return struct.pack("<I?", BOOL, content)
    if isinstance(content, int):
        return struct.pack("<II", U32, content)
    if isinstance(content, float):
        return struct.pack("<If", F32, content)
    assert isinstance(content, list)
    items = [value(item) for item in content]
    kind = items[0][:4] if items else struct.pack("<I", U32)
    return struct.pack("<I", ARRAY) + kind + struct.pack("<Q", len(items)) + b"".join(item[4:] for item in items)


def tensor(name: str, shape: Sequence[int], type_id: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, type_id, offset)


def gguf(
    keys: Mapping[str, object] | None = None, tensors: Sequence[bytes] = (), data: bytes = b"", version: int = 3
) -> bytes:
    """A whole file: keys, tensor records, padding, weights."""
    pairs = keys or {}
    body = head(len(tensors), len(pairs), version)
    body += b"".join(text(key) + value(content) for key, content in pairs.items())
    body += b"".join(tensors)
    if data:
        body += bytes(-len(body) % 32) + data
    return body


LLAMA = {
    "general.architecture": "llama",
    "general.type": "model",
    "general.name": "Tiny",
    "general.license": "mit",
    "llama.block_count": 2,
    "llama.context_length": 8192,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "general.file_type": 15,
    "tokenizer.ggml.model": "gpt2",
}
"""The keys of a small model in the order in which a converter writes them."""
