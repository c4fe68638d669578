"""Free space: whether what is still to come fits, over the whole queue and for each volume. Pure but for one look."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import BadFile, Refused, WeighbridgeError

MARGIN_BYTES = 256 << 20
"""What is left alone on each volume, for all else that writes there."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class Volume:
    """A file system: what tells it from others, and its free bytes; None where the system does not say."""

    id: int
    free_bytes: int | None


@dataclass(frozen=True)
class Claim:
    """What one job still needs, and on which volume."""

    job_id: int
    volume_id: int
    missing_bytes: int


def volume_of(folder: Path) -> Volume:
    """The volume that `folder` is on, or will be once it is made. Raises OSError where nothing above it can be seen."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        free: int | None = shutil.disk_usage(place).free
    except OSError:
        free = None
    return Volume(os.stat(place).st_dev, free)  # noqa: PTH116 - the same call as above


def shortages(claims: Iterable[Claim], free_bytes: Mapping[int, int | None]) -> dict[int, tuple[int, int]]:
    """The jobs that do not fit, with the bytes that each needs together with those before it, and those that are free.

    `claims` in the order of the queue: what does not fit counts for nothing, so that a smaller job behind it may go on.
    """
    taken: dict[int, int] = {}
    short: dict[int, tuple[int, int]] = {}
    for claim in claims:
        free = free_bytes.get(claim.volume_id)
        needed = taken.get(claim.volume_id, 0) + claim.missing_bytes + MARGIN_BYTES
        if claim.missing_bytes and free is not None and needed > free:
            short[claim.job_id] = (needed, free)
        else:
            taken[claim.volume_id] = needed - MARGIN_BYTES
    return short


def disk_full(folder: Path, needed_bytes: int, free_bytes: int | None) -> Refused:
    """The error for a volume without room."""
    return Refused("disk.full", path=str(folder), needed_bytes=needed_bytes, free_bytes=free_bytes or 0)


def fault_of(error: OSError, path: Path, missing_bytes: int) -> WeighbridgeError:
    """What the system's refusal to write `path` is, in our terms: Refused("disk.full"), BadFile("file.unwritable")."""
    if error.errno in FULL:
        try:
            free = volume_of(path.parent).free_bytes
        except OSError:
            free = None
        return disk_full(path.parent, missing_bytes + MARGIN_BYTES, free)
    return BadFile("file.unwritable", path=str(error.filename or path), reason=error.strerror or str(error))
