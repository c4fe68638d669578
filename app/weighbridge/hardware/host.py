"""All that is asked of a machine, behind one protocol, so that recorded answers stand in for any machine.

Probes are functions of a `Host` and decide everything; `ThisHost` only asks. Nothing here raises, but for `ask`, where
a program cannot be started.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from weighbridge.hardware.child import Answer, ask
from weighbridge.hardware.read import read_text


class Host(Protocol):
    """A machine that answers."""

    @property
    def system(self) -> str:
        """ "Linux", "Darwin" or "Windows"."""

    @property
    def release(self) -> str:
        """The kernel's version."""

    @property
    def architecture(self) -> str:
        """ "x86_64", "aarch64", "arm64", "AMD64"."""

    def text(self, path: str) -> str:
        """The text of a file of the system, or "" where it cannot be read."""

    def names(self, folder: str) -> Sequence[str]:
        """The names in a folder, in order; none where it cannot be read."""

    def may_open(self, path: str) -> bool | None:
        """Whether this user may read and write a device file; None where it is not there."""

    def ask(self, argv: Sequence[str], limit_s: float) -> Answer:
        """What a program prints in `limit_s`. Raises OSError where it cannot be started."""

    def adapters(self) -> Sequence[Mapping[str, object]]:
        """Windows: the values of the registry's key of each display adapter."""

    def features(self) -> Sequence[int]:
        """Windows: the numbers of those processor features that are present."""

    def processor_name(self) -> str | None:
        """The processor's name where no file tells it."""

    def cores(self) -> tuple[int | None, int | None, int | None]:
        """Physical cores, logical cores, and those that this process may run on."""

    def memory(self) -> tuple[int | None, int | None]:
        """Total and available bytes, where no file tells them."""


class ThisHost:
    """This machine."""

    system = platform.system()
    release = platform.release()
    architecture = platform.machine()

    def text(self, path: str) -> str:
        """As `Host` says."""
        return read_text(Path(path))

    def names(self, folder: str) -> Sequence[str]:
        """As `Host` says."""
        try:
            return sorted(entry.name for entry in Path(folder).iterdir())
        except OSError:
            return ()

    def may_open(self, path: str) -> bool | None:
        """As `Host` says."""
        return os.access(path, os.R_OK | os.W_OK) if Path(path).exists() else None

    def ask(self, argv: Sequence[str], limit_s: float) -> Answer:
        """As `Host` says."""
        return ask(argv, limit_s)

    def adapters(self) -> Sequence[Mapping[str, object]]:
        """As `Host` says."""
        from weighbridge.hardware.windows_registry import display_adapters

        return display_adapters()

    def features(self) -> Sequence[int]:
        """As `Host` says."""
        from weighbridge.hardware.windows_registry import present_features

        return present_features()

    def processor_name(self) -> str | None:
        """As `Host` says."""
        from weighbridge.hardware.windows_registry import processor_name

        return processor_name() or platform.processor() or self.architecture or None

    def cores(self) -> tuple[int | None, int | None, int | None]:
        """As `Host` says."""
        import psutil

        affinity = len(os.sched_getaffinity(0)) if sys.platform == "linux" else None
        logical = psutil.cpu_count()
        return psutil.cpu_count(logical=False), logical, affinity or logical

    def memory(self) -> tuple[int | None, int | None]:
        """As `Host` says."""
        import psutil

        memory = psutil.virtual_memory()
        return memory.total, memory.available
