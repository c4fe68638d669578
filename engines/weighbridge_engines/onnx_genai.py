"""ONNX Runtime GenAI, which the user installs: folders that were made for it. In a process of its own: while it reads a
prompt no other thread of a program goes on.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

from weighbridge_engines.api import UNCACHED, Capability, Cause, Device, Dialect, Engine, Load
from weighbridge_engines.installed import is_installed
from weighbridge_engines.onnx_genai_failures import diagnose
from weighbridge_engines.onnx_genai_folder import read
from weighbridge_engines.onnx_genai_library import SILENT, imported
from weighbridge_engines.onnx_genai_model import OnnxModel
from weighbridge_engines.onnx_genai_session import OnnxSession
from weighbridge_engines.onnx_genai_settings import CONTROLS
from weighbridge_engines.onnx_genai_settings import checked as checked_settings
from weighbridge_engines.session_log import report

PACKAGE = "onnxruntime-genai"
_PACKAGES = (PACKAGE, f"{PACKAGE}-cuda", f"{PACKAGE}-directml")
_NEEDED = {"onnxruntime_genai": PACKAGE, "jinja2": "jinja2"}
_KINDS = {"CPU": "cpu", "GPU": "gpu", "NPU": "shared"}


def missing() -> Cause | None:
    """None, or which package is not installed."""
    gone = next((package for module, package in _NEEDED.items() if not is_installed(module)), None)
    return None if gone is None else Cause("engine.not_installed", {"package": gone})


def version() -> str | None:
    """The version of whichever of its packages is installed."""
    for package in _PACKAGES:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return None


def checked(load: Load) -> None:
    """Raise Unsupported where `load` asks for what cannot be followed, or its folder for what it may not."""
    checked_settings(load)
    if Path(load.model).is_dir():
        read(Path(load.model))


def devices() -> list[Device]:
    """What this build can compute on. Call it in a child: it loads drivers."""
    found = imported("onnxruntime").get_ep_devices()
    return [_device(one, place) for place, one in enumerate(found)]


def _device(one: Any, place: int) -> Device:
    """By its provider, "CPU" or "CUDA1"; the library tells no more of a device than who made it."""
    provider = str(one.ep_name).removesuffix("ExecutionProvider")
    kind = _KINDS.get(str(one.device.type).rsplit(".", 1)[-1], "gpu")
    return Device(
        id=provider if kind == "cpu" else f"{provider}{place}",
        name=" ".join(filter(None, (str(one.device.vendor), provider))),
        kind=kind,
    )


def open_session(load: Load) -> OnnxSession:
    """Load, with what is known of it on standard error. Raises Unsupported."""
    checked(load)
    return OnnxSession(OnnxModel(load), load)


ENGINE = Engine(
    id="onnx_genai",
    title="ONNX Runtime GenAI",
    formats=frozenset({"onnx"}),
    capabilities=frozenset({Capability.CHAT, Capability.JSON_SCHEMA, Capability.SCORE}),
    install=f"pip install {PACKAGE} jinja2",
    missing=missing,
    devices=devices,
    version=version,
    open=open_session,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS,
    check=checked,
    dialect=Dialect(uncached=UNCACHED),
    environment=SILENT,
)
