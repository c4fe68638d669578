"""A child process that cannot outlive us, and its output line by line."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from weighbridge.running import launcher

GRACE_S = 3.0
INSIST_S = 2.0
"""How much longer than the grace the launcher may take; then it is suspended, or waits for what cannot be ended."""
_LAST_WORDS_S = 1.0
_READ_BYTES = 1 << 16
_LINE_BYTES = 1 << 16


def launcher_argv() -> list[str]:
    """How to start the launcher from here: by path with this Python, or as a word to the worker of a frozen build."""
    if getattr(sys, "frozen", False):
        return [str(Path(sys.executable).with_name("weighbridge-worker")), "launch"]
    return [sys.executable, "-I", "-S", launcher.__file__]


@dataclass(frozen=True)
class Resident:
    """Resident memory, and the part of it that becomes available when the processes end: all but pages of files, where
    the system counts those as available already. None once the processes are gone.
    """

    memory_bytes: int | None = None
    private_bytes: int | None = None


class Child:
    """One program under a launcher.

    From the child's own reader thread, `on_line` is called for each line of output, `on_end` once there is no more.
    `data_bytes` is how much memory it may take for its data (Linux alone holds a process to that). It is started in
    `folder`, where one is named.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        on_line: Callable[[str], None],
        on_end: Callable[[], None],
        data_bytes: int | None = None,
        folder: str | None = None,
    ) -> None:
        grace = str(GRACE_S) if data_bytes is None else f"{GRACE_S}:{data_bytes}"
        self._process = subprocess.Popen(
            [*launcher_argv(), grace, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=os.name == "posix",
        )
        self._on_line = on_line
        self._on_end = on_end
        self._family: list[psutil.Process] = []
        self._insisting: threading.Thread | None = None
        self._stopping = threading.Lock()
        self._over = threading.Event()
        # A daemon, for what has escaped may hold the pipe open for ever.
        self._reader = threading.Thread(target=self._read, name=f"child-{self._process.pid}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The launcher's process id."""
        return self._process.pid

    def stop(self) -> None:
        """Ask the program to end: politely, then with force after GRACE_S seconds. Returns at once.

        A launcher that has not ended INSIST_S seconds later is ended with all that is below it.
        """
        self._close_pipe()
        with self._stopping:
            if self._insisting is None and not self._over.is_set():
                self._insisting = threading.Thread(target=self._insist, name=f"end-{self.pid}", daemon=True)
                self._insisting.start()

    def ended(self) -> int | None:
        """None while anything lives; then the exit code (negative: the number of the signal)."""
        code = self._process.poll()
        if code is None:
            return None
        self._over.set()
        self._end_family()
        self._reader.join(_LAST_WORDS_S)
        self._close_pipe()
        with self._stopping:
            insisting = self._insisting
        if insisting is not None:
            insisting.join()
        return 128 - code if code > 128 else code

    @property
    def lives(self) -> bool:
        """False once the program itself is gone, which the launcher tells some moments later. Costs 50 us."""
        leader = next(iter(self._family), None)
        try:
            return leader is None or (leader.is_running() and leader.status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False

    def memory(self) -> Resident:
        """What the program and all its children hold, without the launcher."""
        try:
            held = [member.memory_info() for member in self._look_below()]
        except psutil.Error:
            return Resident()
        whole = sum(each.rss for each in held)
        shared = sum(getattr(each, "shared", 0) for each in held)  # Linux alone counts pages of files as available
        return Resident(whole, whole - shared) if whole else Resident()

    def _look_below(self) -> list[psutil.Process]:
        family = psutil.Process(self.pid).children(recursive=True)
        self._family = family or self._family
        return family

    def _close_pipe(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _insist(self) -> None:
        if self._over.wait(GRACE_S + INSIST_S):
            return
        with contextlib.suppress(psutil.Error):
            self._look_below()
        self._process.kill()
        self._end_family()

    def _end_family(self) -> None:
        """The launcher leaves nothing behind; where it was killed itself, what was last seen below it is ended here."""
        for member in self._family:
            with contextlib.suppress(psutil.Error):
                member.kill()  # by its time of start as well: never another program with the same number

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            rest = b""
            while data := os.read(pipe.fileno(), _READ_BYTES):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._tell(line)
                if len(rest) > _LINE_BYTES:
                    self._tell(rest)
                    rest = b""
            if rest:
                self._tell(rest)
        self._on_end()

    def _tell(self, line: bytes) -> None:
        self._on_line(line.decode("utf-8", "replace").rstrip("\r"))
