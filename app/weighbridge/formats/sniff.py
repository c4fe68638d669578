"""What a file that should hold a model really is, by its first bytes, so that the true cause can be told."""

from __future__ import annotations

from weighbridge.base.errors import BadFile

MAGIC = b"GGUF"
SNIFF_BYTES = 64
_OLD_GGML = (b"lmgg", b"fmgg", b"tjgg", b"algg")
"""The magic numbers of the formats before GGUF, as they stand in a little-endian file."""


def require_gguf(start: bytes) -> None:
    """Raise BadFile with the true cause where `start`, the first bytes of a file, is not the start of a GGUF file."""
    if start.startswith(MAGIC):
        return
    require_weights(start)
    if start.startswith(_OLD_GGML):
        raise BadFile("file.old_ggml")
    raise BadFile("file.not_gguf", starts_with=start[:8].hex(" "))


def require_weights(start: bytes) -> None:
    """Raise BadFile where `start` is that of what stands in for a model of any format: nothing, a pointer, a page."""
    if not start:
        raise BadFile("file.empty")
    if start.startswith(b"version https://git-lfs"):
        raise BadFile("file.lfs_pointer")
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        raise BadFile("file.web_page")


def require_version(version: int) -> None:
    """Raise BadFile for a version that is not read: 1, a later one than 3, or a big-endian file."""
    if version in (2, 3):
        return
    if version and version & 0xFFFF == 0:
        raise BadFile("gguf.big_endian")
    raise BadFile("gguf.version", version=version)
