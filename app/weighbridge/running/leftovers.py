"""What an owner of the data folder that is gone has left behind: ended by the next one.

The launcher sees to it that an owner's end is its engines' end. Where it cannot, because it is suspended or was killed
together with its owner, what is left bears the mark of the data folder's lock in its environment. Whoever holds that
lock knows that the owner before is gone, and has started nothing yet. Nothing without the mark is touched.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping

import psutil

MARK_VARIABLE = "WEIGHBRIDGE_OWNER"
_GONE_S = 3.0
_log = logging.getLogger(__name__)


def marked(environment: Mapping[str, str], mark: str | None) -> dict[str, str]:
    """The environment for what the holder of the lock with `mark` starts; None: there is no such holder."""
    kept = {name: value for name, value in environment.items() if name != MARK_VARIABLE}
    return kept if mark is None else {**kept, MARK_VARIABLE: mark}


def end_leftovers(mark: str | None) -> None:
    """End what bears `mark`, the mark of the lock that we hold. To be called before anything is started."""
    found = [] if mark is None else list(_bearing(mark))
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    if found:
        psutil.wait_procs(found, timeout=_GONE_S)
        _log.info("ended what was left behind: %s", [process.pid for process in found])


def _bearing(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK_VARIABLE) == mark:
                yield process
