"""What the page Engines says of engines, builds and devices. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weighbridge.base.units import size
from weighbridge.base.words import mark, text
from weighbridge.hardware.machine import Device as Card
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Recipe, System, version_key
from weighbridge_engines.api import Capability, Device

_CANNOT: Mapping[Capability, str] = {
    Capability.CHAT: mark("chat"),
    Capability.COMPLETIONS: mark("complete plain text"),
    Capability.EMBEDDINGS: mark("embed"),
    Capability.RERANK: mark("rank texts"),
    Capability.VISION: mark("read images"),
    Capability.TOOLS: mark("call tools"),
    Capability.JSON_SCHEMA: mark("keep to a JSON schema"),
    Capability.GRAMMAR: mark("keep to a grammar"),
    Capability.LOGPROBS: mark("tell log-probabilities"),
    Capability.LORA: mark("use adapters"),
    Capability.DRAFT: mark("use a draft model"),
    Capability.PARALLEL: mark("answer several at once"),
    Capability.SCORE: mark("score given tokens"),
}
_VENDORS: Mapping[str, str] = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "apple": "Apple"}
_STAGES: Mapping[str, str] = {
    "package index": mark("Fetching and unpacking"),
    "devices": mark("Asking what it can compute on"),
    "token": mark("Having it write a token"),
}


def cannot_in_words(able: frozenset[Capability]) -> str:
    """ "It cannot score given tokens."; "" where it can do all that is known here."""
    lacking = [text(words) for capability, words in _CANNOT.items() if capability not in able]
    return text("It cannot {list}.", list=", ".join(lacking)) if lacking else ""


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


def vendors_in_words(vendors: Iterable[str]) -> str:
    """ "AMD, Intel"."""
    return ", ".join(_VENDORS.get(vendor, vendor) for vendor in vendors)


def fetched_in_words(recipe: Recipe) -> str:
    """How much comes from where: "Some 33.0 MiB from the package index"."""
    place = _host(recipe.index) if recipe.index else text("the package index")
    if recipe.download_bytes is None:
        return text("From {place}, how much is not known", place=place)
    return text("Some {size} from {place}", size=size(recipe.download_bytes), place=place)


def stage_in_words(note: str) -> str:
    """What an installation does now, by the note of its task."""
    return text(_STAGES[note]) if note in _STAGES else text("Starting")


def why_not_here(recipe: Recipe, system: System) -> str:
    """Why a build cannot be installed on this system; "" where it can."""
    if system.name not in recipe.systems:
        return text("There is none for this system ({system}).", system=system.name)
    if recipe.least_glibc and system.glibc and version_key(system.glibc) < version_key(recipe.least_glibc):
        return text("It needs glibc {least} or newer; here is {has}.", least=recipe.least_glibc, has=system.glibc)
    return ""


def why_unsuited(recipe: Recipe, machine: Machine | None) -> str:
    """Why a build that is made for cards would use none of `machine`; "" where it would, or that is not known."""
    if recipe.api == "cpu" or machine is None or not recipe.vendors:
        return ""
    cards = [device for device in machine.devices if device.vendor in recipe.vendors]
    if not cards:
        return text("No card of {vendors} is seen here.", vendors=vendors_in_words(recipe.vendors))
    reasons = [_too_old(recipe, card) for card in cards]
    return "" if "" in reasons else reasons[0]


def _too_old(recipe: Recipe, card: Card) -> str:
    least, has = recipe.least_compute_capability, card.compute_capability
    if least and has and version_key(has) < version_key(least):
        said = mark("It needs compute capability {least} or newer; {device} has {has}.")
        return text(said, least=least, has=has, device=card.name)
    least, has = recipe.least_driver, card.driver if card.vendor == "nvidia" else None
    if least and has and version_key(has) < version_key(least):
        said = mark("It needs driver {least} or newer; that of {device} is {has}.")
        return text(said, least=least, has=has, device=card.name)
    return ""


def _host(address: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(address).hostname or address
