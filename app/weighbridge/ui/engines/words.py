"""What the page Engines says of devices and of an installation that goes on. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.base.units import size
from weighbridge.base.words import mark, text
from weighbridge_engines.api import Device

_STAGES: Mapping[str, str] = {
    "package index": mark("Fetching and unpacking"),
    "devices": mark("Asking what it can compute on"),
    "token": mark("Having it write a token"),
}


def devices_in_words(devices: Sequence[Device] | None) -> str:
    """ "Sees CPU (AMD EPYC, 23.5 GiB) and CUDA0 (RTX 3090, 24.0 GiB).", or that it has not told."""
    if devices is None:
        return text("It has not told what it can compute on.")
    if not devices:
        return text("It sees nothing to compute on.")
    return text("Sees {devices}", devices=" · ".join(_device(device) for device in devices))


def _device(device: Device) -> str:
    told = [device.name] if device.name and device.name != device.id else []
    told += [size(device.memory_total_bytes)] if device.memory_total_bytes is not None else []
    return f"{device.id} ({', '.join(told)})" if told else device.id


def stage_in_words(note: str) -> str:
    """What an installation does now, by the note of its task."""
    return text(_STAGES[note]) if note in _STAGES else text("Starting")
