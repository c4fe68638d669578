"""`--image`: pictures of this computer, shown to a model with the question."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.paths import user_path
from weighbridge.base.pictures import MOST_BYTES, MOST_MEGAPIXELS, picture_in

if TYPE_CHECKING:
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine, Load

KINDS = ("png", "jpeg")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def content(prompt: str, files: Sequence[str]) -> str | list[Mapping[str, Any]]:
    """What a message of `prompt` and the pictures in `files` holds: the text alone where there are none.

    Raises Refused with a "picture." code for what is no such picture, or more than is shown at a time.
    """
    if not files:
        return prompt
    parts: list[Mapping[str, Any]] = []
    left_bytes = MOST_BYTES
    for name in files:
        data = _read(user_path(name), left_bytes)
        left_bytes -= len(data)
        parts.append({"type": "image_url", "image_url": {"url": _address(name, data)}})
    return [*parts, {"type": "text", "text": prompt}]


def check_sight(model: Model, engine: Engine, load: Load) -> None:
    """Raise Refused, with the way out, where `model` would see nothing if it were loaded by `load`."""
    from weighbridge.formats.variant import Role
    from weighbridge.running.sight import Blind, blindness

    blind = blindness(engine, load)
    if blind is Blind.ENGINE:
        raise Refused("picture.engine", engine=engine.title)
    if blind is Blind.PROJECTOR:
        near = model.companion(Role.PROJECTOR)
        if near is None:
            raise Refused("picture.no_projector", model=model.id)
        raise Refused("picture.projector_beside", model=model.id, path=str(near.path))


def _address(name: str, data: bytes) -> str:
    picture = picture_in(data)
    if picture is None or picture.kind not in KINDS:
        raise Refused("picture.kind", path=name)
    if picture.megapixels > MOST_MEGAPIXELS:
        raise Refused("picture.pixels", path=name, megapixels=picture.megapixels, limit=MOST_MEGAPIXELS)
    return f"data:image/{picture.kind};base64,{base64.b64encode(data).decode('ascii')}"


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
