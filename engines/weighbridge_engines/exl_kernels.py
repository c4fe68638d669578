"""The compiled part of an ExLlama library: here already, or made at its first import, for which tools are needed.

PyPI has the libraries as sources: PyTorch compiles them once for each of its versions, in minutes, and keeps the result
in a folder of the user's.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause


def is_made(extension: str) -> bool:
    """Whether the module `extension` is compiled: part of a wheel, or made before by this PyTorch."""
    spec = util.find_spec(extension)
    if spec is not None and (spec.origin or "").endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return True
    building: Any = import_module("torch.utils.cpp_extension")
    folder = Path(building._get_build_directory(extension, False))
    return any((folder / f"{extension}{end}").is_file() for end in (".so", ".pyd"))


def _show_own_tools() -> None:
    """Have what an environment brings as programs be found, ninja above all: nobody has entered it as a shell does."""
    own = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if own not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (own, path)))


def missing_tool() -> Cause | None:
    """What is missing to compile it; None where all is here. `torch.version.hip` builds take their own compiler."""
    _show_own_tools()
    building: Any = import_module("torch.utils.cpp_extension")
    torch: Any = import_module("torch")
    if torch.version.hip is None and building.CUDA_HOME is None:
        return Cause("exl.no_toolkit", {"cuda": torch.version.cuda})
    if torch.version.hip is not None and building.ROCM_HOME is None:
        return Cause("exl.no_toolkit", {"cuda": f"ROCm {torch.version.hip}"})
    if not building.is_ninja_available():
        return Cause("exl.no_ninja")
    compiler = os.environ.get("CXX") or ("cl" if os.name == "nt" else "c++")
    found = [shutil.which(name) for name in (compiler, "g++", "clang++")]
    if not any(found) and os.name != "nt":  # Visual Studio's is found by the library itself
        return Cause("exl.no_compiler", {"compiler": compiler})
    return None


@contextlib.contextmanager
def told_building() -> Iterator[None]:
    """Have PyTorch print each step of what it compiles within the block: "[3/57] ..."."""
    _show_own_tools()
    building: Any = import_module("torch.utils.cpp_extension")
    load = building.load

    def telling(*arguments: Any, **named: Any) -> Any:
        return load(*arguments, **{**named, "verbose": True})

    building.load = telling
    try:
        yield
    finally:
        building.load = load
