"""JSON out of files that are not trusted: bounded in length, in how much it holds, and in how deep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.base.strict_json import read_strict

CONFIG_LIMIT_BYTES = 4 << 20
MAX_VALUES = 500_000
MAX_DEPTH, MAX_TEXT, MAX_KEPT = 6, 400, 65_536


def json_object(content: bytes, name: str, max_values: int = MAX_VALUES) -> dict[str, Any]:
    """The object that `content` is. Raises BadFile("json.damaged") for anything else, and for a key told twice."""
    if sum(map(content.count, (b",", b"[", b"{"))) > max_values:
        raise BadFile("json.damaged", name=name, reason=f"> {max_values}")
    try:
        value = read_strict(content)
    except (ValueError, RecursionError) as error:
        raise BadFile("json.damaged", name=name, reason=str(error)[:200]) from error
    if not isinstance(value, dict):
        raise BadFile("json.damaged", name=name, reason=type(value).__name__)
    return value


def bounded(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as plain JSON fit to be kept and shown: long texts and lists, depths and odd numbers are left out."""
    return _Bounds().mapping(values, 0)


class _Bounds:
    """Copies a value piece by piece as long as there is room left."""

    def __init__(self) -> None:
        self._left = MAX_KEPT

    def mapping(self, values: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The pairs that are worth keeping."""
        kept = {printable(key)[:MAX_TEXT]: self._value(value, depth + 1) for key, value in values.items()}
        return {key: value for key, value in kept.items() if value is not None}

    def _value(self, value: object, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            return None
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, list):
            return [self._value(each, depth + 1) for each in value] if len(value) <= self._left else None
        if isinstance(value, str):
            return printable(value) if len(value) <= MAX_TEXT else None
        return value if _is_sane(value) else None


def _is_sane(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool) or (isinstance(value, int) and abs(value) < 1 << 62)
