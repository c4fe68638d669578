"""What each installed engine can compute on: asked in a child, which a sick driver may hold or kill, and remembered.

An answer holds for one version of an engine on one set of devices and drivers. Free memory is never remembered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge.base.small_files import read_small
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.child import Answer
from weighbridge.hardware.machine import Device as CardOrPart
from weighbridge.hardware.machine import Machine
from weighbridge.hardware.merge import with_engines
from weighbridge.running.bandwidths import CardSpeeds, measure_cards
from weighbridge.running.builds import Offer, best_offer
from weighbridge.running.cause import shown_extensions
from weighbridge.running.choose import PREFERRED
from weighbridge.running.engines import offers_among
from weighbridge.running.questions import LIMIT_S, Ask, ask_devices, last_line, why
from weighbridge_engines.api import Cause, Device, Engine, no_devices

FILE = "devices.json"
_AT_ONCE = 4
_ILLEGAL_INSTRUCTION = (-4, 0xC000001D)
"""How a process ends that used an instruction its processor lacks: by signal, or by Windows' status."""
_BUILDS: Mapping[str, str] = {"nvidia": "CUDA", "amd": "ROCm or Vulkan", "intel": "Vulkan", "apple": "Metal"}
_BUILDS_OF = "llama.cpp"


@dataclass(frozen=True)
class Told:
    """What one installed engine told, as the build that is in use.

    `devices` is None where it could not tell, for the reason in `problem`. `offers` are its builds that are not in use.
    """

    engine_id: str
    title: str
    version: str | None
    devices: tuple[Device, ...] | None
    problem: Cause | None = None
    offers: tuple[Offer, ...] = ()

    @property
    def uses_processor(self) -> bool:
        """Whether the processor is among its devices."""
        return any(device.kind == "cpu" for device in self.devices or ())


class EngineDevices:
    """Asks those of `engines` that are installed and can tell; remembers in a file of the data folder."""

    def __init__(self, engines: Mapping[str, Engine], data: Path, ask_child: Ask | None = None) -> None:
        self._engines = engines
        self._file = data / FILE
        self._ask = ask_child

    @property
    def builds(self) -> tuple[str, ...]:
        """Which builds are asked now; others once another one is in use."""
        return tuple(_name(engine) for engine in self._engines.values())

    def measured(self, machine: Machine) -> CardSpeeds:
        """How fast the memory of the cards is, as engines measure it. `machine` says which engine sees which."""
        return measure_cards(machine, self._engines.values(), self._ask)

    def told(self, machine: Machine) -> tuple[Told, ...]:
        """What each engine told. Never raises; a child that hangs costs LIMIT_S seconds, all of them together."""
        able = [one for one in self._engines.values() if _can_tell(one) and one.missing() is None]
        offers = offers_among(self._engines)
        told = self._told(able, machine)
        return tuple(
            replace(one, offers=tuple(offer for offer in offers if offer.engine_id == one.engine_id)) for one in told
        )

    def told_by(self, engine: Engine, machine: Machine) -> Told:
        """What one build of an engine tells, in use or not. Never raises."""
        return self._told([engine], machine)[0]

    def told_anew(self, engine: Engine, machine: Machine) -> Told:
        """What one build tells when it is asked now, whatever it told before; that is remembered. Never raises."""
        told = told_now(engine, shown_extensions(machine.cpu.extensions), self._ask)
        if told.devices is not None and told.version:
            self._write({**self._read(), _name(engine): _entry(told, _key(machine))})
        return told

    def _told(self, able: Sequence[Engine], machine: Machine) -> tuple[Told, ...]:
        known, here, has = self._read(), _key(machine), shown_extensions(machine.cpu.extensions)
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="devices") as pool:
            told = tuple(pool.map(lambda engine: _known(engine, known, here) or told_now(engine, has, self._ask), able))
        pairs = zip(able, told, strict=True)
        fresh = {_name(engine): _entry(one, here) for engine, one in pairs if one.devices is not None and one.version}
        if {**known, **fresh} != known:
            self._write({**known, **fresh})
        return told

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(read_small(self._file))
        except (OSError, ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}

    def _write(self, values: Mapping[str, Any]) -> None:
        """A data folder that cannot be written only means that engines are asked again."""
        beside = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(values), encoding="utf-8")
            beside.replace(self._file)
        except OSError:
            return


