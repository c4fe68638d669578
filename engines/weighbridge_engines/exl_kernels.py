"""The compiled part of an ExLlama library: part of its wheel, or made at its first start, for which tools are needed.

PyPI has the libraries as sources: PyTorch compiles them once for each of its versions, in minutes, and keeps the result
in a folder of the user's. At each later start it looks there again whether all is made, by the same tools.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause
from weighbridge_engines.exl_log import say

_LOCK = "lock"
"""What PyTorch makes in the folder of an extension while it compiles, and waits for where it is there."""

_LOOK_S, _LOOKS_TOLD = 0.5, 20
_PROGRESS = "[%f/%t] "
"""How ninja counts its steps, whatever the user has it say elsewhere: see `exl_log`."""

GIB_EACH, MOST_UNKNOWN = 1, 4
"""Memory for one compiler of kernels (those of 1.6.5 took 0.34 to 0.42 GiB each by nvcc 13.0), and how many run at once
where nobody knows how much is free, as exllamav3 advises. ninja by itself starts one a core.
"""


def missing_tool(extension: str) -> Cause | None:
    """What is missing to start with `extension`: nothing where it is part of a wheel, and where it was made before, no
    compiler. `torch.version.hip` builds take their own.
    """
    if _is_in_wheel(extension):
        return None
    _show_own_tools()
    building: Any = import_module("torch.utils.cpp_extension")
    torch: Any = import_module("torch")
    if torch.version.hip is None and building.CUDA_HOME is None:
        return Cause("exl.no_toolkit", {"cuda": torch.version.cuda})
    if torch.version.hip is not None and building.ROCM_HOME is None:
        return Cause("exl.no_toolkit", {"cuda": f"ROCm {torch.version.hip}"})
    if not building.is_ninja_available():
        return Cause("exl.no_ninja")
    return None if _is_made(building, extension) else _missing_compiler(building, torch)


def _is_in_wheel(extension: str) -> bool:
    spec = util.find_spec(extension)
    return spec is not None and (spec.origin or "").endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))


def _is_made(building: Any, extension: str) -> bool:
    folder = Path(building._get_build_directory(extension, False))
    return any((folder / f"{extension}{end}").is_file() for end in (".so", ".pyd"))


def _missing_compiler(building: Any, torch: Any) -> Cause | None:
    """The toolkit's own, which a folder that holds CUDA alone lacks, or the system's."""
    own = torch.version.hip is None and "PYTORCH_NVCC" not in os.environ
    if own and shutil.which(str(Path(building.CUDA_HOME, "bin", "nvcc"))) is None:
        return Cause("exl.no_toolkit", {"cuda": torch.version.cuda})
    compiler = os.environ.get("CXX") or ("cl" if os.name == "nt" else "c++")
    found = [shutil.which(name) for name in (compiler, "g++", "clang++")]
    if not any(found) and os.name != "nt":  # Visual Studio's is found by the library itself
        return Cause("exl.no_compiler", {"compiler": compiler})
    return None


def _show_own_tools() -> None:
    """Have what an environment brings as programs be found, ninja above all: nobody has entered it as a shell does."""
    own = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if own not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (own, path)))


@contextlib.contextmanager
def told_building() -> Iterator[None]:
    """Have PyTorch print each step of what it compiles within the block ("[3/57] ..."), in as many processes as there
    is memory for, and wait for nobody who has died.
    """
    _show_own_tools()
    os.environ["NINJA_STATUS"] = _PROGRESS
    os.environ.setdefault("MAX_JOBS", str(jobs(os.cpu_count() or 1, _free_gib())))
    building: Any = import_module("torch.utils.cpp_extension")
    load = building.load

    def telling(name: str, *arguments: Any, **named: Any) -> Any:
        if not _is_made(building, name):
            say("stage", "kernels")
        wait_for_others(Path(building._get_build_directory(name, False)) / _LOCK)
        return load(name, *arguments, **{**named, "verbose": True})

    building.load = telling
    try:
        yield
    finally:
        building.load = load


def jobs(cores: int, free_gib: float | None) -> int:
    """How many compilers may run at once."""
    most = MOST_UNKNOWN if free_gib is None else int(free_gib / GIB_EACH)
    return max(1, min(cores, most))


def _free_gib() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    told = {name: value for name, _, value in (line.partition(":") for line in lines)}
    available = told.get("MemAvailable", "").split()
    return int(available[0]) / (1 << 20) if available else None


def wait_for_others(lock: Path) -> None:
    """Until nobody else compiles, and told in the log now and then, as a load that goes on. PyTorch waits as long as
    `lock` is there, and who is ended amid it leaves it: then it would wait for ever.
    """
    looks = 0
    while lock.exists():
        if not _removed(lock):
            if looks % _LOOKS_TOLD == 0:
                say("stage", "kernels")
            looks += 1
            time.sleep(_LOOK_S)


def _removed(lock: Path) -> bool:
    """Remove what nobody holds open. Windows itself refuses to remove what somebody does."""
    if sys.platform == "win32":
        with contextlib.suppress(PermissionError):
            lock.unlink(missing_ok=True)
        return not lock.exists()
    with _alone(lock.parent):
        if _is_open(lock, Path("/proc").glob("[0-9]*/fd/*")):
            return False
        lock.unlink(missing_ok=True)
        return True


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other of ours is here: else what one has just made could be removed by another that looked before."""
    import fcntl

    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system has such locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _is_open(file: Path, opened: Iterable[Path]) -> bool:
    """Whether `file` is one of those that are `opened`, as far as we may see whose they are."""
    try:
        wanted = file.stat()
    except FileNotFoundError:
        return False
    for each in opened:
        with contextlib.suppress(OSError):
            found = each.stat()
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    return False
