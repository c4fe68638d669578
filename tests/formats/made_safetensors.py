"""Safetensors files made by hand for tests."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence

BYTES = {"F32": 4, "F16": 2, "BF16": 2, "U32": 4, "I32": 4, "I16": 2, "U8": 1, "I8": 1, "F8_E4M3": 1, "I64": 8}


def head(values: object) -> bytes:
    """Length and JSON alone."""
    text = json.dumps(values).encode()
    return struct.pack("<Q", len(text)) + text


def safetensors(tensors: Mapping[str, tuple[str, Sequence[int]]], metadata: Mapping[str, str] | None = None) -> bytes:
    """A whole file of zeros: name -> (dtype, shape)."""
    values: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        begin, size = end, BYTES[dtype]
        for number in shape:
            size *= number
        end = begin + size
        values[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    return head(values) + bytes(end)
