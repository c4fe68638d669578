"""Removing a model: what would go and what that frees, then into the bin; nothing outside our own folder is touched.

Where a name really lies decides, not where it seems to: the folder around each name is resolved first. Of a link, only
the link goes. A model of which a part lies elsewhere is not ours to remove, it can only be taken off the list.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from weighbridge.base.errors import Refused
from weighbridge.formats.variant import Role
from weighbridge.hub.jobs import ENDED, Job
from weighbridge.hub.part import ENDING
from weighbridge.hub.wanted import BESIDE
from weighbridge.library.disk import allocated_bytes
from weighbridge.library.files import WEIGHTS
from weighbridge.library.model import OWN, Model, key_of, require_file

_AROUND = (*WEIGHTS, ".onnx", ".onnx_data", *BESIDE, ".md")
"""Files of a folder that is a model, as downloads bring them."""

_BROUGHT = (Role.IMATRIX, Role.PROJECTOR)
"""Companions that come with a model; an adapter or a draft may be the user's own work, and of use without it."""

_SIDECARS = (ENDING, f"{ENDING}.json", f"{ENDING}.json.new", f"{ENDING}.lock")

Bin = Callable[[Path], None]
"""Moves one file to the bin of the system. Raises OSError where there is none."""


class Why(StrEnum):
    """Why a file stays."""

    ELSEWHERE = "elsewhere"
    SHARED = "shared"


@dataclass(frozen=True)
class Going:
    """A name that goes: to the bin, or, of a link, only the link.

    `freed_bytes` is 0 where the file has names that stay. `identity` is the file's own, or the link's.
    """

    path: Path
    is_link: bool
    freed_bytes: int
    identity: tuple[int, int]


@dataclass(frozen=True)
class Staying:
    """A file of the model that stays: it lies elsewhere, or is shared with the models of these ids."""

    path: Path
    why: Why
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removal:
    """What removing `model` means. Without anything `going` it is only taken off the list. `folder` is our own."""

    model: Model
    folder: Path
    going: tuple[Going, ...] = ()
    staying: tuple[Staying, ...] = ()

    @property
    def only_off_list(self) -> bool:
        """Whether no file goes."""
        return not self.going

    @property
    def freed_bytes(self) -> int:
        """What the disk has more once the bin is emptied."""
        return sum(each.freed_bytes for each in self.going)


def plan(model: Model, models: Iterable[Model], own_folder: Path) -> Removal:
    """What removing `model` would do. `models` are all that are here, those taken off the list among them.

    Looks at the names on the disk, and changes nothing. Raises Refused where it is no file, but an endpoint's.
    """
    require_file(model)
    here = _Here(own_folder)
    others = [each for each in models if key_of(each) != key_of(model)]
    if model.source != OWN or not model.parts or not all(here.holds(part) for part in model.parts):
        links = _link_to(model, others, here) if model.source == OWN else []
        elsewhere = tuple(Staying(part, Why.ELSEWHERE) for part in model.parts)
        return Removal(model, own_folder, tuple(_goings(links)), elsewhere)
    users = _users(others)
    going: list[Path] = []
    staying: list[Staying] = []
    for path in _belonging(model, others):
        shared = users.get(_real_name(path)) or users.get(os.path.realpath(path))
        if shared:
            staying.append(Staying(path, Why.SHARED, tuple(sorted(shared))))
        elif here.holds(path):
            going.append(path)
        else:
            staying.append(Staying(path, Why.ELSEWHERE))
    return Removal(model, own_folder, tuple(_goings(going)), tuple(staying))


def refusal(removal: Removal, loaded: Collection[str], jobs: Iterable[Job]) -> Refused | None:
    """Why it cannot be now: the model is among those `loaded`, or one of `jobs` is fetching a file of it.

    `loaded` has ids, and paths of models and of files beside them: an id may be another than at the load, where a model
    of the same name has come since.
    """
    name = removal.model.id
    files = (removal.model.path, *(each.path for each in removal.going))
    if name in loaded or not set(map(str, files)).isdisjoint(loaded):
        return Refused("model.in_use", model=name)
    going = {_real_name(each.path) for each in removal.going}
    fetched = {_real_name(path) for job in jobs if job.state not in ENDED for path in _targets(job)}
    return Refused("model.fetched_now", model=name) if going & fetched else None


