"""Machines, engines and models in round figures, for tests of what is weighed against what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.estimates.made_blueprints import GIB

from weighbridge.choices.choice import Surroundings
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.library.model import Model
from weighbridge.running.devices import Told
from weighbridge.running.state import Running, State
from weighbridge_engines import api
from weighbridge_engines.api import Cause, Engine, Load

LOAD = Load("m.gguf", context=4096)
RTX = Device(
    "cuda0",
    "nvidia",
    "RTX 3090",
    Memory(MemoryKind.DEDICATED, 24 * GIB, 22 * GIB),
    seen_by=(Sight("llama_server", "CUDA0"),),
)
NOT_HERE = Cause("engine.not_installed", {"engine": "Llama"})


def _title(engine_id: str) -> str:
    return engine_id.partition("_")[0].title()


def engine(
    engine_id: str = "llama_server", missing: Cause | None = None, formats: tuple[str, ...] = ("gguf",)
) -> Engine:
    return Engine(engine_id, _title(engine_id), frozenset(formats), frozenset(), "none", lambda: missing)


def machine(*devices: Device, free_gib: float | None = 20, total_gib: float = 32) -> Machine:
    free = None if free_gib is None else int(free_gib * GIB)
    cpu = Cpu("A Processor", 8, 16, 16)
    return Machine("Linux", cpu, Memory(MemoryKind.SHARED, int(total_gib * GIB), free), devices)


def told(*devices: api.Device, engine_id: str = "llama_server") -> Told:
    return Told(engine_id, _title(engine_id), "1", (api.Device("CPU", "A Processor", "cpu"), *devices))


def unseen(device: Device) -> Device:
    return replace(device, seen_by=())


def around(*devices: Device, engines: tuple[Engine, ...] = (engine(),), **rest) -> Surroundings:
    here = rest.pop("machine", None) or machine(*devices)
    return Surroundings(here, {one.id: one for one in engines}, rest.pop("told", (told(),)), **rest)


def model(format_id: str = "gguf", **changes) -> Model:
    path = Path("m.gguf")
    info = ModelInfo(format_id, Kind.CHAT, architecture="llama")
    return replace(Model("m", "M", path, (path,), format_id, "Q4_0", 12 * GIB, info), **changes)


def loaded(memory_gib: float | None, **changes) -> Running:
    memory = None if memory_gib is None else int(memory_gib * GIB)
    values = {"memory_bytes": memory, "private_bytes": memory, **changes}
    return replace(Running("other", "Other", "llama_server", State.READY, LOAD), **values)
