"""The keys of a GGUF header, each looked at for its type before it is believed."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.printable import printable
from weighbridge.formats.gguf import Value

MAX_COUNT = 1 << 31
MOST_LETTERS = 200


class Keys:
    """The keys of a header, each checked for its type; names without "general." belong to the architecture."""

    def __init__(self, metadata: Mapping[str, Value]) -> None:
        self._metadata = metadata
        self._prefix = metadata.get("general.architecture")

    def text(self, key: str) -> str | None:
        """A text that can be shown, at most MOST_LETTERS of it, or None."""
        value = self._metadata.get(key)
        return printable(value[:MOST_LETTERS]) if isinstance(value, str) and value else None

    def count(self, key: str, limit: int = MAX_COUNT) -> int | None:
        """A whole number from 0 to `limit`, or None."""
        return count_of(self._metadata.get(f"{self._prefix}.{key}"), limit)

    def per_layer(self, key: str, layers: int | None, missing: tuple[int, ...] | None = None) -> tuple[int, ...] | None:
        """One number for each layer, from an array or from one number for all; `missing` where there is no such key."""
        value = self._metadata.get(f"{self._prefix}.{key}")
        if value is None:
            return missing
        if layers is None:
            return None
        if isinstance(value, tuple):
            counts = [count for count in map(count_of, value) if count is not None]
            return tuple(counts[:layers]) if layers <= len(counts) == len(value) else None
        single = count_of(value)
        return None if single is None else (single,) * layers

    def flags(self, key: str, layers: int) -> tuple[bool, ...] | None:
        """One answer for each layer, from an array of truths or numbers; None where there is no such array."""
        value = self._metadata.get(f"{self._prefix}.{key}")
        if not isinstance(value, tuple) or len(value) < layers:
            return None
        return tuple(bool(each) for each in value[:layers])


def count_of(value: Value | None, limit: int = MAX_COUNT) -> int | None:
    """`value` where it is a whole number from 0 to `limit`, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= limit else None
