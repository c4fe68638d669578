"""Builds of engines as installations leave them, for tests and pictures."""

from __future__ import annotations

import sys
from pathlib import Path

from weighbridge.running.installed import Note, python_of, write_note
from weighbridge_engines.api import Device

GIB = 1 << 30
CPU = Device("CPU", "AMD Ryzen 7 7700", "cpu", 64 * GIB)
RTX = Device("CUDA0", "NVIDIA GeForce RTX 3090", "gpu", 24 * GIB)
LINES = (
    "Using CPython 3.12.1",
    "Creating virtual environment at: engines/llama_server-cuda12/1",
    "Resolved 1 package in 412ms",
    "Prepared 1 package in 9.31s",
    "Installed 1 package in 88ms",
    " + xllamacpp==2026.10.11549",
)


def put_environment(data: Path, build_id: str, title: str, devices: tuple[Device, ...] | None, number: int = 1) -> Path:
    """An environment that is whole, over the Python that runs this; with a log and a file of some size."""
    folder = data / "engines" / build_id / str(number)
    python = python_of(folder)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (folder / "library.so").write_bytes(b"\0" * (3 << 20))
    note = Note(
        build_id, build_id.partition("-")[0], title, "2026.10.11549", devices, token=True, installed_on="2026-11-30"
    )
    write_note(folder, note)
    (data / "engines" / f"{build_id}.log").write_text("\n".join(f"12:00:0{at} {line}" for at, line in enumerate(LINES)))
    return folder
