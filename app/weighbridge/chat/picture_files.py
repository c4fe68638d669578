"""Pictures out of files of this computer, bounded before anything decodes them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from weighbridge.base.errors import Refused
from weighbridge.base.pictures import MOST_BYTES, MOST_MEGAPIXELS, Picture, picture_in

KINDS = ("png", "jpeg")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def picture_file(path: Path, most_bytes: int = MOST_BYTES) -> tuple[bytes, Picture]:
    """The file at `path`, and what it is a picture of. Raises Refused with a "picture." code where it is no PNG or
    JPEG picture, cannot be read, or is too large.
    """
    data = _read(path, most_bytes)
    picture = picture_in(data)
    if picture is None or picture.kind not in KINDS:
        raise Refused("picture.kind", path=str(path))
    if picture.megapixels > MOST_MEGAPIXELS:
        raise Refused("picture.pixels", path=str(path), megapixels=picture.megapixels, limit=MOST_MEGAPIXELS)
    return data, picture


def _read(path: Path, most_bytes: int) -> bytes:
    """A regular file as a whole: opening a pipe would wait, and a device may have no end."""
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused("picture.kind", path=str(path))
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise Refused("picture.unreadable", path=str(path), reason=error.strerror or type(error).__name__) from error
    if len(data) > most_bytes:
        raise Refused("picture.too_large", path=str(path), limit_bytes=MOST_BYTES)
    return data
