"""llama.cpp through llama-cpp-python, which the user installs: in a process of its own, or in the program itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

from weighbridge_engines.api import UNCACHED, Capability, Cause, Device, Dialect, Engine, Load
from weighbridge_engines.installed import is_installed
from weighbridge_engines.llama_cpp_log import Say, log_lines
from weighbridge_engines.llama_cpp_model import LlamaModel
from weighbridge_engines.llama_cpp_parameters import CONTROLS, checked
from weighbridge_engines.llama_cpp_session import LlamaSession
from weighbridge_engines.llama_failures import diagnose
from weighbridge_engines.llama_log import report
from weighbridge_engines.session_log import print_line

PACKAGE = "llama-cpp-python"
INSTALL = 'CMAKE_ARGS="-DGGML_NATIVE=OFF" pip install llama-cpp-python'
"""It is compiled, in five minutes and more. Without the setting it takes instructions that a processor announces, and
that a virtual machine may not allow: then it ends at once.
"""

_KINDS = ("cpu", "gpu", "shared", "cpu", "gpu")
"""ggml's types of devices, in their order: CPU, GPU, IGPU, ACCEL, META."""


def missing() -> Cause | None:
    """None, or that the package is not installed."""
    return None if is_installed("llama_cpp") else Cause("engine.not_installed", {"package": PACKAGE})


def version() -> str | None:
    """The package's version."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


class _Properties(ctypes.Structure):
    """ggml_backend_dev_props; what stands after is not read."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("free", ctypes.c_size_t),
        ("total", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("id", ctypes.c_char_p),
        ("rest", ctypes.c_char * 256),
    )


def devices() -> list[Device]:
    """What this build can compute on. Call it in a child: it loads the library and its drivers."""
    import_module("llama_cpp").llama_backend_init()
    ggml: Any = import_module("llama_cpp._ggml").libggml
    ggml.ggml_backend_dev_count.restype = ctypes.c_size_t
    ggml.ggml_backend_dev_get.restype = ctypes.c_void_p
    ggml.ggml_backend_dev_get.argtypes = (ctypes.c_size_t,)
    ggml.ggml_backend_dev_get_props.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Properties))
    return [_device(ggml, place) for place in range(ggml.ggml_backend_dev_count())]


def _device(ggml: Any, place: int) -> Device:
    told = _Properties()
    ggml.ggml_backend_dev_get_props(ggml.ggml_backend_dev_get(place), ctypes.byref(told))
    return Device(
        id=told.name.decode(),
        name=(told.description or told.name).decode("utf-8", "replace"),
        kind=_KINDS[told.kind] if told.kind < len(_KINDS) else "gpu",
        memory_total_bytes=told.total or None,
        memory_free_bytes=told.free or None,
        pci_id=told.id.decode() if told.id else None,
    )


def open_session(load: Load) -> LlamaSession:
    """Load, with the library's log on standard error. Raises LoadFailed, Unsupported."""
    return open_here(load, print_line, lambda: False)


def open_here(load: Load, say: Say, stopped: Callable[[], bool]) -> LlamaSession:
    """Load, with the library's log said to `say`; given up once `stopped()`."""
    checked(load)
    with log_lines().listening(say):
        model = LlamaModel(load, say, stopped)
        say("I llama_context: warming up the model with an empty run")
        model.warm()
        return LlamaSession(model, load.template, load.extra.get("template_values", {}))


ENGINE = Engine(
    id="llama_cpp",
    title="llama-cpp-python",
    formats=frozenset({"gguf"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.JSON_SCHEMA,
            Capability.GRAMMAR,
            Capability.LOGPROBS,
            Capability.LORA,
            Capability.SCORE,
        }
    ),
    install=INSTALL,
    missing=missing,
    devices=devices,
    version=version,
    open=open_session,
    open_here=open_here,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS,
    check=checked,
    dialect=Dialect(uncached=UNCACHED),
    environment={"GGML_NO_BACKTRACE": "1"},
)
