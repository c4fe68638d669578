"""What an ExLlama library can compute on here, or why on nothing: asked in a child, for PyTorch is heavy.

The library is not imported for it: at its first import it may compile for minutes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

from weighbridge_engines.api import Cause, Device, Unsupported
from weighbridge_engines.exl_kernels import missing_tool
from weighbridge_engines.exl_log import say_problem
from weighbridge_engines.installed import is_installed

Capability = tuple[int, int]


@dataclass(frozen=True)
class Library:
    """One of the libraries: its package, its compiled module, the packages it needs beside PyTorch, and the least
    compute capability that its kernels have a way for.
    """

    package: str
    extension: str
    needs: tuple[str, ...]
    least: Capability


EXL2 = Library("exllamav2", "exllamav2_ext", (), (6, 0))
"""0.3.2 compiles for what PyTorch finds; its `compat.cuh` brings what cards before 7.0 lack."""

EXL3 = Library("exllamav3", "exllamav3_ext", ("triton",), (7, 5))
"""1.6.5 was made for 8.0; its `arch.cuh` has other ways for 7.5."""


_FLASH: Capability = (8, 0)
"""The least compute capability that flash-attn has kernels for."""


def missing(library: Library) -> Cause | None:
    """None, or the package that is not installed. Imports nothing."""
    for package in (library.package, "torch"):
        if not is_installed(package):
            return Cause("engine.not_installed", {"package": package})
    return None


def version(library: Library) -> str | None:
    """The package's version, with that of PyTorch: what is compiled belongs to both."""
    try:
        return f"{metadata.version(library.package)} (torch {metadata.version('torch')})"
    except metadata.PackageNotFoundError:
        return None


def devices(library: Library) -> list[Device]:
    """The cards that it can use. Raises Unsupported with an "exl." code where there is none, or it cannot start."""
    torch: Any = import_module("torch")
    if cause := why_not(library):
        raise Unsupported(cause)
    return [_device(torch, card) for card in _usable(library, torch)]


def why_not(library: Library) -> Cause | None:
    """Why it can use no card of this machine, or cannot start on one; None where it can."""
    torch: Any = import_module("torch")
    if cause := _no_cards(torch):
        return cause
    return _no_part(library) if _usable(library, torch) else _too_old(library, torch)


def check_cards(library: Library) -> None:
    """Before it is imported, which would fail with other words. Raises Unsupported; the log has why."""
    if cause := why_not(library):
        say_problem(cause)
        raise Unsupported(cause)


def _usable(library: Library, torch: Any) -> list[int]:
    least = least_of(library, torch)
    return [card for card in range(torch.cuda.device_count()) if _capability(torch, card) >= least]


def can_flash() -> bool:
    """Whether flash-attn, where it is installed, could compute on each card that is here."""
    torch: Any = import_module("torch")
    cards = range(torch.cuda.device_count())
    return torch.version.hip is None and all(_capability(torch, card) >= _FLASH for card in cards)


def _no_cards(torch: Any) -> Cause | None:
    """Why this PyTorch sees no card."""
    if torch.version.cuda is None and torch.version.hip is None:
        return Cause("exl.cpu_torch", {"torch": torch.__version__})
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return cause_of_cuda(str(error), torch.version.cuda)
    return None if torch.cuda.device_count() else Cause("exl.no_card", {"torch": torch.__version__})


def cause_of_cuda(words: str, cuda: str | None) -> Cause:
    """Why CUDA did not start, by PyTorch's own words. `cuda` is the version that PyTorch was built for."""
    if found := re.search(r"driver on your system is too old \(found version (\d+)\)", words):
        number = int(found[1])
        return Cause("exl.old_driver", {"has": f"{number // 1000}.{number % 1000 // 10}", "needs": cuda or ""})
    if "no NVIDIA driver" in words:
        return Cause("exl.no_driver")
    if "No CUDA GPUs are available" in words or "No HIP GPUs" in words:
        return Cause("exl.no_card", {"torch": cuda or ""})
    return Cause("engine.driver", {"reason": (words.strip().splitlines() or [""])[0][:300]})


def _no_part(library: Library) -> Cause | None:
    """What is missing to start it on a card."""
    for package in library.needs:
        if not is_installed(package):
            return Cause("exl.no_package", {"package": package})
    return missing_tool(library.extension) or (_missing_for_triton() if "triton" in library.needs else None)


def _missing_for_triton() -> Cause | None:
    """It compiles a part of each kernel in C, whatever wheels bring; on Windows it has a compiler of its own."""
    if os.name == "nt" or "CC" in os.environ or any(map(shutil.which, ("gcc", "clang"))):
        return None
    return Cause("exl.no_compiler", {"compiler": "gcc"})


def least_of(library: Library, torch: Any) -> Capability:
    """The least compute capability that both it and this PyTorch have kernels for. AMD's cards have other names."""
    if torch.version.hip is not None:
        return (0, 0)
    return max(library.least, oldest_built(torch.cuda.get_arch_list()))


def oldest_built(architectures: Sequence[str]) -> Capability:
    """The least of PyTorch's list ("sm_75", "sm_90a", "compute_120")."""
    numbers = [int(found[1]) for one in architectures if (found := re.fullmatch(r"sm_(\d+)[a-z]?", one))]
    return divmod(min(numbers), 10) if numbers else (0, 0)


def _capability(torch: Any, card: int) -> Capability:
    major, minor = torch.cuda.get_device_capability(card)
    return (int(major), int(minor))


def _too_old(library: Library, torch: Any) -> Cause:
    best = max(range(torch.cuda.device_count()), key=lambda card: _capability(torch, card))
    has, needs = _capability(torch, best), least_of(library, torch)
    values = {"card": torch.cuda.get_device_name(best), "has": f"{has[0]}.{has[1]}", "needs": f"{needs[0]}.{needs[1]}"}
    return Cause("exl.card_too_old", values)


def _device(torch: Any, card: int) -> Device:
    told = torch.cuda.get_device_properties(card)
    free, total = torch.cuda.mem_get_info(card)
    return Device(
        id=f"cuda:{card}",
        name=told.name,
        kind="gpu",
        memory_total_bytes=int(total),
        memory_free_bytes=int(free),
        pci_id=_pci(told),
    )


def _pci(told: Any) -> str | None:
    """Where the card sits, which older versions of PyTorch do not tell."""
    try:
        return f"{told.pci_domain_id:04x}:{told.pci_bus_id:02x}:{told.pci_device_id:02x}.0"
    except AttributeError:
        return None
