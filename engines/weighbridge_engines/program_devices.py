"""What a Python environment with torch holds and can compute on, as one line of JSON.

Run by path, by the Python of the environment, which may be older than ours: `program_devices.py PROCESSOR DISTRIBUTION
[MODULE ...]`. Prints {"version", "missing", "devices"}: the version of DISTRIBUTION, those of MODULEs that are not
there, and what torch can compute on. PROCESSOR says whether the server can use the processor: "yes", "no", or what
stands in the version of a build that can. Standard library only; torch is imported where it is there.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import import_module, metadata, util
from typing import Any


def look(processor: str, distribution: str, modules: list[str]) -> dict[str, Any]:
    """All of it. What torch fails with is the caller's to hear."""
    told = version(distribution)
    missing = [module for module in modules if util.find_spec(module) is None]
    devices = [] if util.find_spec("torch") is None else cards(import_module("torch"))
    if processor == "yes" or (processor != "no" and processor in (told or "")):
        devices.insert(0, {"id": "CPU", "name": platform.processor() or "CPU", "kind": "cpu"})
    return {"version": told, "missing": missing, "devices": devices}


def version(distribution: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def cards(torch: Any) -> list[dict[str, Any]]:
    """The cards that `torch` can use: NVIDIA's and AMD's, Intel's, Apple's."""
    found = []
    if torch.cuda.is_available():
        name = "ROCm" if getattr(torch.version, "hip", None) else "CUDA"
        found += [_card(torch.cuda, name, number) for number in range(torch.cuda.device_count())]
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        found += [_card(xpu, "XPU", number) for number in range(xpu.device_count())]
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        found.append({"id": "Metal", "name": "Apple", "kind": "shared"})
    return found


def _card(api: Any, name: str, number: int) -> dict[str, Any]:
    told = api.get_device_properties(number)
    shared = bool(getattr(told, "is_integrated", False))
    kind = "shared" if shared else "gpu"
    return {"id": f"{name}{number}", "name": told.name, "kind": kind, "memory_total_bytes": told.total_memory}


def main(argv: list[str]) -> int:
    """Print it."""
    processor, distribution, *modules = argv
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    sys.stdout.write(json.dumps(look(processor, distribution, modules)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
