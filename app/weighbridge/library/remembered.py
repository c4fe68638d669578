"""The last listing, kept on disk, so that a second start shows the library at once, before it has looked at a folder.

It holds what rows show: models with their headers, without tables of tensors and long values. The first scan takes its
place. One file, behind a digest of it: what is damaged, or was written by another version, is as if it were not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from weighbridge.base.errors import BadFile, NotFound, Refused, WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role
from weighbridge.library.model import Helper, Model, key_of
from weighbridge.library.scan import Listing

VERSION = 1
"""Raised whenever what a value means changes; a change of the fields is seen by itself."""

MOST_MODELS, MOST_BYTES, MOST_CONFIG_BYTES = 20_000, 128 << 20, 64 << 10
MOST_TEXT, MOST_LIST = 256, 512
_DIGEST_BYTES = 16
_KINDS = {kind.__name__: kind for kind in (BadFile, NotFound, Refused, WeighbridgeError)}
_NOT_PLAIN = ("path", "parts", "info", "problem", "companions")
_PLAIN = tuple(field.name for field in fields(Model) if field.name not in _NOT_PLAIN)
_INFO = tuple(field.name for field in fields(ModelInfo))
_KIND, _METADATA = _INFO.index("kind"), _INFO.index("metadata")
_LISTS = tuple(map(_INFO.index, ("heads", "kv_heads", "split")))
_KIND_OF = {kind.value: kind for kind in Kind}
_FORM = json.dumps([VERSION, _PLAIN, _INFO])


class Remembered:
    """The listing in the file at `path`; one writer at a time. A file that cannot be written costs time, no more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = b""

    def keep(self, listing: Listing) -> None:
        """Keep `listing` in the place of an earlier one, unless it is the same."""
        content = _packed(listing)
        digest = _digest(content)
        if digest == self._digest or len(content) > MOST_BYTES:
            return
        aside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(digest + content)
            aside.replace(self._path)
            self._digest = digest
        except OSError:
            with suppress(OSError):
                aside.unlink()

    def read(self) -> Listing | None:
        """What was kept; None where there is nothing, or nothing that can be read."""
        try:
            if self._path.stat().st_size > MOST_BYTES + _DIGEST_BYTES:
                return None
            kept = self._path.read_bytes()
        except OSError:
            return None
        digest, content = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        if digest != _digest(content):
            return None
        try:
            listing = _unpacked(content)
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        self._digest = digest
        return listing


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _packed(listing: Listing) -> bytes:
    """ASCII alone: names that are no text pass through JSON's escapes unharmed."""
    rows = [_row(model, listing.stamps.get(key_of(model))) for model in listing.models[:MOST_MODELS]]
    return json.dumps({"form": _FORM, "models": rows}, separators=(",", ":"), default=str).encode("ascii")


def _unpacked(content: bytes) -> Listing | None:
    told = json.loads(content)
    if told["form"] != _FORM:
        return None
    models: list[Model] = []
    stamps: dict[tuple[Path, str], str] = {}
    for stamp, row in told["models"]:
        model = _model(*row)
        models.append(model)
        if stamp is not None:
            stamps[key_of(model)] = stamp
    return Listing(models=tuple(models), stamps=stamps)


def _row(model: Model, stamp: str | None) -> list[Any]:
    parts = [os.fspath(part) for part in model.parts if part != model.path]
    companions = [[helper.role, os.fspath(helper.path), helper.size_bytes] for helper in model.companions]
    plain = [getattr(model, name) for name in _PLAIN]
    own = model.parts[:1] == (model.path,)
    return [stamp, [os.fspath(model.path), own, parts, _info_row(model.info), _told(model.problem), companions, plain]]


def _model(
    path: str,
    own: bool,
    parts: Sequence[str],
    info: list[Any] | None,
    problem: Sequence[Any] | None,
    companions: Sequence[Sequence[Any]],
    plain: Sequence[Any],
) -> Model:
    where = Path(path)
    return Model(
        path=where,
        parts=(*((where,) if own else ()), *map(Path, parts)),
        info=None if info is None else _info(info),
        problem=None if problem is None else _KINDS[problem[0]](problem[1], **problem[2]),
        companions=tuple([Helper(Role(role), Path(each), size_bytes) for role, each, size_bytes in companions]),
        **dict(zip(_PLAIN, [_frozen(value) if type(value) is list else value for value in plain], strict=True)),
    )


def _info_row(info: ModelInfo | None) -> list[Any] | None:
    """None too where a config is very long: then nothing is known until the scan."""
    if info is None or len(json.dumps(dict(info.config), default=str)) > MOST_CONFIG_BYTES:
        return None
    values = {name: getattr(info, name) for name in _INFO}
    values |= {"tensors": None, "config": dict(info.config)}
    values["metadata"] = {key: value for key, value in info.metadata.items() if _is_short(value)}
    return [values[name] for name in _INFO]


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    return not isinstance(value, tuple) or len(value) <= MOST_LIST


def _info(row: list[Any]) -> ModelInfo:
    """The start of the window waits for this: only what can be a list is looked at."""
    row[_KIND] = _KIND_OF[row[_KIND]]
    for place in _LISTS:
        if row[place] is not None:
            row[place] = tuple(row[place])
    metadata = row[_METADATA]
    for key, value in metadata.items():
        if type(value) is list:
            metadata[key] = tuple(value)
    return ModelInfo(*row)


def _frozen(value: Any) -> Any:
    """Lists are tuples in immutable values."""
    return tuple(map(_frozen, value)) if type(value) is list else value


def _told(problem: WeighbridgeError | None) -> list[Any] | None:
    if problem is None:
        return None
    kind = type(problem).__name__
    return [kind if kind in _KINDS else WeighbridgeError.__name__, problem.code, problem.values]
