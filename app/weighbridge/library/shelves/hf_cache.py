"""Hugging Face's cache, which mlx-lm, transformers, vLLM and llama.cpp of today share.

`models--OWNER--NAME/snapshots/COMMIT/PATH` is a link to `../../blobs/HASH`, named by the file's SHA-256 if it is a
large one; that may be a link itself, to a store that all repositories share. Without the right to make links, the file
is in the snapshot. Layout: huggingface_hub 2.x.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.small_files import read_small
from weighbridge.hub.layout import cache_folder
from weighbridge.library.files import Found
from weighbridge.library.rows import Row, rows_below
from weighbridge.library.shelves.program import Look, Program, Where, only

_OF_MODELS = "models--"
_OF_OTHERS = ("datasets--", "kernels--", "spaces--")
_BESIDE = frozenset({"CACHEDIR.TAG", "blobs", "version.txt"})
_SHA256 = re.compile(r"[0-9a-f]{64}")


def folders(where: Where) -> Sequence[Path]:
    """The cache as huggingface_hub finds it, and the one that llama.cpp is told to use."""
    own = where.told("LLAMA_CACHE")
    return (cache_folder(where.environment, where.home), *((own,) if own else ()))


def within(folder: Path) -> Sequence[Path]:
    """`folder`, where it is such a cache."""
    return (folder,) if only(folder, _BESIDE, (_OF_MODELS, *_OF_OTHERS)) else ()


def rows(folder: Path, look: Look) -> Iterator[Row]:
    """The models of all repositories in the cache at `folder`, each once."""
    for repository in look.walk.folders_in(folder):
        if repository.name.startswith(_OF_MODELS):
            yield from _of_repository(repository, _Inside(folder, repository), look)


def _of_repository(repository: Path, inside: _Inside, look: Look) -> Iterator[Row]:
    """What is whole comes first, so that a later snapshot with half of it is nothing new."""
    found = [
        (snapshot, row) for snapshot in _snapshots(repository, look) for row in _of_snapshot(snapshot, inside, look)
    ]
    seen: set[tuple[Path, int, object]] = set()
    for snapshot, row in sorted(found, key=lambda each: each[1].model.problem is not None):
        parts = set(row.model.parts)
        own = {(file.path.relative_to(snapshot), *_state(file)) for file in row.files if file.path in parts}
        if not own or not own <= seen:
            yield row
        seen |= own


def _state(file: Found) -> tuple[int, object]:
    """The same for two snapshots that have the same file: by its blob; by its size where there are no links."""
    return file.size_bytes, file.identity if file.path.is_symlink() else None


def _snapshots(repository: Path, look: Look) -> list[Path]:
    """Those that a branch points to first, that of main before all."""
    commits: list[str] = []
    for reference in sorted(look.walk.below(repository / "refs", bool), key=lambda file: file.path.name != "main"):
        with suppress(OSError, ValueError):
            commits.append(read_small(reference.path, 100).strip())
    order = {commit: place for place, commit in reversed(list(enumerate(commits)))}
    return sorted(
        look.walk.folders_in(repository / "snapshots"), key=lambda folder: order.get(folder.name, len(commits))
    )


def _of_snapshot(snapshot: Path, inside: _Inside, look: Look) -> Iterator[Row]:
    files = [file for file in look.walk.below(snapshot) if _is_kept(file, inside, look)]
    for row in rows_below(snapshot, files, look.headers, look.task):
        hashes = tuple(_told_hash(part) for part in row.model.parts)
        yield replace(row, model=replace(row.model, sha256s=hashes if any(hashes) else ()))


class _Inside:
    """Whether a file's bytes lie in the cache, or in the repository, which may be a link."""

    def __init__(self, cache: Path, repository: Path) -> None:
        self._places = [Path(os.path.realpath(folder)) for folder in (cache, repository)]

    def holds(self, path: Path) -> bool:
        """Whether the way to `path` ends there."""
        end = Path(os.path.realpath(path))
        return any(end.is_relative_to(place) for place in self._places)


def _is_kept(file: Found, inside: _Inside, look: Look) -> bool:
    if inside.holds(file.path):
        return True
    look.walk.skip(BadFile("library.outside", path=str(file.path), program=HF_CACHE.title))
    return False


def _told_hash(path: Path) -> str | None:
    """The SHA-256 that the blob behind `path` is named by; small files are named by another hash."""
    try:
        target = Path(os.readlink(path))  # noqa: PTH115 - the first step alone: what it leads to has other names
    except OSError:
        return None
    return target.name if target.parent.name == "blobs" and _SHA256.fullmatch(target.name) else None


HF_CACHE = Program("hf_cache", "Hugging Face cache", folders, rows, within)
