"""The library: the one owner of the last listing, and the only way from a name to a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from weighbridge.base.errors import BadFile, NotFound, WeighbridgeError
from weighbridge.base.listeners import Listeners
from weighbridge.base.task import Task
from weighbridge.formats.model import ModelInfo
from weighbridge.hub.abandon import abandonable
from weighbridge.library.folders import repository_of
from weighbridge.library.full_headers import FullHeaders, has_table
from weighbridge.library.hashes import Hashes
from weighbridge.library.headers import Headers
from weighbridge.library.marks import Mark, Marks, as_chosen
from weighbridge.library.model import ADDED, OWN, Key, Model, key_of, require_file
from weighbridge.library.places import Root, as_root
from weighbridge.library.remembered import Remembered
from weighbridge.library.rows import in_full
from weighbridge.library.scan import Listing, list_models
from weighbridge.library.verifying import Verified, verify

MAX_NAME = 4_096

Listener = Callable[[Model], object]


class Library:
    """The models at some places; a mere path is one of our own. Safe to use from any thread; one scan runs at a time.

    `elsewhere` gives the models that endpoints serve; call `relist` where they are others.

    A scan reads headers briefly. Full ones are read on demand, or all of them in the background by whoever calls
    `read_all`; they are kept in the folder `kept`, where there is one, so that each is read only once. What `marks`
    have off the list is left out everywhere. `hashes` are for `verify`, and tell what was found wrong before.
    """

    def __init__(
        self,
        roots: Iterable[Root | Path],
        kept: Path | None = None,
        marks: Marks | None = None,
        hashes: Hashes | None = None,
        remembered: Remembered | None = None,
        elsewhere: Callable[[], Iterable[Model]] | None = None,
    ) -> None:
        self.roots = tuple(map(as_root, roots))
        self._lock = threading.Lock()
        self._headers = Headers()
        self._full = FullHeaders(kept)
        self._changing = threading.Lock()
        self._listing = Listing()
        self._shown = Listing()
        self._off: tuple[Key, ...] = ()
        self._listeners: Listeners[[Model]] = Listeners()
        self._marks, self._hashes, self._remembered = marks, hashes, remembered
        self._elsewhere = elsewhere or _nowhere
        self._scanned = False
        if marks is not None:
            marks.subscribe(lambda _key: self.relist())
        if elsewhere is not None:
            self.relist()

    def use_roots(self, roots: Iterable[Root | Path]) -> None:
        """Look at these from the next scan on."""
        self.roots = tuple(map(as_root, roots))

    def use_elsewhere(self, elsewhere: Callable[[], Iterable[Model]]) -> None:
        """List what this gives, in the place of what was given at the start."""
        self._elsewhere = elsewhere
        self.relist()

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the last scan has looked; before one, our own and the user's places."""
        return self._listing.searched or tuple(root.path for root in self.roots if root.source in (OWN, ADDED))

    @property
    def models(self) -> tuple[Model, ...]:
        """The models of the last scan, by id, with what has been learned of them since."""
        return self._shown.models

    def listed(self, model: Model) -> Model | None:
        """`model` as it is on the list now; None where it is not."""
        return self._shown.known(model)

    @property
    def off_list(self) -> tuple[Model, ...]:
        """Those that were taken off the list, and are still there."""
        listing = self._listing
        return tuple(model for key in self._off if (model := listing.at(key)) is not None)

    @property
    def all_models(self) -> tuple[Model, ...]:
        """All that are there, on the list and off it, with the companions that were found for them."""
        return _by_name([*self._listing.models, *self._elsewhere()])

    @property
    def skipped(self) -> tuple[WeighbridgeError, ...]:
        """What the last scan passed over, and why."""
        return self._listing.skipped

    def scan(self, task: Task | None = None) -> tuple[Model, ...]:
        """Look at the folders again. Raises Cancelled, at once also where a drive does not answer, and then the last
        listing stays.
        """
        with self._lock:
            listing = self._with_faults(self._looked_at(task))
            self._full.keep_only(set(listing.stamps.values()))
            if self._marks is not None:
                with suppress(BadFile):  # then those that were read at the start still hold
                    self._marks.reload()
            listing = listing.settled(self._listing)
            with self._changing:
                self._scanned = True
                self._use(listing)
                shown = self._shown.models
            if self._remembered is not None:
                self._remembered.keep(listing)
            return shown

    def _looked_at(self, task: Task | None) -> Listing:
        work = partial(list_models, self.roots, task or Task(), self._headers, self._full)
        return work() if task is None else abandonable(work, lambda _listing: None, task)

    def mark_of(self, model: Model) -> Mark:
        """What is written on `model`."""
        return Mark() if self._marks is None else self._marks.of(model)

    def recall(self) -> tuple[Model, ...]:
        """List what was there at the last scan of an earlier start, until the first scan of this one."""
        listing = self._remembered.read() if self._remembered is not None else None
        with self._changing:
            if listing is not None and not self._scanned:
                self._use(listing)
            return self._shown.models

    def verify(self, model: Model, task: Task) -> Verified:
        """Read all of `model` again, and compare it with what it must be; what is wrong is its row's problem from then.

        Progress is in bytes. Raises Cancelled, Refused where it is no file, and BadFile where it cannot be read at all
        or the database fails.
        """
        require_file(model)
        assert self._hashes is not None
        listing = self._listing
        found = verify(model, self._hashes, task)
        known = listing.known(model) or model
        if found.fault is not None or (known.problem is not None and known.problem.code == "model.corrupt"):
            self._learn(replace(known, problem=found.fault), listing.stamps.get(key_of(known)))
        return found

    def came(self, path: Path, sha256: str) -> None:
        """A file has come, and was found to have this hash: kept for verifying it later on, where that can be kept."""
        if self._hashes is not None:
            with suppress(BadFile, OSError):
                self._hashes.promise(path, sha256)

    def info(self, model: Model) -> ModelInfo | None:
        """The best that is known of `model`: its full header where it was read, else the brief one."""
        return (self._listing.known(model) or model).info

    def read_full(self, model: Model, task: Task | None = None) -> ModelInfo | None:
        """What the whole header of a listed model says; read at most once for each state of its files.

        None for a format without one. Raises BadFile where the files are damaged or incomplete, and Cancelled.
        """
        listing = self._listing
        known = listing.known(model) or model
        if known.problem is not None:
            raise known.problem
        if not has_table(known) or (known.info is not None and known.info.full):
            return known.info
        stamp = listing.stamps.get(key_of(known))
        try:
            info = self._full.read(known, stamp, (task or Task()).check)
        except BadFile as error:
            self._learn(replace(known, problem=error), stamp)
            raise
        learned = in_full(known, info)
        self._learn(learned, stamp)
        return learned.info

    def read_all(self, task: Task) -> None:
        """Read all full headers that are still missing, one file at a time; a damaged one becomes its row's problem.

        Progress is in models. Raises Cancelled.
        """
        waiting = [model for model in self.models if has_table(model) and not (model.info and model.info.full)]
        for done, model in enumerate(waiting):
            task.step(done, len(waiting), model.id)
            with suppress(BadFile):
                self.read_full(model, task)
        task.step(len(waiting), len(waiting))
        self._full.tidy()

    def relist(self) -> None:
        """List what was found last, with what is off the list now and what endpoints serve now. Looks at no file."""
        with self._changing:
            self._use(self._listing)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with each model of which more is known now, from the thread that read it.

        Returns what ends that.
        """
        return self._listeners.add(listener)

    def _learn(self, model: Model, stamp: str | None) -> None:
        """Put `model` in the place of what was known of it, unless its files have changed meanwhile."""
        with self._changing:
            listing = self._listing
            if stamp is None or listing.stamps.get(key_of(model)) != stamp:
                return
            self._listing = listing.learned(model)
            model = as_chosen(model, self.mark_of(model))
            self._shown = self._shown.learned(model)
        self._listeners.tell(model)

    def _use(self, listing: Listing) -> None:
        """Make `listing` the one that is shown. Under the lock of changes."""
        marks = self._marks.all() if self._marks is not None else {}
        off = {key for key, mark in marks.items() if mark.off_list}
        chosen = {key: mark for key, mark in marks.items() if mark.parts}
        self._listing = listing
        self._off = tuple(key for model in listing.models if (key := key_of(model)) in off) if off else ()
        shown = listing.without(off) if self._off else listing
        if served := tuple(self._elsewhere()):
            shown = shown.joined(_by_name([*shown.models, *served]))
        for model in shown.models if chosen else ():
            if key_of(model) in chosen:
                shown = shown.learned(as_chosen(model, chosen[key_of(model)]))
        self._shown = shown  # in one step: others read it meanwhile

    def _with_faults(self, listing: Listing) -> Listing:
        """What was found wrong before, and has not changed since, is wrong. A database that fails knows of nothing."""
        found: Mapping[Key, BadFile] = {}
        if self._hashes is not None:
            with suppress(BadFile):
                found = self._hashes.faults(listing.models)
        if not found:
            return listing
        models = (replace(known, problem=found.get(key_of(known), known.problem)) for known in listing.models)
        return replace(listing, models=tuple(models))

    def resolve(self, name: str, *, off_list: bool = False) -> Model:
        """The listed model that `name` means; `off_list`: among those that were taken off the list.

        An id, or the file's own name, in any case, with or without ".gguf"; "NAME:Q4_1" where the name of the file or
        of its repository is given without its quantisation; or the path of a listed file, any part of a set. Raises
        NotFound, with the ids that are `served`: "model.unknown", "model.none" or "model.ambiguous". Never looks beyond
        the last listing.
        """
        models = self.off_list if off_list else self.models
        served = [model.id for model in models]
        for means in (_exactly, _by_id, _by_alias, _by_title, _by_quant, _by_path):
            found = [model for model in models if means(model, name)] if 0 < len(name) <= MAX_NAME else []
            if len(found) == 1:
                return found[0]
            if found:
                raise NotFound("model.ambiguous", name=name, served=[model.id for model in found])
        raise NotFound("model.unknown" if served else "model.none", name=name[:200], served=served)


def _nowhere() -> tuple[Model, ...]:
    return ()


def _by_name(models: Iterable[Model]) -> tuple[Model, ...]:
    return tuple(sorted(models, key=lambda model: model.id.casefold()))


def _same(first: str, second: str) -> bool:
    return first.casefold() == second.casefold()


def _bare(name: str) -> str:
    return name[: -len(".gguf")] if name.casefold().endswith(".gguf") else name


def _exactly(model: Model, name: str) -> bool:
    return model.id == name


def _by_id(model: Model, name: str) -> bool:
    return _same(model.id, name) or _same(model.id, _bare(name))


def _by_alias(model: Model, name: str) -> bool:
    return any(_same(alias, name) for alias in model.aliases)


def _by_title(model: Model, name: str) -> bool:
    """The file's own name, or owner and repository of a folder."""
    is_folder = model.path not in model.parts
    repository = repository_of(model.path) or "/".join(model.path.parts[-2:])
    return _same(model.title, _bare(name)) or (is_folder and _same(repository, name))


def _by_quant(model: Model, name: str) -> bool:
    base, colon, quant = name.rpartition(":")
    if not colon or model.quant is None or not _same(model.quant, quant):
        return False
    stem = model.title[: -len(model.quant)].rstrip("-._ ") if _ends_with(model.title, model.quant) else model.title
    repository = repository_of(model.path) or "/".join(model.path.parent.parts[-2:])
    return any(_same(base, known) for known in (model.id, model.title, stem, repository, f"{repository}/{stem}"))


def _ends_with(title: str, quant: str) -> bool:
    return title.casefold().endswith(quant.casefold())


def _by_path(model: Model, name: str) -> bool:
    """Compared as text against the listed files; nothing is opened."""
    if os.sep not in name and "/" not in name:
        return False
    wanted = os.path.normcase(os.path.abspath(name))  # noqa: PTH100 - no look at the disk
    known = (model.path, *model.parts, *(Path(alias) for alias in model.aliases))
    return any(wanted == os.path.normcase(os.path.abspath(path)) for path in known)  # noqa: PTH100
