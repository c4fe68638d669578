"""Adding files and folders to the library where they lie: nothing is copied, moved or written to.

A look tells, off the window's thread, what would be added and why not; the settings are changed after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.base.errors import BadFile, NotFound, Refused, WeighbridgeError
from weighbridge.base.settings import Settings, SettingsStore
from weighbridge.base.task import Task
from weighbridge.library.files import LAUNCH
from weighbridge.library.full_headers import FullHeaders
from weighbridge.library.headers import Headers
from weighbridge.library.index import Library
from weighbridge.library.model import ADDED, Model
from weighbridge.library.places import Root
from weighbridge.library.recognise_path import OF_FOLDERS, recognise_path
from weighbridge.library.scan import list_models

MOST_AT_ONCE = 500
"""Each file is a place of its own, which every scan goes to; a folder is one, whatever is in it."""


@dataclass(frozen=True)
class Additions:
    """What is to be added: `folders` and single `files`; models that go back on the list; what is not, and why."""

    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    back: tuple[Model, ...] = ()
    refused: tuple[WeighbridgeError, ...] = field(default=())

    def changes(self, settings: Settings) -> dict[str, tuple[str, ...]]:
        """The settings that are other than those in force."""
        folders = _joined(settings.model_folders, self.folders)
        files = _joined(settings.model_files, self.files)
        made = {"model_folders": folders, "model_files": files}
        return {name: value for name, value in made.items() if value != getattr(settings, name)}

    def apply(self, store: SettingsStore) -> None:
        """Write what is added into the settings, where something is."""
        changes = self.changes(store.value)
        if changes:
            store.change(**changes)


def look_at(paths: Iterable[Path], library: Library, home: Path, task: Task) -> Additions:
    """What adding `paths` to `library` would do, for the user whose home folder is `home`. Raises Cancelled."""
    folders: list[Path] = []
    files: list[Path] = []
    back: list[Model] = []
    refused: list[WeighbridgeError] = []
    known = _Known(library)
    asked = [Path(os.path.abspath(each)) for each in paths]  # noqa: PTH100 - links in it are kept
    if len(asked) > MOST_AT_ONCE:
        refused.append(Refused("adding.many", count=len(asked), most=MOST_AT_ONCE))
    for path in asked[:MOST_AT_ONCE]:
        try:
            off = known.off_list(path.parent if _is_of_folder(path) else path)
            if off is not None:
                back.append(off)
                continue
            found = _folder(path, known, home, task) if path.is_dir() else _file(path, known, task)
            _require_text(found)
            (folders if found.is_dir() else files).append(found)
        except WeighbridgeError as error:
            refused.append(error)
        except OSError as error:
            refused.append(BadFile("file.unreadable", name=path.name, reason=error.strerror or str(error)))
    return Additions(tuple(dict.fromkeys(folders)), tuple(dict.fromkeys(files)), tuple(back), tuple(refused))


class _Known:
    """What the library has already."""

    def __init__(self, library: Library) -> None:
        self._folders = {os.path.realpath(root.path) for root in library.roots if root.path.is_dir()}
        self._files = {name for model in library.all_models for name in _names(model)}
        self._off = {name: model for model in library.off_list for name in _names(model)}

    def off_list(self, path: Path) -> Model | None:
        """The model that is there, but was taken off the list."""
        return self._off.get(os.path.realpath(path))

    def require_new(self, path: Path) -> None:
        """Raise Refused("adding.known") where the library has it, or looks at the folder around it."""
        real = Path(os.path.realpath(path))
        if str(real) in self._files or any(str(above) in self._folders for above in (real, *real.parents)):
            raise Refused("adding.known", path=str(path))


def _names(model: Model) -> set[str]:
    """All names by which a file, or a folder that is a model, is found."""
    places = [model.path, *model.parts, *(Path(alias) for alias in model.aliases if os.sep in alias)]
    return {os.path.realpath(place) for place in places}


def _folder(path: Path, known: _Known, home: Path, task: Task) -> Path:
    """`path`, where it is a folder with models in it that is not too much to look through."""
    real, at_home = Path(os.path.realpath(path)), Path(os.path.realpath(home))
    if real == Path(real.anchor):
        raise Refused("adding.root", path=str(path))
    if at_home.is_relative_to(real):
        raise Refused("adding.home", path=str(path))
    known.require_new(path)
    if not _models_at(path, task):
        raise NotFound("adding.nothing", path=str(path))
    return path


def _file(path: Path, known: _Known, task: Task) -> Path:
    """The place to look at for the model that the file at `path` is, is a part of, or tells of."""
    if not path.exists():
        raise NotFound("model.no_file", path=str(path))
    if _is_of_folder(path):  # which may be a link to a file of another folder
        place = recognise_path(path, task).path
        known.require_new(place)
        return place
    known.require_new(path)
    found = _models_at(path, task) or [recognise_path(path, task)]
    problem = found[0].problem
    if problem is not None and problem.code != "model.part_missing":
        raise problem
    return path if path.name.lower().endswith(LAUNCH) else found[0].path


def _is_of_folder(path: Path) -> bool:
    return path.name.lower().endswith(OF_FOLDERS)


def _require_text(path: Path) -> None:
    """TOML holds text alone, and a file system any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise Refused("adding.name", path=str(path)) from None


def _models_at(path: Path, task: Task) -> list[Model]:
    return list(list_models([Root(path, ADDED)], task, Headers(), FullHeaders()).models)


def _joined(before: tuple[str, ...], added: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *map(str, added))))
