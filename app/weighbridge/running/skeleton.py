"""Copies of model files that hold only the header: as long as the whole, but with a hole where the weights were.

An engine that sizes a model without reading its weights sees no difference, and the copy takes no room on the disk. It
also stands for a file that is not here yet, of which only the header was fetched.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.head import Head, head_of, require_quotable
from weighbridge.formats.source import FileSource

_STEM = "model"
_PROBE_BYTES = 16 << 20
_BLOCK_BYTES = 512
_FSCTL_SET_SPARSE = 0x900C4
_NO_SIZE = 0xFFFFFFFF


def read_head(path: Path) -> Head:
    """The head of a GGUF file.

    Raises BadFile as `read_header` does, and BadFile("gguf.key", key=) for a text that an engine might quote and that
    would spread over several lines of its log.
    """
    with FileSource(path) as source:
        header, head = head_of(source)
    require_quotable(header)
    return head


def write_skeletons(heads: Sequence[Head], folder: Path) -> Path:
    """Write the parts of one model into `folder`; the path of the first.

    Raises BadFile("sizing.no_sparse_files", path=) where files cannot have holes, BadFile("sizing.unwritable", path=,
    reason=) where they cannot be written.
    """
    try:
        if not _holes(folder):
            raise BadFile("sizing.no_sparse_files", path=str(folder))
        paths = [folder / name for name in _names(len(heads))]
        for path, head in zip(paths, heads, strict=True):
            _write(path, head.content, head.size_bytes)
    except OSError as error:
        raise BadFile("sizing.unwritable", path=str(folder), reason=error.strerror or str(error)) from error
    return paths[0]


def _names(count: int) -> list[str]:
    """By which an engine finds the other parts of a model."""
    if count == 1:
        return [f"{_STEM}.gguf"]
    return [f"{_STEM}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def _holes(folder: Path) -> bool:
    """Tried with a small file first: without holes, one as long as a model would fill the disk."""
    probe = folder / "probe"
    _write(probe, b"", _PROBE_BYTES)
    taken = allocated_bytes(probe)
    probe.unlink()
    return taken < _PROBE_BYTES // 2


def _write(path: Path, content: bytes, size_bytes: int) -> None:
    with path.open("xb") as file:
        _allow_holes(file.fileno())
        file.write(content)
        file.truncate(max(size_bytes, len(content)))


if sys.platform == "win32":
    import msvcrt

    def _allow_holes(descriptor: int) -> None:
        mark_sparse(ctypes.windll.kernel32, msvcrt.get_osfhandle(descriptor))

    def allocated_bytes(path: Path) -> int:
        """What a file takes on the disk."""
        return compressed_bytes(ctypes.windll.kernel32, str(path))

else:

    def _allow_holes(descriptor: int) -> None:
        """Nothing to do: where holes can be, they are."""

    def allocated_bytes(path: Path) -> int:
        """What a file takes on the disk."""
        return path.stat().st_blocks * _BLOCK_BYTES


def mark_sparse(kernel: Any, handle: int) -> None:
    """Have Windows leave holes in a file. `kernel` is kernel32. Where it refuses, the file is found to have none."""
    returned = ctypes.c_uint32()
    kernel.DeviceIoControl(ctypes.c_void_p(handle), _FSCTL_SET_SPARSE, None, 0, None, 0, ctypes.byref(returned), None)


def compressed_bytes(kernel: Any, path: str) -> int:
    """What Windows tells a file to take on the disk. Raises OSError where it does not tell."""
    high = ctypes.c_uint32()
    kernel.GetCompressedFileSizeW.restype = ctypes.c_uint32
    low = int(kernel.GetCompressedFileSizeW(path, ctypes.byref(high)))
    if low == _NO_SIZE and not high.value:
        raise OSError("the size on the disk is not told")
    return high.value << 32 | low
