"""What is said of engines and of the builds that can be had: what they cannot do, need, and are known for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from weighbridge.base.explain import WHAT_AND_NEXT, explain_code
from weighbridge.base.units import size
from weighbridge.base.words import mark, plural, text
from weighbridge.hardware.machine import VENDORS, Device, Machine
from weighbridge.running.builds import Recipe, System, version_key
from weighbridge.running.uv_run import TORCH_HOST
from weighbridge_engines.api import Capability, Engine

ARCHIVED = frozenset({"exllamav2"})
"""Engines whose own project has ended: nothing of them is mended any more."""

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
_FORMATS: Mapping[str, str] = {
    "gguf": "GGUF",
    "mlx": "MLX",
    "exl2": "EXL2",
    "exl3": "EXL3",
    "onnx": "ONNX",
    "openvino": "OpenVINO IR",
    "awq": "AWQ",
    "fp8": "FP8",
    "gptq": "GPTQ",
    "modelopt": "ModelOpt",
    "mxfp4": "MXFP4",
    "mxfp8": "MXFP8",
    "nvfp4": "NVFP4",
}
_OWN_LICENCES: Mapping[str, str] = {
    "LicenseRef-NVIDIA-Proprietary": mark("NVIDIA's own"),
    "LicenseRef-Microsoft-DirectML": mark("Microsoft's own"),
}
_NEEDS: Mapping[str, str] = {
    "cuda_toolkit": mark("the CUDA toolkit"),
    "compiler": mark("a C++ compiler"),
}


def cannot_in_words(able: Iterable[Capability]) -> str:
    """ "It cannot score given tokens."; "" where it can do all that is known here."""
    can = frozenset(able)
    lacking = [text(words) for capability, words in _CANNOT.items() if capability not in can]
    return text("It cannot {list}.", list=", ".join(lacking)) if lacking else ""


def notes_in_words(engine: Engine) -> tuple[str, ...]:
    """What somebody should know before using it; texts of the user's own are as they are."""
    ended = text("Its own project has ended: nothing of it is mended any more.")
    told = (str(explain_code(note, {})) if note in WHAT_AND_NEXT else note for note in engine.notes)
    return (*((ended,) if engine.id in ARCHIVED else ()), *told)


def format_in_words(format_id: str) -> str:
    """ "OpenVINO IR"; a format without another name as it is."""
    return _FORMATS.get(format_id, format_id)


def vendors_in_words(vendors: Iterable[str]) -> str:
    """ "AMD, Intel"."""
    return ", ".join(VENDORS.get(vendor, vendor) for vendor in vendors)


def licence_in_words(licence: str) -> str:
    """ "licence MIT", "licences MIT, NVIDIA's own"; of an SPDX expression whose parts all hold."""
    count = len(licence.split(" AND "))
    return plural("licence {named}", "licences {named}", count, named=licences_in_words(licence))


def licences_in_words(licence: str) -> str:
    """The same without the word: "MIT, NVIDIA's own"."""
    return ", ".join(text(_OWN_LICENCES[part]) if part in _OWN_LICENCES else part for part in licence.split(" AND "))


def needs_in_words(recipe: Recipe) -> str:
    """What must be on the machine besides, and why; "" where nothing must."""
    if not recipe.needs:
        return ""
    needed = text(" and ").join(text(_NEEDS[need]) for need in recipe.needs)
    return text(
        "It compiles its kernels when it is first used, for minutes, and needs {needed} for that.", needed=needed
    )


def untried_in_words(recipe: Recipe) -> str:
    """On whose cards nobody has run it for us, where others have; "" where there are none of these."""
    if not recipe.verified or not recipe.untried_vendors:
        return ""
    return text("Nobody has run it for us on cards of {vendors}.", vendors=vendors_in_words(recipe.untried_vendors))


def fetched_in_words(recipe: Recipe) -> str:
    """How much comes from where: "Some 33.0 MiB from the package index"."""
    place = (urlsplit(recipe.index).hostname if recipe.index else None) or text("the package index")
    if recipe.torch is not None:
        place = text("{place} and {other}", place=place, other=TORCH_HOST)
    if recipe.download_bytes is None:
        return text("From {place}, how much is not known", place=place)
    return text("Some {size} from {place}", size=size(recipe.download_bytes), place=place)


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
    return why_no_card(recipe.vendors, recipe.least_compute_capability, recipe.least_driver, machine)


def why_no_card(
    vendors: Iterable[str], least_capability: str | None, least_driver: str | None, machine: Machine
) -> str:
    """Why what is made for such cards would use none of `machine`; "" where it would."""
    wanted = tuple(vendors)
    cards = [device for device in machine.devices if device.vendor in wanted]
    if not cards:
        return text("No card of {vendors} is seen here.", vendors=vendors_in_words(wanted))
    reasons = [_too_old(least_capability, least_driver, card) for card in cards]
    return "" if "" in reasons else reasons[0]


def _too_old(least_capability: str | None, least_driver: str | None, card: Device) -> str:
    has = card.compute_capability
    if least_capability and has and version_key(has) < version_key(least_capability):
        said = mark("It needs compute capability {least} or newer; {device} has {has}.")
        return text(said, least=least_capability, has=has, device=card.name)
    has = card.driver if card.vendor == "nvidia" else None
    if least_driver and has and version_key(has) < version_key(least_driver):
        said = mark("It needs driver {least} or newer; that of {device} is {has}.")
        return text(said, least=least_driver, has=has, device=card.name)
    return ""
