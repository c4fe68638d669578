"""Starts one program and ends all of it: when told, when the program ends, or when whoever started it is gone.

A program of its own, standard library only, run by path, so that it starts in some 20 ms. Use: `launcher.py GRACE_S
PROGRAM [ARGUMENT ...]`. Its standard input is a pipe that its parent holds open: the end of that pipe, however it comes
about, means stop. The program is the leader of a session of its own; it gets SIGTERM, `GRACE_S` seconds, then SIGKILL
for the whole group; what has left the group is found as orphans that the launcher adopted (Linux). The exit status is
the program's own, or 128 + the number of the signal that ended it; 127 where it could not be started.

On Windows the launcher puts itself, and so all that it starts, into a job object that ends with its last handle; the
polite signal is Ctrl-Break.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_POSIX = os.name == "posix"
_POLITE = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)
_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMITS = 9
CANNOT_START = 127
_LIBRARIES, _BEFORE_BUNDLE = "LD_LIBRARY_PATH", "LD_LIBRARY_PATH_ORIG"
_BUNDLE = (_LIBRARIES, _BEFORE_BUNDLE)


def main(argv: list[str]) -> int:
    """Run `argv[1:]` with a grace of `argv[0]` seconds; returns its exit status.

    With "SECONDS:BYTES" the program may take so much memory for its data (Linux alone holds a process to that).
    """
    grace, _, data_bytes = argv[0].partition(":")
    grace_s, command = float(grace), argv[1:]
    if sys.platform == "win32":
        contain(ctypes.windll.kernel32)
    prepare = _preparation(int(data_bytes or 0)) if _LINUX else None
    if _LINUX:
        _prctl_call(_PR_SET_CHILD_SUBREAPER, 1)()
    try:
        # The death signal fires when the spawning *thread* ends; this is the main thread, which lives as long as we do,
        # and the only one yet, so that `preexec_fn` is safe.
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            env=without_bundle(os.environ, bool(getattr(sys, "frozen", False))),
            start_new_session=_POSIX,
            creationflags=_NEW_GROUP,
            preexec_fn=prepare,  # noqa: PLW1509
        )
    except OSError as error:
        sys.stderr.write(f"launcher: {command[0]}: {error.strerror}\n")
        return CANNOT_START
    stop = threading.Event()
    threading.Thread(target=_end_when_told, args=(child, grace_s, stop), daemon=True).start()
    threading.Thread(target=_watch_parent, args=(stop,), daemon=True).start()
    threading.Thread(target=_watch_signals, args=(_signals(), stop), daemon=True).start()
    status = child.wait()
    _kill_group(child.pid)
    _kill_adopted()
    return status if status >= 0 else 128 - status


def without_bundle(inherited: Mapping[str, str], frozen: bool) -> dict[str, str]:
    """What the program inherits. A frozen launcher is pointed at the libraries of its own bundle, which are not for
    other programs: they get what was set before.
    """
    kept = {name: value for name, value in inherited.items() if not (frozen and name in _BUNDLE)}
    if frozen and _BEFORE_BUNDLE in inherited:
        kept[_LIBRARIES] = inherited[_BEFORE_BUNDLE]
    return kept


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION of the Windows API."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION of the Windows API."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def contain(kernel: Any) -> None:
    """Put this process into a job whose end is the end of all in it. `kernel` is kernel32.

    The handle is never closed by us: our end, however it comes about, closes it. Raises OSError where Windows refuses.
    """
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    limits = ExtendedLimits(BasicLimitInformation=BasicLimits(LimitFlags=_KILL_ON_JOB_CLOSE))
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    limited = job and kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
    if not limited or not kernel.AssignProcessToJobObject(job, ctypes.c_void_p(kernel.GetCurrentProcess())):
        raise OSError("the job object could not be made")


def _preparation(data_bytes: int) -> Callable[[], None]:
    """What the program's process does to itself before it becomes the program. All is imported before the fork."""
    import resource

    die_with_launcher, limit = _prctl_call(_PR_SET_PDEATHSIG, signal.SIGKILL), resource.setrlimit
    kinds = (resource.RLIMIT_DATA, resource.RLIMIT_CORE)

    def prepare() -> None:
        die_with_launcher()
        if data_bytes:
            limit(kinds[0], (data_bytes, data_bytes))
            limit(kinds[1], (0, 0))

    return prepare


def _prctl_call(option: int, value: int) -> Callable[[], None]:
    """Made before the fork: between fork and exec nothing may be imported or looked up."""
    prctl = ctypes.CDLL(None).prctl

    def call() -> None:
        prctl(option, value, 0, 0, 0)

    return call


def _watch_parent(stop: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stop.set()


def _signals() -> int:
    """A file descriptor that can be read from once SIGTERM or SIGINT came. The wake-up descriptor, because a handler
    runs in the main thread alone, and that may wait for the program while the signal is handed to another thread.
    """
    read, write = os.pipe()
    if _POSIX:
        os.set_blocking(write, False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


def _watch_signals(read: int, stop: threading.Event) -> None:
    os.read(read, 1)
    stop.set()


def _end_when_told(child: subprocess.Popen[bytes], grace_s: float, stop: threading.Event) -> None:
    stop.wait()
    child.send_signal(_POLITE)
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()
        _kill_group(child.pid)


def _kill_group(group: int) -> None:
    if _POSIX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _kill_adopted() -> None:
    """End what left the group: with the subreaper flag every orphan below us becomes our own child."""
    while _LINUX and (orphans := _children()):
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    me = str(os.getpid())
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # "pid (name) state ppid ...": the name may hold spaces and brackets, so split after its last bracket.
                if (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1] == me:
                    found.append(int(entry.name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
