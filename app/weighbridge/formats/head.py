"""The header of a GGUF file as bytes, by which an engine can size the model without its weights."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf import TEMPLATE_KEY, Header, read_header
from weighbridge.formats.source import ByteSource


@dataclass(frozen=True)
class Head:
    """One part of a model: the bytes of its header, up to the weights, and how long the whole part is."""

    content: bytes
    size_bytes: int


def head_of(source: ByteSource) -> tuple[Header, Head]:
    """What the header of a GGUF file says, and its bytes. Raises BadFile as `read_header` does."""
    header = read_header(source, full=True)
    size_bytes = source.size_bytes or 0
    end = min(header.data_start or 0, size_bytes)
    return header, Head(source.read(0, end), size_bytes)


def require_quotable(header: Header) -> None:
    """Raise BadFile("gguf.key", key=) for a text that an engine might quote, and that would spread over several lines
    of its log.
    """
    for words in _quotable(header):
        if not words.isprintable():
            raise BadFile("gguf.key", key=repr(words)[:40])


def _quotable(header: Header) -> list[str]:
    """Names, and texts that are one word: those of the author and the chat template may have lines."""
    texts = [
        value
        for key, value in header.metadata.items()
        if isinstance(value, str) and key != TEMPLATE_KEY and (not key.startswith("general.") or "architecture" in key)
    ]
    return [*header.metadata, *texts, *(tensor.name for tensor in header.tensors or ())]
