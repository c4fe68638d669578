"""Engines, builds and environments, for tests and pictures."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from tests.running.made_builds import APART, LINUX

from weighbridge.hardware.machine import Device as Card
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.installed import Note, python_of, write_note
from weighbridge_engines.api import Cause, Device
from weighbridge_engines.echo import ENGINE as ECHO

GIB = 1 << 30
SYSTEM = LINUX
CPU = Device("CPU", "AMD Ryzen 7 7700", "cpu", 64 * GIB)
RTX = Device("CUDA0", "NVIDIA GeForce RTX 3090", "gpu", 24 * GIB)
GPU = Card("0", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 * GIB, None), driver="550.120")
MADE = replace(ECHO, id="made", title="Made", formats=frozenset({"gguf"}), devices=lambda: [], version=lambda: "1.0")
ABSENT = replace(MADE, missing=lambda: Cause("engine.not_installed", {}), version=lambda: None)
PLAIN = replace(APART, id="made-plain", engine_id="made", title="CPU", download_bytes=33 << 20)
CUDA = replace(
    PLAIN,
    id="made-cuda",
    title="CUDA 12",
    api="cuda",
    vendors=("nvidia",),
    index="https://wheels.example/cu12",
    verified=False,
    download_bytes=400 << 20,
    least_driver="525",
)
LINES = (
    "Using CPython 3.12.1",
    "Creating virtual environment at: engines/llama_server-cuda12/1",
    "Resolved 1 package in 412ms",
    "Prepared 1 package in 9.31s",
    "Installed 1 package in 88ms",
    " + xllamacpp==2026.10.11549",
)


def put_environment(data: Path, build_id: str, title: str, devices: tuple[Device, ...] | None) -> Path:
    """An environment that is whole, over the Python that runs this; with a log and a file of some size."""
    folder = data / "engines" / build_id / "1"
    python = python_of(folder)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (folder / "library.so").write_bytes(b"\0" * (3 << 20))
    engine_id, day = build_id.partition("-")[0], "2026-11-30"
    write_note(folder, Note(build_id, engine_id, title, "2026.10.11549", devices, token=True, installed_on=day))
    log = "\n".join(f"12:00:0{at} {line}" for at, line in enumerate(LINES))
    (data / "engines" / f"{build_id}.log").write_text(log)
    return folder
