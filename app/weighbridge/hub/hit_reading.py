"""What the Hub tells of one repository, in a list or by itself, as a `Hit`. Nothing of it is believed unseen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from weighbridge.base.printable import printable
from weighbridge.hub.forms import COMMIT, REPO_ID, matching
from weighbridge.hub.hits import Hit

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

MOST_TAGS, MOST_NAMES, MOST_LETTERS = 1_000, 100_000, 400
MOST_COUNT = 1 << 62

_UNPACKED = frozenset({"BF16", "F16", "F32", "F64"})
"""Types of which each number is one parameter; of others, several may lie packed in one."""


def hit_of(said: ModelInfo) -> Hit:
    """`said`, with None for whatever is untold or is not what it should be.

    Raises ValueError where its name, or its commit, cannot be one.
    """
    told: Mapping[str, Any] = said.gguf if isinstance(said.gguf, Mapping) else {}
    return Hit(
        id=matching(REPO_ID, said.id),
        commit=None if said.sha is None else matching(COMMIT, said.sha),
        downloads=_count(said.downloads),
        likes=_count(said.likes),
        changed_s=said.last_modified.timestamp() if isinstance(said.last_modified, datetime) else None,
        gated=bool(said.gated),
        private=bool(said.private),
        task=_text(said.pipeline_tag),
        tags=_texts(said.tags, MOST_TAGS),
        files=_texts([each.rfilename for each in said.siblings or ()], MOST_NAMES),
        parameters=_count(told.get("total")) or _unpacked(said.safetensors) or None,
        context_length=_count(told.get("context_length")) or None,
        architecture=_text(told.get("architecture")),
    )


def _unpacked(safetensors: object) -> int | None:
    """The count of parameters, where none of them is packed."""
    told = getattr(safetensors, "parameters", None)
    sound = isinstance(told, Mapping) and told and all(name in _UNPACKED for name in told)
    return _count(getattr(safetensors, "total", None)) if sound else None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < MOST_COUNT else None


def _text(value: object) -> str | None:
    return printable(value[:MOST_LETTERS]) if isinstance(value, str) and value else None


def _texts(values: object, most: int) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        return ()
    return tuple(text for value in values[:most] if (text := _text(value)))
