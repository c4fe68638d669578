"""The types of a tensor in a safetensors file, under numbers that no GGUF file can hold: below zero.

Source: the `Dtype` of the safetensors format.
"""

from __future__ import annotations

from collections.abc import Mapping

_BITS: Mapping[str, int] = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}

BY_NAME: Mapping[str, int] = {name: -number for number, name in enumerate(_BITS, 1)}
BY_NUMBER: Mapping[int, str] = {number: name for name, number in BY_NAME.items()}
UNKNOWN = -1_000
"""A type that this list does not have: its size is what the file says."""


def bits_of(name: str) -> int | None:
    """Bits that one element takes; None for a type that is not known."""
    return _BITS.get(name)
