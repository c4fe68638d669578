"""KoboldCpp: it keeps no models, but files (.kcpps) that say which one to start, and what to load beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.formats.variant import Role
from weighbridge.library.files import LAUNCH, Found
from weighbridge.library.model import Helper
from weighbridge.library.rows import Row
from weighbridge.library.shelves.named import named_helper, named_path, named_row, noted
from weighbridge.library.shelves.program import Look, Program

TITLE = "KoboldCpp"
_BESIDE = {"mmproj": Role.PROJECTOR, "lora": Role.ADAPTER, "draftmodel": Role.DRAFT}
MAX_NAMED = 16


def among(files: Sequence[Found], look: Look) -> Iterator[Row]:
    """The models that the launch files among `files` name. One that leads nowhere is told as passed over."""
    for file in files:
        if file.path.name.lower().endswith(LAUNCH):
            try:
                yield launched(file.path, look)
            except BadFile as error:
                look.walk.skip(error)


def launched(path: Path, look: Look) -> Row:
    """The model that the launch file at `path` names. Raises BadFile."""
    told = noted(path)
    named = next(iter(_texts(told.get("model_param") or told.get("model"))), "")
    target = named_path(named, path.parent)
    row = named_row(target, look) if target is not None else None
    if row is None:
        raise BadFile("library.named", program=TITLE, path=str(path), named=printable(named)[:200])
    beside = _helpers(told, path.parent, look)
    here = {helper.path for helper in beside}
    others = [helper for helper in row.model.companions if helper.path not in here]
    model = replace(row.model, companions=(*beside, *others), aliases=(str(path),), source=KOBOLDCPP.id)
    return replace(row, model=model)


def _helpers(told: Mapping[str, Any], folder: Path, look: Look) -> list[Helper]:
    named = [(role, named_path(each, folder)) for key, role in _BESIDE.items() for each in _texts(told.get(key))]
    found = (named_helper(role, path, look) for role, path in named if path is not None)
    return [helper for helper in found if helper is not None]


def _texts(value: object) -> Iterable[str]:
    """A text, or those in a list: KoboldCpp writes either."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values[:MAX_NAMED] if isinstance(each, str) and each]


KOBOLDCPP = Program("koboldcpp", TITLE, among=among)
