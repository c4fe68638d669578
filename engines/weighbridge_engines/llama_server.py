"""llama.cpp's server, from the `xllamacpp` wheel.

The wheel's defaults are not llama-server's; all that matters is set here. One answer at a time for each slot; no web
page, no other origin, nothing fetched.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import threading
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import reduce
from importlib import metadata, util
from typing import Any

from weighbridge_engines.api import Capability, Cause, Device, Engine, Load
from weighbridge_engines.cuda_bandwidth import bandwidth
from weighbridge_engines.llama_log import diagnose, report, row

LOG_LEVEL = 4
"""The least that prints buffer sizes and effective values; about 190 lines a load."""

DEFAULT_BATCH = 512
CACHE_RAM_MIB = 512
"""Host memory for prompts of earlier conversations.

The engine's own default, 8192, is more than a laptop has to spare.
"""

MOST_GPUS = 128
"""The wheel wants a share for each of so many."""

_EXPERTS = r"blk\.{layer}\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU"


def missing() -> Cause | None:
    """None, or that the wheel is not installed."""
    return None if util.find_spec("xllamacpp") else Cause("engine.not_installed", {"package": "xllamacpp"})


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


def values(load: Load, port: int, key: str) -> dict[str, Any]:
    """The server's parameters for `load`, by their names in `CommonParams` ("a.b" is attribute b of attribute a).

    A value of an enumeration stands as its name, an adapter as its path. Pure.
    """
    batch = load.batch or DEFAULT_BATCH
    return {
        "model.path": load.model,
        "n_ctx": load.context or 0,
        "n_parallel": load.slots,
        "kv_unified": load.slots > 1 if load.unified is None else load.unified,
        "n_batch": batch,
        "n_ubatch": load.micro_batch or batch,
        "n_gpu_layers": -1 if load.gpu_layers is None else load.gpu_layers,
        "fit_params": False,
        "cache_ram_mib": CACHE_RAM_MIB,
        "hostnames": ["127.0.0.1"],
        "port": port,
        "api_keys": [key],
        "ui": False,
        "offline": True,
        "cors_origins": "http://127.0.0.1",
        "cors_credentials": False,
        "verbosity": LOG_LEVEL,
        **_chosen(load),
    }


def _chosen(load: Load) -> dict[str, Any]:
    """The parameters that are left to the engine unless `load` names them."""
    split, experts = load.split or (), range(load.cpu_experts or 0)
    chosen = {
        "model_alias": {load.alias} if load.alias else None,
        "cpuparams.n_threads": load.threads,
        "cpuparams_batch.n_threads": load.threads,
        "cache_type_k": load.key_type and f"GGML_TYPE_{load.key_type.upper()}",
        "cache_type_v": load.value_type and f"GGML_TYPE_{load.value_type.upper()}",
        "flash_attn_type": _named(
            load.flash_attention, "LLAMA_FLASH_ATTN_TYPE_ENABLED", "LLAMA_FLASH_ATTN_TYPE_DISABLED"
        ),
        "swa_full": load.whole_window,
        "load_mode": _named(load.mapped, "LLAMA_LOAD_MODE_MMAP", "LLAMA_LOAD_MODE_NONE"),
        "tensor_split": [*split, *[0.0] * (MOST_GPUS - len(split))] if split else None,
        "tensor_buft_overrides": ",".join(_EXPERTS.format(layer=layer) for layer in experts) or None,
        "mmproj.path": load.projector,
        "speculative.draft.mparams.path": load.draft,
        "speculative.types": load.draft and [f"COMMON_SPECULATIVE_TYPE_DRAFT_{load.draft_kind.upper()}"],
        "lora_adapters": list(load.adapters) or None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _named(choice: bool | None, yes: str, no: str) -> str | None:
    return None if choice is None else yes if choice else no


def parameters(load: Load, port: int, key: str, **changed: Any) -> Any:
    """`values`, and what is `changed` of them, as the wheel's own record."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    for name, value in {**values(load, port, key), **changed}.items():
        *path, attribute = name.split(".")
        owner = reduce(getattr, path, params)
        default = getattr(owner, attribute)
        setattr(owner, attribute, _typed(name, value, default))
    return params


def _typed(name: str, value: Any, default: Any) -> Any:
    """`value` as the wheel wants it in the place of `default`."""
    import xllamacpp

    if name == "lora_adapters":
        return [xllamacpp.CommonAdapterLoraInfo(path, 1.0) for path in value]
    if isinstance(default, list) and default and isinstance(default[0], Enum):
        return [type(default[0])[each] for each in value]
    return type(default)[value] if isinstance(default, Enum) else value


def serve(load: Load, port: int, key: str) -> None:
    """Load and serve until the process is ended. A load that fails raises RuntimeError; its reason is in the log."""
    import xllamacpp

    server = xllamacpp.Server(parameters(load, port, key))
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


ENGINE = Engine(
    id="llama_server",
    title="llama.cpp",
    formats=frozenset({"gguf"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.COMPLETIONS,
            Capability.EMBEDDINGS,
            Capability.TOOLS,
            Capability.JSON_SCHEMA,
            Capability.GRAMMAR,
            Capability.LOGPROBS,
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
    environment={"GGML_NO_BACKTRACE": "1"},
)
