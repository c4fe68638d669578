"""A safe reader of GGUF headers, versions 2 and 3, little-endian.

A *brief* read takes 8 KiB, at most 64, and stops at the first array or long text of the tokenizer: all
hyper-parameters stand before it.
A *full* read takes everything up to the weights, 64 MiB at most, and checks that every tensor lies within the file.

Nothing in the file is trusted: every count is bounded, nothing is allocated by a number found in it, nothing recurses,
and the arrays of the tokenizer are walked over, not kept. Source of the layout and of the rules: the GGUF specification
and ggml's own reader; limits are this reader's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from struct import Struct

from weighbridge.base.errors import BadFile
from weighbridge.formats.cursor import HEADER_LIMIT_BYTES, Cursor, LimitReached
from weighbridge.formats.gguf_tensors import Tensor, check_bounds, read_tensors
from weighbridge.formats.sniff import SNIFF_BYTES, require_gguf, require_version
from weighbridge.formats.source import ByteSource

Value = int | float | bool | str | tuple[int | float | bool, ...]

BRIEF_FIRST_BYTES, BRIEF_LIMIT_BYTES = 8 << 10, 64 << 10
FULL_FIRST_BYTES = 1 << 20
MAX_KEYS = 65_536
MAX_KEY_BYTES = 65_535
MAX_STRING_BYTES = 8 << 20
MAX_KEPT_TEXT_BYTES = 1 << 20
MAX_ELEMENTS = 4 << 20
MAX_KEPT_ELEMENTS = 8_192
MAX_ALIGNMENT = 1 << 20
ALIGNMENT_KEY = "general.alignment"
TEMPLATE_KEY = "tokenizer.chat_template"
TOKENS_KEY = "tokenizer.ggml.tokens"

_STRING, _ARRAY = 8, 9
_NUMBERS: Mapping[int, str] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_FORMS = {kind: Struct(f"<{letter}") for kind, letter in _NUMBERS.items()}
_AHEAD = Struct("<IIQ")
"""Of an array: that it is one, the kind of its elements, their count. Of a text: that it is one, how long it is."""

_SHORT_TEXT_BYTES = 256


@dataclass(frozen=True)
class Header:
    """What a header says. Arrays of text, those of the tokenizer, and very long values are left out of `metadata`.

    `complete` is False where a brief read stopped before the last key; `tensors` is None unless the read was full.
    `vocabulary` is how long the list of tokens is, where there is one.
    """

    version: int
    tensor_count: int
    metadata: Mapping[str, Value]
    complete: bool
    bytes_read: int
    tensors: tuple[Tensor, ...] | None = None
    data_start: int | None = None
    alignment: int = 32
    vocabulary: int | None = None


def read_header(source: ByteSource, *, full: bool = False) -> Header:
    """Read a header, briefly or in full.

    Raises BadFile: "file.*" for what is not a whole GGUF file, "gguf.*" for a damaged header.
    """
    cursor = (
        Cursor(source, FULL_FIRST_BYTES, HEADER_LIMIT_BYTES)
        if full
        else Cursor(source, BRIEF_FIRST_BYTES, BRIEF_LIMIT_BYTES)
    )
    require_gguf(cursor.peek(SNIFF_BYTES))
    cursor.skip(4)
    version = cursor.u32()
    require_version(version)
    tensor_count, key_count = cursor.u64(), cursor.u64()
    if key_count > MAX_KEYS:
        raise BadFile("gguf.count", what="keys", count=key_count)
    read = _Metadata(cursor, full)
    complete = read.all_of(key_count)
    alignment = _alignment(read.values)
    told = Header(
        version, tensor_count, read.values, complete, cursor.bytes_read, alignment=alignment, vocabulary=read.vocabulary
    )
    if not full:
        return told
    tensors = read_tensors(cursor, tensor_count)
    data_start = -(-cursor.position // alignment) * alignment
    check_bounds(tensors, data_start, alignment, source.size_bytes)
    return replace(told, bytes_read=cursor.bytes_read, tensors=tensors, data_start=data_start)


class _Metadata:
    """The key-value pairs, as they are read. A brief read passes over what is short among those of the tokenizer."""

    def __init__(self, cursor: Cursor, full: bool) -> None:
        self.values: dict[str, Value] = {}
        self.vocabulary: int | None = None
        self._cursor, self._full = cursor, full
        self._seen: set[str] = set()

    def all_of(self, count: int) -> bool:
        """Read so many pairs. Whether all of them were read."""
        try:
            return all(self._next() for _ in range(count))
        except LimitReached:
            if self._full:
                raise BadFile("gguf.header_too_long", limit_bytes=HEADER_LIMIT_BYTES) from None
            return False

    def _next(self) -> bool:
        """Read one pair. Whether to go on after it."""
        key = _read_key(self._cursor)
        if key in self._seen:
            raise BadFile("gguf.duplicate_key", key=key)
        self._seen.add(key)
        if key.startswith("tokenizer.") and not self._goes_on(key):
            return False
        value = _read_value(self._cursor, key)
        if value is not None:
            self.values[key] = value
        return True

    def _goes_on(self, key: str) -> bool:
        """Look at the value that comes, of a key of the tokenizer: how long its list is, and whether to read on."""
        kind, inner, count = _AHEAD.unpack(self._cursor.peek(_AHEAD.size).ljust(_AHEAD.size, b"\0"))
        if key == TOKENS_KEY and kind == _ARRAY and inner == _STRING and count <= MAX_ELEMENTS:
            self.vocabulary = count
        return self._full or kind in _FORMS or (kind == _STRING and inner <= _SHORT_TEXT_BYTES)


def _read_key(cursor: Cursor) -> str:
    length = cursor.u64()
    if length > MAX_KEY_BYTES:
        raise BadFile("gguf.length", length=length)
    raw = cursor.take(length)
    if not raw:
        raise BadFile("gguf.key", key="")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadFile("gguf.key", key=raw[:40].hex(" ")) from None


def _read_value(cursor: Cursor, key: str) -> Value | None:
    """The value of `key`, or None for one that is not kept."""
    kind = cursor.u32()
    if kind == _STRING:
        return _read_text(cursor)
    if kind == _ARRAY:
        return _read_array(cursor, key)
    form = _FORMS.get(kind)
    if form is None:
        raise BadFile("gguf.value_type", key=key, type=kind)
    return cursor.unpack(form)


def _read_text(cursor: Cursor) -> str | None:
    length = cursor.u64()
    if length > MAX_STRING_BYTES:
        raise BadFile("gguf.length", length=length)
    if length > MAX_KEPT_TEXT_BYTES:
        cursor.skip(length)
        return None
    return cursor.take(length).decode("utf-8", errors="replace")


def _read_array(cursor: Cursor, key: str) -> tuple[int | float | bool, ...] | None:
    kind, count = cursor.u32(), cursor.u64()
    if kind == _ARRAY:
        raise BadFile("gguf.nested_array", key=key)
    if kind != _STRING and kind not in _FORMS:
        raise BadFile("gguf.value_type", key=key, type=kind)
    if count > MAX_ELEMENTS:
        raise BadFile("gguf.count", what=key, count=count)
    if kind == _STRING:
        cursor.skip_strings(count)
        return None
    length = _FORMS[kind].size * count
    if key.startswith("tokenizer.") or count > MAX_KEPT_ELEMENTS:
        cursor.skip(length)
        return None
    return Struct(f"<{count}{_NUMBERS[kind]}").unpack(cursor.take(length))


def _alignment(metadata: Mapping[str, Value]) -> int:
    """`general.alignment`, 32 where it is missing; refused unless a power of two of a sane size."""
    value = metadata.get(ALIGNMENT_KEY, 32)
    if isinstance(value, bool) or not isinstance(value, int) or not _is_alignment(value):
        raise BadFile("gguf.alignment", value=str(value)[:40])
    return value


def _is_alignment(value: int) -> bool:
    return 0 < value <= MAX_ALIGNMENT and value & (value - 1) == 0
