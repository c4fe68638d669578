"""The memories that an engine's build can put a model in, out of what the machine has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.placement import reordered_types
from weighbridge.hardware.machine import Device, Machine, Memory, MemoryKind, Sight
from weighbridge.running.state import Running, State

_APIS = {"nvidia": "cuda", "amd": "rocm", "apple": "metal"}
"""How a card of a maker is reached, where its engine does not say so in the name it gives it."""
_TOLD_APIS = ("cuda", "rocm", "metal", "vulkan", "sycl")


def places_for(machine: Machine, engine_id: str, given_back_bytes: int = 0) -> tuple[Place, ...]:
    """System memory first, then the cards that the installed build of `engine_id` uses.

    Cards with memory of their own hide a graphics part that borrows the system's, as llama.cpp lets them. Where memory
    is one for both, it is one place. `given_back_bytes` is what models that may be ended give back: see `given_back`.
    """
    seen = [replace(device, seen_by=_sights(device, engine_id)) for device in machine.devices]
    return _places(machine, [device for device in seen if device.seen_by], given_back_bytes)


def places_with(machine: Machine, devices: Iterable[Device], given_back_bytes: int = 0) -> tuple[Place, ...]:
    """As `places_for`, for a build that could use just these devices."""
    return _places(machine, list(devices), given_back_bytes)


def given_back(running: Iterable[Running]) -> int:
    """What would become available if the loaded models ended that nobody uses and nobody pinned.

    What of their weights are pages of mapped files is so already, unless the engine has copied them.
    """
    idle = [one for one in running if one.state is State.READY and not one.in_flight and not one.pinned]
    return sum(one.private_bytes or 0 for one in idle)


def _places(machine: Machine, devices: Sequence[Device], given_back_bytes: int) -> tuple[Place, ...]:
    cards = [device for device in devices if device.memory.kind is MemoryKind.DEDICATED]
    reordered = reordered_types(machine.cpu.extensions, map(_api, devices))
    host = replace(_host(machine.memory, given_back_bytes), reordered=reordered)
    if cards:
        return (host, *(_card(device) for device in cards))
    shared = next(iter(devices), None)
    return (host,) if shared is None else (_one_for_both(host, shared),)


def _host(memory: Memory, given_back_bytes: int) -> Place:
    free = None if memory.available_bytes is None else memory.available_bytes + given_back_bytes
    return Place(HOST, "", PlaceKind.HOST, memory.total_bytes, free, given_back_bytes=given_back_bytes)


def _card(device: Device) -> Place:
    memory = device.memory
    return Place(
        device.id,
        device.name,
        PlaceKind.DEDICATED,
        memory.total_bytes,
        memory.available_bytes,
        api=_api(device),
        sight=_sight(device),
    )


def _one_for_both(host: Place, device: Device) -> Place:
    """System memory in which a graphics part computes: no more of it than the part may take."""
    limit = device.memory.usable_bytes or device.memory.total_bytes
    free = host.free_bytes if limit is None or host.free_bytes is None else min(limit, host.free_bytes)
    total = host.total_bytes if limit is None or host.total_bytes is None else min(limit, host.total_bytes)
    api, sight = _api(device), _sight(device)
    return replace(
        host, name=device.name, kind=PlaceKind.UNIFIED, total_bytes=total, free_bytes=free, api=api, sight=sight
    )


def _sight(device: Device) -> str:
    """The name by which a device is called first."""
    return next((sight.id for sight in device.seen_by), "")


def _api(device: Device) -> str:
    told = " ".join(sight.id.lower() for sight in device.seen_by)
    return next((api for api in _TOLD_APIS if api in told), _APIS.get(device.vendor, "vulkan"))


def _sights(device: Device, engine_id: str) -> tuple[Sight, ...]:
    """The ways in which one engine sees a device: another may reach it otherwise."""
    return tuple(sight for sight in device.seen_by if sight.engine == engine_id)
