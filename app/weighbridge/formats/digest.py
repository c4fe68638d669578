"""A `ModelInfo` as bytes, to be kept between two starts: its own values as JSON, compressed.

What comes back is looked at as if it came from a stranger: damaged bytes are None, never an error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from weighbridge.base.printable import encodable
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf_tensors import MAX_TENSORS, Tensor
from weighbridge.formats.model import ModelInfo

VERSION = 1
"""Raised whenever what is kept, or what it means, changes: older entries are then missing."""

MAX_BYTES = 64 << 20
_LEVEL = 3
_LISTS = ("heads", "kv_heads", "split")
_PLAIN = tuple(field.name for field in fields(ModelInfo) if field.name not in (*_LISTS, "kind", "metadata", "tensors"))


def pack(info: ModelInfo) -> bytes:
    """`info` as bytes, tensors included."""
    values: dict[str, Any] = {name: getattr(info, name) for name in (*_PLAIN, *_LISTS)}
    values |= {"version": VERSION, "kind": info.kind.value, "metadata": dict(info.metadata)}
    if info.tensors is not None:
        values["tensors"] = [
            [tensor.name, tensor.type_id, tensor.shape, tensor.offset, tensor.size_bytes] for tensor in info.tensors
        ]
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(encodable(text).encode(), _LEVEL)


def unpack(content: bytes) -> ModelInfo | None:
    """What `pack` packed; None for bytes that are damaged, too long, or of another version."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(content, MAX_BYTES)
        if not unpacker.eof:
            return None
        values = json.loads(text)
        return _info(values) if values["version"] == VERSION else None
    except (zlib.error, ValueError, TypeError, KeyError, RecursionError):
        return None


def _info(values: Mapping[str, Any]) -> ModelInfo:
    told = {name: values[name] for name in _PLAIN}
    told |= {name: None if values[name] is None else tuple(values[name]) for name in _LISTS}
    metadata = values["metadata"].items()
    told["metadata"] = {key: tuple(value) if isinstance(value, list) else value for key, value in metadata}
    tensors = values.get("tensors")
    told["tensors"] = None if tensors is None else _tensors(tensors)
    return ModelInfo(**told, kind=Kind(values["kind"]))


def _tensors(rows: Sequence[Sequence[Any]]) -> tuple[Tensor, ...]:
    if len(rows) > MAX_TENSORS:
        raise ValueError(len(rows))
    return tuple(
        Tensor(str(name), int(type_id), tuple(map(int, shape)), int(offset), None if size is None else int(size))
        for name, type_id, shape, offset, size in rows
    )
