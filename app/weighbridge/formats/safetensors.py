"""A safe reader of the header of a safetensors file: which tensors it holds, of what type, shape and size.

Nothing in the file is trusted: the header is bounded, each number is checked, and each tensor must lie within the file,
apart from all others. Source of the layout: the safetensors format (8 bytes of length, JSON, weights).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.formats.dtypes import BY_NAME, UNKNOWN, bits_of
from weighbridge.formats.gguf_tensors import MAX_DIMENSIONS, MAX_ELEMENTS, MAX_TENSORS, Tensor
from weighbridge.formats.plain_json import json_object
from weighbridge.formats.sniff import SNIFF_BYTES, require_weights
from weighbridge.formats.source import ByteSource

HEADER_LIMIT_BYTES = 25_000_000
"""As the Hub's own reader has it."""

MAX_NAME, MAX_VALUES = 512, 4_000_000
_LENGTH_BYTES = 8
_METADATA = "__metadata__"


@dataclass(frozen=True)
class SafetensorsHeader:
    """The tensors of one file, in the order of their bytes, and what its maker wrote beside them."""

    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, str]


def read_safetensors(source: ByteSource, name: str) -> SafetensorsHeader:
    """The header of the safetensors file `name`.

    Raises BadFile: "file.*" for what is no whole safetensors file, "safetensors.*" for a damaged header.
    """
    length = _header_length(source.read(0, SNIFF_BYTES), name)
    data_start = _LENGTH_BYTES + length
    _require_size(source, data_start)
    content = source.read(_LENGTH_BYTES, length)
    if len(content) < length:
        raise BadFile("file.truncated", needed_bytes=data_start, size_bytes=_LENGTH_BYTES + len(content))
    values = json_object(content, name, MAX_VALUES)
    metadata = _metadata(values.pop(_METADATA, {}))
    if len(values) > MAX_TENSORS:
        raise BadFile("safetensors.count", count=len(values))
    tensors = sorted((_tensor(key, value) for key, value in values.items()), key=_place)
    _check_places(tensors, source, data_start)
    return SafetensorsHeader(tuple(tensors), metadata)


def _header_length(start: bytes, name: str) -> int:
    """What the first bytes claim. Looked at before anything else: a length can begin as a web page does."""
    length = int.from_bytes(start[:_LENGTH_BYTES], "little")
    if start[_LENGTH_BYTES : _LENGTH_BYTES + 1] == b"{" and length <= HEADER_LIMIT_BYTES:
        return length
    require_weights(start)
    raise BadFile("safetensors.none", name=name)


def _require_size(source: ByteSource, needed_bytes: int) -> None:
    if source.size_bytes is not None and needed_bytes > source.size_bytes:
        raise BadFile("file.truncated", needed_bytes=needed_bytes, size_bytes=source.size_bytes)


def _metadata(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}


def _tensor(name: str, value: Any) -> Tensor:
    shown = printable(name[:MAX_NAME])
    if len(name) > MAX_NAME or not isinstance(value, dict):
        raise BadFile("safetensors.tensor", tensor=shown)
    dtype, shape, place = value.get("dtype"), _counts(value.get("shape")), _counts(value.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or place is None or len(place) != 2:
        raise BadFile("safetensors.tensor", tensor=shown)
    size_bytes, bits = place[1] - place[0], bits_of(dtype)
    if size_bytes < 0 or (bits is not None and prod(shape) * bits != size_bytes * 8):
        raise BadFile("safetensors.tensor", tensor=shown)
    return Tensor(shown, BY_NAME.get(dtype, UNKNOWN), shape, place[0], size_bytes)


def _counts(value: object) -> tuple[int, ...] | None:
    """`value` where it is a short list of whole numbers from 0 up."""
    if not isinstance(value, list) or len(value) > MAX_DIMENSIONS:
        return None
    sound = all(type(number) is int and 0 <= number <= MAX_ELEMENTS for number in value)
    return tuple(value) if sound else None


def _place(tensor: Tensor) -> tuple[int, int]:
    return tensor.offset, tensor.size_bytes or 0


def _check_places(tensors: Sequence[Tensor], source: ByteSource, data_start: int) -> None:
    """No two tensors may share a byte, and the last one must end within the file."""
    for one, other in pairwise(tensors):
        if one.offset + (one.size_bytes or 0) > other.offset:
            raise BadFile("safetensors.overlap", tensor=other.name)
    if tensors:
        _require_size(source, data_start + max(tensor.offset + (tensor.size_bytes or 0) for tensor in tensors))
