"""Files that are here twice: found by what they hold, and made one by a hard link in the place of our copy.

Two names of one file are no doubles. Only files of the same size are compared; of those whose hash nobody knows, a few
places are read first, and all of it only where these are alike.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.task import Task
from weighbridge.library.disk import allocated_bytes
from weighbridge.library.hashes import Hashes, named_hashes
from weighbridge.library.model import OWN, Model
from weighbridge.library.removal import lies_within

LEAST_BYTES = 1 << 20
"""Smaller files are not worth a link."""

_SAMPLE_BYTES = 64 << 10
_LINKING = ".link"
_Item = TypeVar("_Item")
_Part = TypeVar("_Part", bound=Hashable)


@dataclass(frozen=True)
class Copy:
    """One of the files that are alike: a part of `model`. `ours`: a file in our own folder, which may be replaced.

    `real` is the file itself, where `path` is a link to it.
    """

    model: Model
    path: Path
    real: Path
    status: os.stat_result
    ours: bool
    named: str | None = None


@dataclass(frozen=True)
class Double:
    """Files that hold the same. `freed_bytes`: what links in the places of ours would free."""

    sha256: str
    size_bytes: int
    copies: tuple[Copy, ...]

    @property
    def links(self) -> tuple[tuple[Copy, Copy], ...]:
        """Ours, each with the one of its volume that it would become a link to: another program's, else the first of
        ours.
        """
        found: list[tuple[Copy, Copy]] = []
        for volume in dict.fromkeys(copy.status.st_dev for copy in self.copies):
            there = [copy for copy in self.copies if copy.status.st_dev == volume]
            kept = next((copy for copy in there if not copy.ours), there[0])
            found += [(copy, kept) for copy in there if copy.ours and copy is not kept]
        return tuple(found)

    @property
    def freed_bytes(self) -> int:
        """What all `links` together free."""
        return sum(_freed_bytes(ours) for ours, _ in self.links)


def find_doubles(models: Iterable[Model], own_folder: Path, hashes: Hashes, task: Task) -> tuple[Double, ...]:
    """The files of `models` that are here more than once, those first that free most.

    Progress is in bytes read. A file that cannot be read is passed over. Raises Cancelled.
    """
    sizes = _alike(_copies(models, own_folder), lambda copy: copy.status.st_size)
    reading = _Reading(hashes, task, [copy for group in sizes for copy in group])
    samples = [alike for group in sizes for alike in reading.alike_in_places(group)]
    found = [
        Double(str(reading.sha256(alike[0])), alike[0].status.st_size, tuple(alike))
        for group in samples
        for alike in _alike(group, reading.sha256)
    ]
    return tuple(sorted(found, key=lambda double: -double.freed_bytes))


def link(ours: Copy, other: Copy, own_folder: Path, hashes: Hashes, task: Task) -> int:
    """Put a hard link to `other` in the place of `ours`, in one step, and tell what that frees, in bytes.

    Both are read again first; the other file is not written to. Raises Refused("double.not_ours"),
    ("double.other_volume"), ("double.linked"), ("double.changed"), ("double.unlinkable"), all with nothing changed, and
    Cancelled.
    """
    name = ours.path.name
    if not (ours.ours and lies_within(ours.path, own_folder)) or ours.path.is_symlink():
        raise Refused("double.not_ours", name=name)
    mine, theirs = _looked_at(ours), _looked_at(other)
    if mine.st_dev != theirs.st_dev:
        raise Refused("double.other_volume", name=name)
    if mine.st_ino == theirs.st_ino:
        raise Refused("double.linked", name=name)
    total = mine.st_size + theirs.st_size
    found = _read_again(ours, lambda done: task.step(done, total, "verifying"), hashes)
    if found != _read_again(other, lambda done: task.step(mine.st_size + done, total, "verifying"), hashes):
        raise Refused("double.changed", name=name)
    _replace(ours, other, mine, theirs)
    return allocated_bytes(mine) if mine.st_nlink == 1 else 0


def _replace(ours: Copy, other: Copy, mine: os.stat_result, theirs: os.stat_result) -> None:
    """In two steps of which the second takes all effect at once; whatever goes wrong, ours is there."""
    made = ours.path.with_name(f"{ours.path.name}.{os.getpid()}{_LINKING}")
    try:
        made.hardlink_to(other.real)
        try:
            linked, now = made.stat(), ours.path.stat(follow_symlinks=False)
            if not _is_same(linked, theirs) or not _is_same(now, mine):
                raise Refused("double.changed", name=ours.path.name)
            made.replace(ours.path)
        finally:
            with suppress(FileNotFoundError):
                made.unlink()
    except OSError as error:
        raise Refused("double.unlinkable", name=ours.path.name, reason=error.strerror or str(error)) from error


def _looked_at(copy: Copy) -> os.stat_result:
    """The file as it is now, which is as it was when it was found. Raises Refused("double.changed")."""
    try:
        now = copy.real.stat(follow_symlinks=False)
    except OSError as error:
        raise Refused("double.changed", name=copy.path.name) from error
    if not _is_same(now, copy.status) or Path(os.path.realpath(copy.path)) != copy.real:
        raise Refused("double.changed", name=copy.path.name)
    return now


def _read_again(copy: Copy, step: Callable[[int], None], hashes: Hashes) -> str:
    try:
        return hashes.count(copy.real, step)
    except BadFile as error:
        raise Refused("double.changed", name=copy.path.name) from error


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    """The number of names left out: another one was made just now."""
    return (one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) == (
        other.st_dev,
        other.st_ino,
        other.st_size,
        other.st_mtime_ns,
    )


def _freed_bytes(copy: Copy) -> int:
    return allocated_bytes(copy.status) if copy.status.st_nlink == 1 else 0


def _copies(models: Iterable[Model], own_folder: Path) -> Iterator[Copy]:
    """Each file once, by whatever names it is found."""
    seen: set[tuple[int, int]] = set()
    for model in models:
        for path, sha256 in zip(model.parts, named_hashes(model), strict=True):
            try:
                real = Path(os.path.realpath(path))
                status = real.stat()
            except OSError:
                continue
            if status.st_size >= LEAST_BYTES and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                ours = model.source == OWN and not path.is_symlink() and lies_within(path, own_folder)
                yield Copy(model, path, real, status, ours, sha256)


class _Reading:
    """The hashes of some copies, read where nobody knows them."""

    def __init__(self, hashes: Hashes, task: Task, copies: Sequence[Copy]) -> None:
        self._hashes = hashes
        self._task = task
        self._known: dict[Path, str | None] = {}
        self._done_bytes, self._total_bytes = 0, 0
        for copy in copies:
            known = hashes.known(copy.real, copy.named)
            if known is not None:
                self._known[copy.real] = known.sha256

    def alike_in_places(self, group: Sequence[Copy]) -> list[list[Copy]]:
        """The copies that may hold the same: all of them where every hash is known."""
        if all(copy.real in self._known for copy in group):
            return [list(group)]
        found = _alike(group, _sample)
        unread = (copy for alike in found for copy in alike if copy.real not in self._known)
        self._total_bytes += sum(copy.status.st_size for copy in unread)
        return found

    def sha256(self, copy: Copy) -> str | None:
        """The hash of a copy; None where it cannot be read."""
        if copy.real not in self._known:
            try:
                self._known[copy.real] = self._hashes.count(copy.real, self._step)
            except BadFile:
                self._known[copy.real] = None
            self._done_bytes += copy.status.st_size
        return self._known[copy.real]

    def _step(self, read_bytes: int) -> None:
        self._task.step(self._done_bytes + read_bytes, self._total_bytes, "verifying")


def _sample(copy: Copy) -> bytes | None:
    """A digest of the beginning, the middle and the end; None where they cannot be read."""
    size_bytes = copy.status.st_size
    try:
        with copy.real.open("rb") as file:
            found = blake2b()
            for place in (0, size_bytes // 2, max(0, size_bytes - _SAMPLE_BYTES)):
                file.seek(place)
                found.update(file.read(_SAMPLE_BYTES))
    except OSError:
        return None
    return found.digest()


def _alike(items: Iterable[_Item], of: Callable[[_Item], _Part | None]) -> list[list[_Item]]:
    """Groups of two and more for which `of` gives the same; those of which it gives None are alone."""
    groups: dict[_Part, list[_Item]] = defaultdict(list)
    for item in items:
        kind = of(item)
        if kind is not None:
            groups[kind].append(item)
    return [group for group in groups.values() if len(group) > 1]