def remove(removal: Removal, to_bin: Bin) -> None:
    """Do it: files into the bin, links deleted, folders that are empty then too, below our own.

    Every name is looked at again first. Raises Refused("removal.changed") where one is another file by now, and
    Refused("bin.none") where the first cannot be moved to the bin, both with nothing removed; Refused("bin.partly")
    where a later one cannot.
    """
    here = _Here(removal.folder)
    for each in removal.going:
        if not here.holds(each.path) or _identity(each.path) != (each.identity, each.is_link):
            raise Refused("removal.changed", path=str(each.path))
    files_first = sorted(removal.going, key=lambda each: each.is_link)
    for gone, each in enumerate(files_first):
        try:
            each.path.unlink() if each.is_link else to_bin(each.path)
        except OSError as error:
            raise _no_bin(each.path, error, gone, len(files_first)) from error
    for folder in {each.path.parent for each in removal.going}:
        here.tidy(folder)


def into_bin(path: Path) -> None:
    """Move one file to the bin of the system. Raises OSError where there is none, and then the file stays."""
    from send2trash import send2trash

    send2trash(os.fspath(path))


def lies_within(path: Path, own_folder: Path) -> bool:
    """Whether the name `path` itself lies below our own folder, wherever it may lead to."""
    return _Here(own_folder).holds(path)


class _Here:
    """Our own folder, as it really is."""

    def __init__(self, folder: Path) -> None:
        self._real = os.path.realpath(folder)

    def holds(self, path: Path) -> bool:
        """Whether the name itself lies below the folder, wherever it may lead to."""
        above = os.path.realpath(path.parent)
        return path.name not in ("", "..") and (above == self._real or Path(above).is_relative_to(self._real))

    def tidy(self, folder: Path) -> None:
        """Remove `folder` and those above it while they are empty, up to our own, which stays."""
        real = Path(os.path.realpath(folder))
        while real != Path(self._real) and real.is_relative_to(self._real):
            try:
                real.rmdir()
            except OSError:
                return
            real = real.parent


def _link_to(model: Model, others: Sequence[Model], here: _Here) -> list[Path]:
    """The link in our folder through which alone the model is found, where no other is found through it."""
    for above in (model.path, *model.path.parents):
        if above.is_symlink() and here.holds(above):
            used = any(part.is_relative_to(above) for other in others for part in other.parts)
            return [] if used or not all(part.is_relative_to(above) for part in model.parts) else [above]
    return []


def _belonging(model: Model, others: Sequence[Model]) -> list[Path]:
    """All names that are the model's: parts, companions, what lies around them, and what is left of their download."""
    found = [*model.parts, *(helper.path for helper in model.companions if helper.role in _BROUGHT)]
    if model.path not in model.parts:
        found += _around(model, others)
    found += [path.with_name(path.name + ending) for path in tuple(found) for ending in _SIDECARS]
    return [path for path in dict.fromkeys(found) if os.path.lexists(path)]


def _around(model: Model, others: Sequence[Model]) -> Iterator[Path]:
    """What lies beside the weights of a model that is a folder; nothing where it shares that folder with another."""
    if any(other.path == model.path for other in others):
        return
    for folder in dict.fromkeys((model.path, *(part.parent for part in model.parts))):
        for name in _names_in(folder):
            path = folder / name
            if name.lower().endswith(_AROUND) and (path.is_symlink() or path.is_file()):
                yield path


def _names_in(folder: Path) -> list[str]:
    """None where the folder is gone, or may not be read."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return []


def _users(models: Iterable[Model]) -> dict[str, set[str]]:
    """Which models have a file, by its name and by what the name leads to."""
    users: dict[str, set[str]] = {}
    for model in models:
        for path in (*model.parts, *(helper.path for helper in model.companions)):
            for name in {_real_name(path), os.path.realpath(path)}:
                users.setdefault(name, set()).add(model.id)
    return users


def _real_name(path: Path) -> str:
    """Where the name itself lies, wherever it may lead to."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - compared as text


def _goings(paths: Iterable[Path]) -> Iterator[Going]:
    """A file is freed only once all its names go; what it takes is told with the first of them."""
    looked = [(path, path.lstat()) for path in paths]
    names = Counter((status.st_dev, status.st_ino) for _, status in looked)
    told: set[tuple[int, int]] = set()
    for path, status in looked:
        identity = (status.st_dev, status.st_ino)
        is_link = stat.S_ISLNK(status.st_mode)
        frees = not is_link and identity not in told and status.st_nlink <= names[identity]
        told.add(identity)
        yield Going(path, is_link, allocated_bytes(status) if frees else 0, identity)


def _identity(path: Path) -> tuple[tuple[int, int], bool] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino), stat.S_ISLNK(status.st_mode)


def _targets(job: Job) -> Iterator[Path]:
    for each in job.files:
        yield job.shelf.target(each.file)
        yield job.shelf.place(each.file)


def _no_bin(path: Path, error: OSError, gone: int, count: int) -> Refused:
    reason = error.strerror or str(error) or type(error).__name__
    if gone == 0:
        return Refused("bin.none", path=str(path), reason=reason)
    return Refused("bin.partly", path=str(path), reason=reason, gone=gone, count=count)
