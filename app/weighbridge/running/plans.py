"""A load as a plan: what an engine will really do with what was asked for and what was left to it. Pure."""

from __future__ import annotations

from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.plan import Plan
from weighbridge_engines.api import Load

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


def plan_of(load: Load, engine_id: str) -> Plan:
    """What `engine_id` makes of `load`: everything that was left to it decided as it decides."""
    told = {name: value for name in _SHARED if (value := getattr(load, name)) is not None}
    if load.split_mode == "none":
        told["split"] = (*(0.0,) * (load.main_gpu or 0), 1.0)
    if load.draft_kind == "mtp":
        told["predict"] = True
    if load.task != "chat" and load.batch is None:  # what is not read from left to right is read as a whole
        told["batch"] = load.context or CONTEXT
    return plan_for(engine_id, load.context or CONTEXT, **told)
