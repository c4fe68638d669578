"""The library: the one owner of the last listing, and the only way from a name to a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from weighbridge.base.errors import NotFound, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.library.headers import Headers
from weighbridge.library.model import Model
from weighbridge.library.scan import Listing, list_models

MAX_NAME = 4_096


class Library:
    """The models below some folders. Safe to use from any thread; one scan runs at a time."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.Lock()
        self._headers = Headers()
        self._listing = Listing()

    def use_folders(self, folders: Sequence[Path]) -> None:
        """Look below these from the next scan on."""
        self.folders = tuple(folders)

    @property
    def models(self) -> tuple[Model, ...]:
        """The models of the last scan, by id."""
        return self._listing.models

    @property
    def skipped(self) -> tuple[WeighbridgeError, ...]:
        """What the last scan passed over, and why."""
        return self._listing.skipped

    def scan(self, task: Task | None = None) -> tuple[Model, ...]:
        """Look at the folders again. Raises Cancelled, and then the last listing stays."""
        with self._lock:
            self._listing = list_models(self.folders, task or Task(), self._headers)
            return self._listing.models

    def resolve(self, name: str) -> Model:
        """The listed model that `name` means.

        An id, or the file's own name, in any case, with or without ".gguf"; "NAME:Q4_1" where the name of the file or
        of its repository is given without its quantisation; or the path of a listed file, any part of a set. Raises
        NotFound, with the ids that are `served`: "model.unknown", "model.none" or "model.ambiguous". Never looks beyond
        the last listing.
        """
        models = self.models
        served = [model.id for model in models]
        for means in (_by_id, _by_title, _by_quant, _by_path):
            found = [model for model in models if means(model, name)] if 0 < len(name) <= MAX_NAME else []
            if len(found) == 1:
                return found[0]
            if found:
                raise NotFound("model.ambiguous", name=name, served=[model.id for model in found])
        raise NotFound("model.unknown" if served else "model.none", name=name[:200], served=served)


Meaning = Callable[[Model, str], bool]


def _same(first: str, second: str) -> bool:
    return first.casefold() == second.casefold()


def _bare(name: str) -> str:
    return name[: -len(".gguf")] if name.casefold().endswith(".gguf") else name


def _by_id(model: Model, name: str) -> bool:
    return _same(model.id, name) or _same(model.id, _bare(name))


def _by_title(model: Model, name: str) -> bool:
    return _same(model.title, _bare(name))


def _by_quant(model: Model, name: str) -> bool:
    base, colon, quant = name.rpartition(":")
    if not colon or model.quant is None or not _same(model.quant, quant):
        return False
    stem = model.title[: -len(model.quant)].rstrip("-._ ") if _ends_with(model.title, model.quant) else model.title
    repository = "/".join(model.path.parent.parts[-2:])
    return any(_same(base, known) for known in (model.id, model.title, stem, repository, f"{repository}/{stem}"))


def _ends_with(title: str, quant: str) -> bool:
    return title.casefold().endswith(quant.casefold())


def _by_path(model: Model, name: str) -> bool:
    """Compared as text against the listed files; nothing is opened."""
    if os.sep not in name and "/" not in name:
        return False
    wanted = os.path.normcase(os.path.abspath(name))  # noqa: PTH100 - no look at the disk
    return any(wanted == os.path.normcase(os.path.abspath(part)) for part in model.parts)  # noqa: PTH100
