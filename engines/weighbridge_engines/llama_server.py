"""llama.cpp's server, from the `xllamacpp` wheel."""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import reduce
from importlib import metadata
from typing import Any

from weighbridge_engines import schemas
from weighbridge_engines.api import UNCACHED, Capability, Cause, Device, Dialect, Engine, Load, Unsupported
from weighbridge_engines.cuda_bandwidth import bandwidth
from weighbridge_engines.installed import is_installed
from weighbridge_engines.llama_failures import diagnose
from weighbridge_engines.llama_log import report, row
from weighbridge_engines.llama_parameters import command_line, values
from weighbridge_engines.llama_patterns import known
from weighbridge_engines.llama_settings import CONTROLS, checked_for_library


def missing() -> Cause | None:
    """None, or that the wheel is not installed."""
    return None if is_installed("xllamacpp") else Cause("engine.not_installed", {"package": "xllamacpp"})


def version() -> str | None:
    """The wheel's version; its last part is llama.cpp's build number."""
    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError:
        return None


def devices() -> list[Device]:
    """What this build can compute on. Call it in a child: it loads the library and its drivers."""
    import xllamacpp

    return [_device(found) for found in xllamacpp.get_device_info()]


def _device(found: Mapping[str, Any]) -> Device:
    kinds = {"CPU": "cpu", "GPU": "gpu", "IGPU": "shared"}
    kind = str(found["type"].name).rpartition("_")[2]
    return Device(
        id=str(found["name"]),
        name=str(found["description"]),
        kind=kinds.get(kind, kind.lower()),
        memory_total_bytes=found.get("memory_total") or None,
        memory_free_bytes=found.get("memory_free") or None,
        pci_id=found.get("device_id") or None,
    )


def parameters(load: Load, port: int, key: str, **changed: Any) -> Any:
    """`values`, the load's own attributes, and what is `changed` of them, as the wheel's own record.

    Raises Unsupported with "setting.attribute" for an attribute that the wheel does not have, or not with such a value.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    for name, value in {**values(load, port, key), **changed}.items():
        owner, attribute = _place(params, name)
        setattr(owner, attribute, _typed(name, value, getattr(owner, attribute)))
    for name, value in load.extra.get("attributes", {}).items():
        try:
            _set_attribute(params, name, value)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise Unsupported(Cause("setting.attribute", {"name": name[:60], "value": str(value)[:60]})) from None
    return params


def _place(params: Any, name: str) -> tuple[Any, str]:
    """The record in which "a.b" stands, and its last name. A schema becomes a grammar, the only place it has there."""
    *path, attribute = name.split(".")
    if attribute == "json_schema":
        attribute = "grammar"
    return reduce(getattr, path, params), attribute


def _set_attribute(params: Any, name: str, value: Any) -> None:
    """Set it where the wheel has it, with a value of the kind that stands there now."""
    owner, attribute = _place(params, name)
    default = getattr(owner, attribute)
    if isinstance(default, Enum):
        value = type(default)[str(value)]
    elif isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default) or attribute.startswith("_"):
        raise TypeError(name)
    setattr(owner, attribute, value)


def _typed(name: str, value: Any, default: Any) -> Any:
    """`value` as the wheel wants it in the place of `default`."""
    import xllamacpp

    if name == "lora_adapters":
        return [xllamacpp.CommonAdapterLoraInfo(path, scale) for path, scale in value]
    if name == "sampling.json_schema":
        return _grammar(xllamacpp.json_schema_to_grammar(json.loads(value)))
    if name == "sampling.grammar":
        return _grammar(value)
    if isinstance(default, list) and default and isinstance(default[0], Enum):
        return [type(default[0])[each] for each in value]
    return type(default)[value] if isinstance(default, Enum) else value


def _grammar(rules: str) -> Any:
    """A user's: of the other kinds the engine expects that they begin before the answer does, and drops them there."""
    import xllamacpp

    return xllamacpp.CommonGrammar(xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, rules)


def serve(load: Load, port: int, key: str) -> None:
    """Load and serve until the process is ended. A load that fails raises RuntimeError; its reason is in the log."""
    import xllamacpp

    try:
        params = parameters(load, port, key)
    except Unsupported as refusal:
        sys.exit(f"attribute {refusal.cause.values['name']!r} cannot be {refusal.cause.values['value']!r}")
    server = xllamacpp.Server(params)
    threading.Event().wait()
    del server


def size(load: Load) -> None:
    """Print the table of what `load` would take: llama.cpp's trial without weights, the first thing its fitting does.

    At this log level, nothing that stands in the model file is printed before the table. Nothing is mapped, as in the
    trial itself: where that fails the load goes on, and would read the whole file into the system's cache. What is
    loaded beside the model is left out.
    """
    import xllamacpp

    trial = {
        "no_alloc": True,
        "warmup": False,
        "fit_params": True,
        "load_mode": "LLAMA_LOAD_MODE_NONE",
        "cpuparams.n_threads": 1,
        "n_threads_http": 1,
    }
    _stand_still_at_a_crash()
    alone = replace(load, projector=None, draft=None, adapters=())
    xllamacpp.Server(parameters(alone, 0, secrets.token_urlsafe(), **trial))


def _stand_still_at_a_crash() -> None:
    """After its table llama.cpp goes on to a crash within some 10 ms, and what it has not printed by then is lost: its
    log is written by another thread. The one that crashes waits, so that the log comes out; whoever reads it ends us.
    """
    if os.name == "posix":
        library = ctypes.CDLL(None)
        library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        library.signal(signal.SIGSEGV, ctypes.cast(library.pause, ctypes.c_void_p))


def check_schema(schema: object) -> None:
    """Raise RequestRefused, with the keyword, where llama.cpp would not hold an answer to all of `schema`."""
    schemas.check_schema(schema, schemas.BOUNDS)
    schemas.check_patterns(schema, known)


ENGINE = Engine(
    id="llama_server",
    title="llama.cpp",
    formats=frozenset({"gguf"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.COMPLETIONS,
            Capability.EMBEDDINGS,
            Capability.RERANK,
            Capability.VISION,
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.GRAMMAR,
            Capability.LOGPROBS,
            Capability.LORA,
            Capability.DRAFT,
            Capability.PARALLEL,
        }
    ),
    install="pip install xllamacpp",
    missing=missing,
    devices=devices,
    version=version,
    serve=serve,
    report=report,
    diagnose=diagnose,
    bandwidth=bandwidth,
    size=size,
    row=row,
    controls=CONTROLS,
    check=checked_for_library,
    said=command_line,
    check_schema=check_schema,
    dialect=Dialect(uncached=UNCACHED),
    environment={"GGML_NO_BACKTRACE": "1"},
)