def told_now(engine: Engine, extensions: str = "-", ask_child: Ask | None = None) -> Told:
    """Ask one engine, here and now. `extensions` are those of the processor, in words. Never raises."""
    try:
        answer = ask_devices(engine, ask_child)
    except OSError as error:
        return _failed(engine, "engine.devices_failed", reason=error.strerror or str(error))
    if answer.exit_code is None:
        return _failed(engine, "engine.devices_slow", limit_s=int(LIMIT_S))
    if answer.exit_code in _ILLEGAL_INSTRUCTION:
        return _failed(engine, "engine.illegal_instruction", signal="SIGILL", extensions=extensions)
    if not engine.listing and (problem := read_problem(answer.out)) is not None:
        return _failed(engine, problem.code, **problem.values)
    devices = _devices_in(engine, answer)
    if devices is None or answer.exit_code != 0:
        return _failed(engine, "engine.devices_failed", reason=why(answer))
    return Told(engine.id, engine.title, engine.version(), devices)


def _can_tell(engine: Engine) -> bool:
    return engine.devices is not no_devices or bool(engine.listing)


def _name(engine: Engine) -> str:
    """By what an answer is remembered: builds of one engine see other devices."""
    return engine.build or engine.id


def _devices_in(engine: Engine, answer: Answer) -> tuple[Device, ...] | None:
    if not engine.listing:
        return read_devices(answer.out)
    told = engine.read_listing(f"{answer.out}\n{answer.err}")
    return None if told is None else tuple(told)


def read_devices(text: str) -> tuple[Device, ...] | None:
    """The devices in the last line that a worker printed, before which libraries may have printed theirs."""
    try:
        return tuple(Device(**values) for values in json.loads(last_line(text))["devices"])
    except (ValueError, KeyError, TypeError):
        return None


def read_problem(text: str) -> Cause | None:
    """Why it can use nothing, in the last line that a worker printed; None where that line says no such thing."""
    try:
        told = json.loads(last_line(text))["problem"]
        return Cause(str(told["code"]), dict(told["values"]))
    except (ValueError, KeyError, TypeError):
        return None


def with_engines_here(machine: Machine, devices: EngineDevices) -> tuple[Machine, tuple[Told, ...]]:
    """`machine` with what each installed engine can use of it, and what they told. Asks them."""
    told = devices.told(machine)
    return with_engines(machine, by_engine(told), load_table()), told


def by_engine(told: Iterable[Told]) -> dict[str, tuple[Device, ...]]:
    """The devices by engine id, as `hardware.merge.with_engines` wants them."""
    return {one.engine_id: one.devices for one in told if one.devices is not None}


def missing_build(device: CardOrPart, told: Sequence[Told], engine_id: str | None = None) -> Cause | None:
    """What is missing to use a device: None where an engine uses it, or where one that might could not tell.

    Where a build that would use it is known, the values hold its id, "build_id": one of the engine `engine_id`, where
    that is told.
    """
    build = _BUILDS.get(device.vendor)
    if device.seen_by or build is None or any(one.devices is None for one in told):
        return None
    offered = (offer for one in told for offer in one.offers if engine_id in (None, offer.engine_id))
    offer = best_offer(device, sorted(offered, key=_preference))
    if offer is not None:
        values = {"device": device.name, "build": offer.title, "engine": offer.engine_title}
        code = "engine.build_not_used" if offer.installed else "engine.build_not_installed"
        return Cause(code, {**values, "build_id": offer.build_id, "verified": offer.verified_on(device)})
    return Cause("engine.no_build", {"device": device.name, "build": build, "engine": _BUILDS_OF})


def _preference(offer: Offer) -> tuple[bool, int]:
    """What is here first, then the engine that is tried first."""
    known = offer.engine_id in PREFERRED
    return not offer.installed, PREFERRED.index(offer.engine_id) if known else len(PREFERRED)


def _key(machine: Machine) -> str:
    """The devices and drivers on which an answer depends."""
    return "; ".join(f"{device.pci_id or device.name} {device.driver or ''}" for device in machine.devices)


def _entry(told: Told, here: str) -> dict[str, Any]:
    devices = [asdict(replace(device, memory_free_bytes=None)) for device in told.devices or ()]
    return {"version": told.version, "machine": here, "devices": devices}


def _known(engine: Engine, known: Mapping[str, Any], here: str) -> Told | None:
    entry = known.get(_name(engine))
    version = engine.version()
    if (
        not isinstance(entry, dict)
        or version is None
        or (entry.get("version"), entry.get("machine")) != (version, here)
    ):
        return None
    devices = read_devices(json.dumps({"devices": entry.get("devices")}))
    return None if devices is None else Told(engine.id, engine.title, version, devices)


def _failed(engine: Engine, code: str, **values: object) -> Told:
    cause = Cause(code, {"engine": engine.title, **values})
    return Told(engine.id, engine.title, engine.version(), None, cause)
