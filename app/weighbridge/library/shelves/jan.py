"""Jan: a data folder, which can be moved, with a folder for each model and a note (model.yml) in it.

The note names the model's file, in the data folder or anywhere else. Older versions lay files out as the Hub does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.base.small_files import read_small
from weighbridge.formats.variant import Role
from weighbridge.library.files import is_wanted
from weighbridge.library.rows import Row, rows_below, shown_name
from weighbridge.library.shelves.named import named_helper, named_path, named_row, noted_folder
from weighbridge.library.shelves.program import Look, Program, Where

NOTE = "model.yml"
MAX_NOTE_BYTES = 64 << 10
_MODELS = ("llamacpp/models", "mlx/models", "models")


def folders(where: Where) -> Sequence[Path]:
    """Its data folders: that of the settings, and the usual ones of its versions."""
    homes = dict.fromkeys(base / name for base in (where.data, where.config) for name in ("Jan", "jan.ai.app"))
    moved = [folder for home in homes if (folder := noted_folder(home / "settings.json", "data_folder")) is not None]
    return (
        *moved,
        where.data / "Jan" / "data",
        *((where.config / "Jan" / "data",) if where.platform == "linux" else ()),
    )


def rows(folder: Path, look: Look) -> Iterator[Row]:
    """The models of the data folder at `folder`: what is noted goes by the name of the note, the rest by its own."""
    for models in (folder / below for below in _MODELS):
        files = list(look.walk.below(models, lambda name: name == NOTE or is_wanted(name)))
        for note in (file.path for file in files if file.path.name == NOTE):
            row = _noted(note, folder, shown_name(note.parent.relative_to(models).as_posix()), look)
            if row is not None:
                yield row
        yield from rows_below(models, [file for file in files if file.path.name != NOTE], look.headers, look.task)


def _noted(note: Path, folder: Path, name: str, look: Look) -> Row | None:
    """The model that a note names; None for one of another kind."""
    try:
        told = _read(note)
    except BadFile as error:
        look.walk.skip(error)
        return None
    named = told.get("model_path")
    if not isinstance(named, str) or not named.lower().endswith(".gguf"):
        return None
    path = named_path(named, folder)
    row = named_row(path, look) if path is not None else None
    if row is None:
        look.walk.skip(BadFile("library.named", program=JAN.title, path=str(note), named=printable(named)[:200]))
        return None
    projector = named_path(told.get("mmproj_path"), folder)
    helper = named_helper(Role.PROJECTOR, projector, look) if projector else None
    others = [known for known in row.model.companions if known.path != projector]
    beside = (*([helper] if helper else []), *others)
    return replace(row, model=replace(row.model, id=name, title=name, companions=beside))


def _read(note: Path) -> Mapping[str, Any]:
    from weighbridge.library.shelves.plain_yaml import read_yaml

    try:
        return read_yaml(read_small(note, MAX_NOTE_BYTES))
    except (OSError, ValueError) as error:
        raise BadFile("library.note", program=JAN.title, path=str(note), reason=str(error)[:200]) from error


JAN = Program("jan", "Jan", folders, rows)
