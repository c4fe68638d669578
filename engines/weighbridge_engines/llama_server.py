"""llama.cpp's server, from the `xllamacpp` wheel.

The wheel's defaults are not llama-server's; all that matters is set here. One answer at a time for each slot; no web
page, no other origin, nothing fetched.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from importlib import metadata, util
from typing import Any

from weighbridge_engines.api import Capability, Cause, Device, Engine, Load

LOG_LEVEL = 4
"""The least that prints buffer sizes and effective values; about 190 lines a load."""

DEFAULT_BATCH = 512
CACHE_RAM_MIB = 512
"""Host memory for prompts of earlier conversations.

The engine's own default, 8192, is more than a laptop has to spare.
"""


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

    Pure.
    """
    batch = load.batch or DEFAULT_BATCH
    chosen: dict[str, Any] = {
        "model.path": load.model,
        "n_ctx": load.context or 0,
        "n_parallel": load.slots,
        "kv_unified": load.slots > 1,
        "n_batch": batch,
        "n_ubatch": batch,
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
    }
    if load.alias:
        chosen["model_alias"] = {load.alias}
    if load.threads is not None:
        chosen["cpuparams.n_threads"] = load.threads
        chosen["cpuparams_batch.n_threads"] = load.threads
    return chosen


def parameters(load: Load, port: int, key: str) -> Any:
    """`values` as the wheel's own record."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    for name, value in values(load, port, key).items():
        owner, _, attribute = name.rpartition(".")
        setattr(getattr(params, owner) if owner else params, attribute, value)
    return params


def serve(load: Load, port: int, key: str) -> None:
    """Load and serve until the process is ended. A load that fails raises RuntimeError; its reason is in the log."""
    import xllamacpp

    server = xllamacpp.Server(parameters(load, port, key))
    threading.Event().wait()
    del server


_NUMBERS = (
    (re.compile(r"llama_context: n_ctx +=\s+(\d+)"), "context"),
    (re.compile(r"llama_context: n_batch +=\s+(\d+)"), "batch"),
    (re.compile(r"llama_context: n_seq_max +=\s+(\d+)"), "slots"),
    (re.compile(r"system_info: n_threads = (\d+)"), "threads"),
    (re.compile(r"offloaded (\d+)/\d+ layers to GPU"), "gpu_layers"),
)
_BUFFERS = (
    (re.compile(r"model buffer size =\s+([\d.]+) MiB"), "weights_bytes"),
    (re.compile(r"KV buffer size =\s+([\d.]+) MiB"), "kv_bytes"),
    (re.compile(r"RS buffer size =\s+([\d.]+) MiB"), "state_bytes"),
    (re.compile(r"compute buffer size =\s+([\d.]+) MiB"), "compute_bytes"),
    (re.compile(r"output buffer size =\s+([\d.]+) MiB"), "output_bytes"),
)
_STAGES = (
    ("load_model: loading model", "reading"),
    ("load_tensors:", "weights"),
    ("llama_context: n_seq_max", "context"),
    ("warming up the model", "warming"),
)


def report(line: str) -> Mapping[str, int | float | str | bool]:
    """Effective values, buffer sizes (bytes) and the stage of the load, out of one line of the log."""
    found: dict[str, int | float | str | bool] = {}
    for pattern, name in _NUMBERS:
        if match := pattern.search(line):
            found[name] = int(match[1])
    for pattern, name in _BUFFERS:
        if match := pattern.search(line):
            found[name] = int(float(match[1]) * (1 << 20))
    for words, stage in _STAGES:
        if words in line:
            found["stage"] = stage
    if "Flash Attention enabled" in line:
        found["flash_attention"] = True
    elif "Flash Attention not supported" in line:
        found["flash_attention"] = False
    return found


_CAUSES = (
    (re.compile(r"(?P<library>lib[\w.+-]+): cannot open shared object file"), "engine.missing_library"),
    (re.compile(r"unknown model architecture: '(?P<architecture>[^']*)'"), "engine.unknown_architecture"),
    (re.compile(r"data is not within the file bounds|corrupted or incomplete"), "engine.bad_model_file"),
    (re.compile(r"invalid magic|bad magic|failed to read magic|invalid GGUF"), "engine.bad_model_file"),
    (re.compile(r"failed to open GGUF file|No such file or directory"), "engine.no_model_file"),
    (
        re.compile(
            r"unable to allocate|failed to allocate|allocation failed|out of (?:device )?memory|not enough memory"
            r"|cudaMalloc failed|bad_alloc"
        ),
        "engine.out_of_memory",
    ),
    (re.compile(r"couldn't bind|bind failed|Address already in use"), "engine.port_taken"),
    (re.compile(r"UnicodeEncodeError: .*surrogates not allowed"), "engine.file_name"),
    (re.compile(r"No module named 'xllamacpp'"), "engine.not_installed"),
)


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause in the engine's own words, the first that the log tells; None where it tells none."""
    del exit_code
    for pattern, code in _CAUSES:
        for line in log:
            if match := pattern.search(line):
                return Cause(code, {**match.groupdict(), "line": line.strip()[:300]})
    return None


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
    environment={"GGML_NO_BACKTRACE": "1"},
)
