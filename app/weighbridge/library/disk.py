"""How much room models take on the disk: each by itself, and all of a folder, with what its volume has left.

A file takes less than its size where it is sparse or compressed, and nothing more where it is a second name of another
one: of each folder, a file is counted once.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.base.task import Task
from weighbridge.library.model import Model

_BLOCK_BYTES = 512
"""The unit of `st_blocks`, whatever the file system's own blocks are."""


@dataclass(frozen=True)
class FolderUse:
    """What lies below one of the Library's folders. `free_bytes`: of its volume, None where nobody tells.

    `there`: the folder could be looked into; a drive may be away.
    """

    folder: Path
    models: int = 0
    disk_bytes: int = 0
    free_bytes: int | None = None
    there: bool = True


@dataclass(frozen=True)
class DiskUse:
    """Bytes by a model's id, with its companions left out; and folder by folder, in their order."""

    of_model: Mapping[str, int] = field(default_factory=dict)
    folders: tuple[FolderUse, ...] = ()


def disk_use(models: Sequence[Model], folders: Sequence[Path], task: Task) -> DiskUse:
    """The room that `models`, found below `folders`, take now; those that are no files take none, and are left out.
    Progress is in models. Raises Cancelled.
    """
    of_model: dict[str, int] = {}
    inside: dict[Path | None, list[Mapping[tuple[int, int], int]]] = defaultdict(list)
    for done, model in enumerate(models):
        if done % 64 == 0:
            task.step(done, len(models))
        if model.remote is not None:
            continue
        taken = _taken(model.parts)
        of_model[model.id] = sum(taken.values())
        inside[_root(model.path, folders)].append(taken)
    return DiskUse(of_model, tuple(_folder_use(folder, inside[folder]) for folder in folders))


def _taken(parts: Iterable[Path]) -> dict[tuple[int, int], int]:
    """What each file takes, by its identity; a file that is gone takes nothing."""
    taken: dict[tuple[int, int], int] = {}
    for part in parts:
        try:
            status = part.stat()
        except OSError:
            continue
        taken[status.st_dev, status.st_ino] = allocated_bytes(status)
    return taken


def allocated_bytes(status: os.stat_result) -> int:
    """What a file takes; its size, where the system does not tell more (Windows)."""
    blocks: int | None = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else blocks * _BLOCK_BYTES


def _root(path: Path, folders: Sequence[Path]) -> Path | None:
    """The innermost of `folders` in which `path` lies."""
    holding = [folder for folder in folders if path.is_relative_to(folder)]
    return max(holding, key=lambda folder: len(folder.parts), default=None)


def _folder_use(folder: Path, inside: Sequence[Mapping[tuple[int, int], int]]) -> FolderUse:
    try:
        free_bytes, there = shutil.disk_usage(folder).free, folder.exists()
    except OSError:
        free_bytes, there = None, False
    once = {identity: taken for each in inside for identity, taken in each.items()}
    return FolderUse(folder, len(inside), sum(once.values()), free_bytes, there)
