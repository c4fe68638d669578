"""What the Library says of its folders, of what it passed over, and of what is not on the list. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.units import size
from weighbridge.base.words import plural, text
from weighbridge.library.disk import DiskUse, FolderUse
from weighbridge.ui.folders import short


def folders_in_words(folders: Sequence[Path], use: DiskUse | None, models: int) -> str:
    """ "14 models in 2 folders · 31.2 GiB", or, before it is known, "Looked in ~/models"."""
    if use is None or not models:
        return text("Looked in {folders}", folders=", ".join(short(folder, Path.home()) for folder in folders))
    count = len([each for each in use.folders if each.models])
    inside = plural("in {count} folder", "in {count} folders", count)
    held = plural("{count} model", "{count} models", models)
    taken = size(sum(each.disk_bytes for each in use.folders))
    return text("{models} {folders} · {size}", models=held, folders=inside, size=taken)


def folder_in_words(use: FolderUse) -> str:
    """What lies in one folder, and what its volume has left."""
    if not use.there:
        return text("not there now")
    held = plural("{count} model", "{count} models", use.models)
    free = "" if use.free_bytes is None else text("{size} free", size=size(use.free_bytes))
    return " · ".join(filter(None, (held, size(use.disk_bytes) if use.models else "", free)))


def skipped_in_words(skipped: Sequence[WeighbridgeError]) -> str:
    """ "3 passed over"; "" for nothing."""
    return plural("{count} passed over", "{count} passed over", len(skipped)) if skipped else ""


def off_in_words(count: int) -> str:
    """ "3 taken off the list"; "" for none."""
    return plural("{count} taken off the list", "{count} taken off the list", count) if count else ""


def skipped_line(error: WeighbridgeError) -> tuple[str, str]:
    """What was passed over, and why."""
    path, reason = error.values.get("path"), error.values.get("reason")
    if error.code == "library.skipped" and path and reason:
        return short(Path(str(path)), Path.home()), str(reason)
    return explain(error).what, ""


def nothing_found(folders: Sequence[FolderUse], skipped: Sequence[WeighbridgeError]) -> str:
    """Where nothing was found: which folders were looked into, which were not there, what was passed over and why."""
    said = [f"{short(use.folder, Path.home())}: {_looked(use)}" for use in folders]
    said += [": ".join(filter(None, skipped_line(error))) for error in skipped[:_MOST]]
    left = len(skipped) - _MOST
    return "\n".join(said if left <= 0 else [*said, text("and {count} more", count=left)])


_MOST = 8


def _looked(use: FolderUse) -> str:
    return text("no model there") if use.there else text("not there now")
