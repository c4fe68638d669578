"""A load as a plan: what an engine will really do with what was asked for and what was left to it. Pure."""

from __future__ import annotations

from math import prod
from typing import Any

from weighbridge.base.units import GIB
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.runtime_device import OPENVINO, RUNTIMES
from weighbridge_engines.api import Load
from weighbridge_engines.transformers_answers import AT_ONCE

CONTEXT = 4096
"""For a load that names no context, which none of ours does."""

_SHARED = (
    "slots",
    "unified",
    "key_type",
    "value_type",
    "batch",
    "micro_batch",
    "flash_attention",
    "whole_window",
    "gpu_layers",
    "cpu_experts",
    "split",
    "mapped",
)
"""What a load and a plan both have; None in a load is left to the engine."""

_CACHE_TYPES = ("key_type", "value_type")
_PROVIDERS = {"directml": "dml"}
_CACHES = {"u4": "q8_0", "u8": "q8_0", "bf16": "bf16", "f16": "f16", "f32": "f32"}
"""OpenVINO's types of a cache, by the names of those that are as large: see `shares_runtime.SMALL_KEYS`."""


_FLOATS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
"""What server programs call types of floats, and a cache of the same."""


def card_count(load: Load) -> int:
    """On how many cards of this machine a server program puts a model; what several share is theirs to know."""
    parts = (load.extra.get(name) for name in ("tensor_parallel", "pipeline_parallel"))
    return prod(part for part in parts if isinstance(part, int) and part > 0)


def plan_of(load: Load, engine_id: str) -> Plan:
    """What `engine_id` makes of `load`: everything that was left to it decided as it decides."""
    told = {name: value for name in _SHARED if (value := getattr(load, name)) is not None}
    if load.split_mode == "none":
        told["split"] = (*(0.0,) * (load.main_gpu or 0), 1.0)
    if load.draft_kind == "mtp":
        told["predict"] = True
    if load.task != "chat" and load.batch is None:  # what is not read from left to right is read as a whole
        told["batch"] = load.context or CONTEXT
    if (floats := load.extra.get("dtype")) in _FLOATS:
        told = {"floats": floats, "key_type": _FLOATS[floats], "value_type": _FLOATS[floats], **told}
    if isinstance(reserved := load.extra.get("processor_cache_gib"), int):
        told["reserved_bytes"] = reserved * GIB
    if load.extra.get("continuous_batching"):
        told["slots"] = AT_ONCE
    if (parts := card_count(load)) > 1:
        told["split"] = (1.0,) * parts
    if engine_id in RUNTIMES:
        told = {name: value for name, value in told.items() if name not in _CACHE_TYPES}
        told |= _of_runtime(load, engine_id)
    return plan_for(engine_id, load.context or CONTEXT, **told)


def _of_runtime(load: Load, engine_id: str) -> dict[str, Any]:
    """What such an engine is asked for by names of its own: its device, and the type of its cache."""
    told: dict[str, Any] = {} if load.batch else {"threads": load.threads or 1}
    if kind := _CACHES.get(load.extra.get("cache_precision", "")):
        told |= {"key_type": kind, "value_type": kind}
    device = load.extra.get("device" if engine_id == OPENVINO else "provider")
    if device is not None:
        told["device"] = _PROVIDERS.get(device, device)
        told["gpu_layers"] = 0 if device.lower() == "cpu" else None
    return told
