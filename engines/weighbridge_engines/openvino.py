"""OpenVINO GenAI, which the user installs: models in its own form, and some GGUF files, on the processor or Intel's
cards. In a process of its own: a step of it lets no other thread of a program go on.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Capability, Cause, Device, Engine, Load
from weighbridge_engines.installed import is_installed
from weighbridge_engines.openvino_device import CPU, chosen, need_bytes
from weighbridge_engines.openvino_failures import diagnose
from weighbridge_engines.openvino_library import imported
from weighbridge_engines.openvino_model import OpenVinoModel, weights_bytes
from weighbridge_engines.openvino_session import OpenVinoSession
from weighbridge_engines.openvino_settings import CONTROLS, DEFAULT_CONTEXT, checked, suits
from weighbridge_engines.session_log import report, tell

PACKAGE = "openvino-genai"
_PROPERTIES = ("FULL_DEVICE_NAME", "DEVICE_TYPE", "GPU_DEVICE_TOTAL_MEM_SIZE", "DEVICE_PCI_INFO")
_PCI = re.compile(r"domain: (\d{1,5}) bus: (\d{1,3}) device: 0x([0-9a-f]{1,2}) function: (\d)")
_NEEDED = {"openvino_genai": PACKAGE, "jinja2": "jinja2"}


def missing() -> Cause | None:
    """None, or which package is not installed."""
    gone = next((package for module, package in _NEEDED.items() if not is_installed(module)), None)
    return None if gone is None else Cause("engine.not_installed", {"package": gone})


def version() -> str | None:
    """The package's version."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def devices() -> list[Device]:
    """What this build can compute on. Call it in a child: it loads drivers. A neural processor is none of it: the
    way in which models are run here is for processors and graphics devices alone.
    """
    core = imported("openvino").Core()
    return [_device(core, name) for name in core.available_devices if name.startswith((CPU, "GPU"))]


def _device(core: Any, name: str) -> Device:
    told = {one: _told(core, name, one) for one in _PROPERTIES}
    total = told["GPU_DEVICE_TOTAL_MEM_SIZE"]
    dedicated = "DISCRETE" in str(told["DEVICE_TYPE"])
    return Device(
        id=name,
        name=str(told["FULL_DEVICE_NAME"] or name),
        kind="cpu" if name == CPU else "gpu" if dedicated else "shared",
        memory_total_bytes=int(total) if isinstance(total, int) else None,
        pci_id=_slot(str(told["DEVICE_PCI_INFO"])),
    )


def _slot(words: str) -> str | None:
    """A PCI address, as OpenVINO writes its parts: the device alone in hexadecimal digits."""
    found = _PCI.search(words)
    if found is None:
        return None
    domain, bus, device, function = found.groups()
    return f"{int(domain):04x}:{int(bus):02x}:{int(device, 16):02x}.{int(function)}"


def _told(core: Any, device: str, name: str) -> object:
    """A property of a device; None where it has none of that name."""
    try:
        told: object = core.get_property(device, name)
    except (RuntimeError, TypeError):
        return None
    return told


def open_session(load: Load) -> OpenVinoSession:
    """Load, with what is known of it on standard error. Raises Unsupported."""
    checked(load)
    load = placed(load)
    return OpenVinoSession(OpenVinoModel(load), load)


def placed(load: Load) -> Load:
    """`load` with the device that it asks for, or the one that is chosen for it; which one is told, and why."""
    if "device" in load.extra:
        tell(device=load.extra["device"])
        return load
    path = Path(load.model)
    device, because = chosen(devices(), need_bytes(path, weights_bytes(path), load.context or DEFAULT_CONTEXT))
    tell(device=device, because=because)
    return replace(load, extra={**load.extra, "device": device})


ENGINE = Engine(
    id="openvino",
    title="OpenVINO GenAI",
    formats=frozenset({"openvino", "gguf"}),
    capabilities=frozenset({Capability.CHAT, Capability.JSON_SCHEMA, Capability.GRAMMAR, Capability.SCORE}),
    install=f"pip install {PACKAGE} jinja2",
    missing=missing,
    devices=devices,
    version=version,
    open=open_session,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS,
    check=checked,
    suits=suits,
)
