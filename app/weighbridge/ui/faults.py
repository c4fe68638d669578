"""Faults that nobody caught: into the log, and to the window, which goes on."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

_LOG = logging.getLogger(__name__)
_MOST_BYTES = 1 << 20


def log_to(path: Path) -> None:
    """Write records at INFO and above of this program to `path`, at most a megabyte, and the one before it."""
    from logging.handlers import RotatingFileHandler  # not needed before the window stands

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True)
    except OSError:
        return  # the window works without a log
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger("weighbridge").addHandler(handler)
    logging.getLogger("weighbridge").setLevel(logging.INFO)


def catch_faults(tell: Callable[[BaseException], None]) -> None:
    """From now on, log what nobody caught, in any thread, and `tell` it (from that thread)."""

    def uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _LOG.error("not caught", exc_info=(kind, error, trace))
        tell(error)

    def uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None and not issubclass(told.exc_type, SystemExit):
            uncaught(told.exc_type, told.exc_value, told.exc_traceback)

    sys.excepthook = uncaught
    threading.excepthook = uncaught_in_thread
