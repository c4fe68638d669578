"""Whether an engine, of whichever Weighbridge of this user, has some files open: what is loaded is not removed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

_WORKERS = ("weighbridge_engines", "weighbridge-worker", "llama-server")
"""What stands in the command line of each worker, and of a server program, whoever has started it."""


def engines_hold(paths: Iterable[Path]) -> bool:
    """Whether one of `paths` is mapped or open in an engine. What cannot be asked holds nothing."""
    wanted = {os.path.realpath(path) for path in paths}
    return bool(wanted) and any(wanted & set(_files_of(process)) for process in _engines())


def _engines() -> Iterator[psutil.Process]:
    """The workers, and all that they have started."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if any(name in word for word in process.cmdline() for name in _WORKERS):
                yield process
                yield from process.children(recursive=True)


def _files_of(process: psutil.Process) -> Iterator[str]:
    with contextlib.suppress(psutil.Error, OSError, NotImplementedError):
        yield from (file.path for file in process.open_files())
    if hasattr(process, "memory_maps"):  # not on macOS
        with contextlib.suppress(psutil.Error, OSError, NotImplementedError):
            yield from (mapped.path for mapped in process.memory_maps())
