"""The list of tensors in a GGUF header: where each lies, and whether it lies within the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from weighbridge.base.errors import BadFile
from weighbridge.formats.cursor import HEADER_LIMIT_BYTES, Cursor, LimitReached
from weighbridge.formats.dtypes import BY_NUMBER
from weighbridge.formats.ggml_types import TYPES, tensor_bytes, whole_blocks

MAX_TENSORS = 200_000
MAX_NAME_BYTES = 1_024
MAX_DIMENSIONS = 8
MAX_ELEMENTS = 1 << 62


@dataclass(frozen=True)
class Tensor:
    """One tensor. `offset` counts from the start of the weights; `size_bytes` is None for a type that is not known.

    `type_id` is ggml's number, or one below zero for a type of a safetensors file (`dtypes`).
    """

    name: str
    type_id: int
    shape: tuple[int, ...]
    offset: int
    size_bytes: int | None

    @property
    def type_name(self) -> str | None:
        """ "Q4_K", "BF16", or None for a type that is not known."""
        kind = TYPES.get(self.type_id)
        return kind.name if kind else BY_NUMBER.get(self.type_id)

    @property
    def elements(self) -> int:
        """How many numbers it holds; 0 where a dimension is 0."""
        return prod(self.shape)


def read_tensors(cursor: Cursor, count: int) -> tuple[Tensor, ...]:
    """The `count` tensor records that follow the keys. Raises BadFile for a count, name or shape that cannot be."""
    if count > MAX_TENSORS:
        raise BadFile("gguf.count", what="tensors", count=count)
    tensors: list[Tensor] = []
    names: set[str] = set()
    try:
        for _ in range(count):
            tensor = _read_tensor(cursor)
            if tensor.name in names:
                raise BadFile("gguf.duplicate_tensor", tensor=tensor.name)
            names.add(tensor.name)
            tensors.append(tensor)
    except LimitReached:
        raise BadFile("gguf.header_too_long", limit_bytes=HEADER_LIMIT_BYTES) from None
    return tuple(tensors)


def _read_tensor(cursor: Cursor) -> Tensor:
    length = cursor.u64()
    if length > MAX_NAME_BYTES:
        raise BadFile("gguf.length", length=length)
    name = cursor.take(length).decode("utf-8", errors="replace")
    dimensions = cursor.u32()
    if dimensions > MAX_DIMENSIONS:
        raise BadFile("gguf.tensor_shape", tensor=name, shape=f"{dimensions} dimensions")
    shape = tuple(cursor.u64() for _ in range(dimensions))
    type_id, offset = cursor.u32(), cursor.u64()
    kind = TYPES.get(type_id)
    if prod(shape) > MAX_ELEMENTS or (kind is not None and not whole_blocks(kind, shape)):
        raise BadFile("gguf.tensor_shape", tensor=name, shape=" x ".join(map(str, shape)))
    return Tensor(name, type_id, shape, offset, tensor_bytes(type_id, shape))


def check_bounds(tensors: Sequence[Tensor], data_start: int, alignment: int, size_bytes: int | None) -> None:
    """Raise BadFile where a tensor is out of line, or ends after the file does (the file was cut short)."""
    end = data_start
    for tensor in tensors:
        if tensor.offset % alignment:
            raise BadFile("gguf.tensor_offset", tensor=tensor.name, offset=tensor.offset, alignment=alignment)
        if tensor.size_bytes:
            end = max(end, data_start + tensor.offset + tensor.size_bytes)
    if size_bytes is not None and end > size_bytes and any(tensor.size_bytes for tensor in tensors):
        raise BadFile("file.truncated", needed_bytes=end, size_bytes=size_bytes)
