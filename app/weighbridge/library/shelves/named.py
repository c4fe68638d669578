"""Files that a program's own notes name, wherever they lie: looked at, and believed only where they are GGUF files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.small_files import read_small
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.plain_json import json_object
from weighbridge.formats.variant import Role
from weighbridge.library.model import Helper
from weighbridge.library.one_file import row_of_file
from weighbridge.library.rows import Row
from weighbridge.library.shelves.program import Look

MAX_PATH = 4_096


def noted(path: Path) -> Mapping[str, Any]:
    """The object in the small JSON file at `path`. Raises BadFile."""
    try:
        return json_object(read_small(path).encode(), path.name)
    except (OSError, ValueError) as error:
        raise BadFile("file.unreadable", name=path.name, reason=str(error)) from error


def noted_folder(path: Path, key: str) -> Path | None:
    """The folder that the settings in `path` name under `key`; None where they do not, or cannot be read."""
    try:
        value = noted(path).get(key)
    except BadFile:
        return None
    named = named_path(value, path.parent)
    return named if named is not None and Path(str(value)).is_absolute() else None


def named_path(value: object, folder: Path) -> Path | None:
    """The path that `value` names, seen from `folder`; None for what names no file of this computer.

    To open a path of another computer would tell that one who we are.
    """
    if not isinstance(value, str) or not 0 < len(value) <= MAX_PATH or "\0" in value or "://" in value:
        return None
    if value.startswith(("\\\\", "//", "\\/", "/\\")):
        return None
    return Path(os.path.abspath(folder / value))  # noqa: PTH100 - resolve() would follow links


def named_row(path: Path, look: Look) -> Row | None:
    """The model whose file, or one of whose parts, is at `path`; None where no GGUF file is there."""
    if not _is_gguf_inside(path, look):
        return None
    try:
        return row_of_file(path, look.headers, look.task.check)
    except OSError:
        return None


def named_helper(role: Role, path: Path, look: Look) -> Helper | None:
    """The file at `path` as what is loaded beside a model; None where no GGUF file is there."""
    file = look.walk.file(path)
    return Helper(role, path, file.size_bytes) if file is not None and _is_gguf_inside(path, look) else None


def _is_gguf_inside(path: Path, look: Look) -> bool:
    file = look.walk.file(path)
    return file is not None and isinstance(look.headers.of(file), ModelInfo)
