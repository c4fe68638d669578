"""The last listing, kept on disk, so that a second start shows the library at once, before it has looked at a folder.

It holds what rows show: models with their headers, without tables of tensors and long values. The first scan takes its
place. One file, behind a digest of it: what is damaged, or was written by another version, is as if it were not there.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile, NotFound, Refused, WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role
from weighbridge.library.model import Helper, Key, Model, key_of
from weighbridge.library.scan import Listing

VERSION = 1
"""Raised whenever what a value means changes; a change of the fields is seen by itself."""

MOST_MODELS, MOST_BYTES, MOST_CONFIG_BYTES = 20_000, 128 << 20, 64 << 10
MOST_TEXT, MOST_LIST = 256, 512
_DIGEST_BYTES, _FEW = 16, 64
_KINDS = {kind.__name__: kind for kind in (BadFile, NotFound, Refused, WeighbridgeError)}
_MODEL, _INFO_FIELDS = (tuple(field.name for field in fields(kind)) for kind in (Model, ModelInfo))
_PATH, _PARTS, _INFO, _PROBLEM, _COMPANIONS = map(_MODEL.index, ("path", "parts", "info", "problem", "companions"))
_LISTS_OF_MODEL = tuple(map(_MODEL.index, ("sha256s", "aliases", "unused")))
_KIND, _METADATA = _INFO_FIELDS.index("kind"), _INFO_FIELDS.index("metadata")
_LISTS = tuple(map(_INFO_FIELDS.index, ("heads", "kv_heads", "split")))
_KIND_OF = {kind.value: kind for kind in Kind}
_FORM = [VERSION, *_MODEL, *_INFO_FIELDS]


class Remembered:
    """The listing in the file at `path`; one writer at a time. A file that cannot be written costs time, no more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = b""

    def keep(self, listing: Listing) -> None:
        """Keep `listing` in the place of an earlier one, unless it is the same."""
        lines = _packed(listing)
        digest = _digest(lines)
        if digest == self._digest or sum(map(len, lines)) > MOST_BYTES:
            return
        aside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("wb") as file:
                file.writelines((digest, *lines))
            aside.replace(self._path)
            self._digest = digest
        except OSError:
            with suppress(OSError):
                aside.unlink()

    def read(self) -> Listing | None:
        """What was kept; None where there is nothing, or nothing that can be read."""
        try:
            status = self._path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES + _DIGEST_BYTES:
                return None
            with self._path.open("rb") as file:
                digest, lines = file.read(_DIGEST_BYTES), list(file)
        except OSError:
            return None
        if digest != _digest(lines):
            return None
        try:
            listing = _unpacked(lines)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return None
        self._digest = digest
        return listing


def _digest(lines: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for line in lines:
        digest.update(line)
    return digest.digest()


def _packed(listing: Listing) -> list[bytes]:
    """A line for the form and one for each few models: no thread waits long while another reads or writes them.

    ASCII alone: names that are no text pass through JSON's escapes unharmed.
    """
    models = listing.models[:MOST_MODELS]
    rows = ([_row(model, listing.stamps.get(key_of(model))) for model in few] for few in _by_few(models))
    return [f"{json.dumps(few, separators=(',', ':'), default=str)}\n".encode("ascii") for few in chain([_FORM], rows)]


def _by_few(models: Sequence[Model]) -> Iterator[Sequence[Model]]:
    return (models[start : start + _FEW] for start in range(0, len(models), _FEW))


def _unpacked(lines: Sequence[bytes]) -> Listing | None:
    if not lines or json.loads(lines[0]) != _FORM:
        return None
    models: list[Model] = []
    stamps: dict[Key, str] = {}
    for line in lines[1:]:
        for stamp, row in json.loads(line):
            model = _model(row)
            models.append(model)
            if stamp is not None:
                stamps[key_of(model)] = stamp
    return Listing(models=tuple(models), stamps=stamps)


def _row(model: Model, stamp: str | None) -> list[Any]:
    """In the order of the fields. A part that is the path itself, as most are, is None."""
    row = [getattr(model, name) for name in _MODEL]
    row[_PATH] = os.fspath(model.path)
    row[_PARTS] = [None if part == model.path else os.fspath(part) for part in model.parts]
    row[_INFO] = _info_row(model.info)
    row[_PROBLEM] = _told(model.problem)
    row[_COMPANIONS] = [[helper.role, os.fspath(helper.path), helper.size_bytes] for helper in model.companions]
    return [stamp, row]


def _model(row: list[Any]) -> Model:
    """The start of the window waits for this: only what can be a list is looked at."""
    row[_PATH] = path = Path(row[_PATH])
    row[_PARTS] = tuple([path if part is None else Path(part) for part in row[_PARTS]])
    row[_COMPANIONS] = tuple([Helper(Role(role), Path(each), size) for role, each, size in row[_COMPANIONS]])
    if row[_INFO] is not None:
        row[_INFO] = _info(row[_INFO])
    if row[_PROBLEM] is not None:
        kind, code, values = row[_PROBLEM]
        row[_PROBLEM] = _KINDS[kind](code, **values)
    for place in _LISTS_OF_MODEL:
        row[place] = tuple(row[place])
    return Model(*row)


def _info_row(info: ModelInfo | None) -> list[Any] | None:
    """None too where a config is very long: then nothing is known until the scan."""
    if info is None or len(json.dumps(dict(info.config), default=str)) > MOST_CONFIG_BYTES:
        return None
    values = {name: getattr(info, name) for name in _INFO_FIELDS}
    values |= {"tensors": None, "config": dict(info.config)}
    values["metadata"] = {key: value for key, value in info.metadata.items() if _is_short(value)}
    return [values[name] for name in _INFO_FIELDS]


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    return not isinstance(value, tuple) or len(value) <= MOST_LIST


def _info(row: list[Any]) -> ModelInfo:
    """As `_model`."""
    row[_KIND] = _KIND_OF[row[_KIND]]
    for place in _LISTS:
        if row[place] is not None:
            row[place] = tuple(row[place])
    metadata = row[_METADATA]
    for key, value in metadata.items():
        if type(value) is list:
            metadata[key] = tuple(value)
    return ModelInfo(*row)


def _told(problem: WeighbridgeError | None) -> list[Any] | None:
    if problem is None:
        return None
    kind = type(problem).__name__
    return [kind if kind in _KINDS else WeighbridgeError.__name__, problem.code, problem.values]
