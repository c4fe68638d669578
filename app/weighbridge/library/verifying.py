"""Verifying a model again: all its bytes against the hashes that are known, else its header and table of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.library.full_headers import has_table, read_in_full
from weighbridge.library.hashes import Hashes, Known, Told, corrupt
from weighbridge.library.model import Model
from weighbridge_engines.api import Cause


@dataclass(frozen=True)
class Verified:
    """What came of it: `told` says how it was verified, by a code and values; `fault` what is wrong, if anything."""

    told: Cause
    fault: WeighbridgeError | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing was found wrong."""
        return self.fault is None


def verify(model: Model, hashes: Hashes, task: Task) -> Verified:
    """Read `model` again. Progress is in bytes. Raises Cancelled, and BadFile("file.unreadable"), ("file.changed").

    A part that is missing is a fault, too, whatever the others are.
    """
    promised = hashes.promised(model)
    checks = [(part, known) for part, known in zip(model.parts, promised, strict=True) if known is not None]
    fault = _compare(checks, hashes, task) or _standing(model)
    if fault is not None or (checks and len(checks) == len(model.parts)):
        return Verified(_by_hash(checks), fault)
    return _by_header(replace(model, problem=None), len(model.parts) - len(checks), task)


def _compare(checks: Sequence[tuple[Path, Known]], hashes: Hashes, task: Task) -> BadFile | None:
    """The first file that is not what it must be; those after it are not read."""
    total_bytes, before_bytes = sum(_size(part) for part, _ in checks), 0
    for part, known in checks:
        found = hashes.count(part, partial(_step, task, before_bytes, total_bytes), known.sha256)
        if found != known.sha256:
            return corrupt(part, known.sha256, found)
        before_bytes += _size(part)
    return None


def _step(task: Task, before_bytes: int, total_bytes: int, read_bytes: int) -> None:
    task.step(before_bytes + read_bytes, total_bytes, "verifying")


def _standing(model: Model) -> WeighbridgeError | None:
    """What is wrong with the model whatever its bytes are; that they were wrong once says nothing of now."""
    return None if model.problem is None or model.problem.code == "model.corrupt" else model.problem


def _by_hash(checks: Sequence[tuple[Path, Known]]) -> Cause:
    by_name = all(known.told is Told.NAME for _, known in checks)
    return Cause("verified.by_name" if by_name else "verified.by_download", {"count": len(checks)})


def _by_header(model: Model, unknown: int, task: Task) -> Verified:
    """For files without a known hash; a format without a table leaves nothing to compare with."""
    values = {"count": len(model.parts), "unknown": unknown}
    if not has_table(model):
        return Verified(Cause("verified.nothing", values))
    try:
        read_in_full(model, task.check)
    except BadFile as fault:
        return Verified(Cause("verified.by_header", values), fault)
    return Verified(Cause("verified.by_header", values))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise BadFile("file.unreadable", name=path.name, reason=error.strerror or str(error)) from error
