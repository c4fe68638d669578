"""`--image`: pictures of this computer, shown to a model with the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.paths import user_path
from weighbridge.base.pictures import MOST_BYTES
from weighbridge.chat import conversation
from weighbridge.chat.conversation import Attached
from weighbridge.chat.picture_files import picture_file

if TYPE_CHECKING:
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine, Load


def content(prompt: str, files: Sequence[str]) -> str | list[dict[str, Any]]:
    """What a message of `prompt` and the pictures in `files` holds: the text alone where there are none.

    Raises Refused with a "picture." code for what is no such picture, or more than is shown at a time.
    """
    shown: list[Attached] = []
    left_bytes = MOST_BYTES
    for name in files:
        data, picture = picture_file(user_path(name), left_bytes)
        left_bytes -= len(data)
        shown.append(Attached(data, picture.kind, picture.width, picture.height))
    return conversation.content(prompt, shown)


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
