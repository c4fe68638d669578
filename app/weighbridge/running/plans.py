"""A load as a plan: what an engine will really do with what was asked for and what was left to it. Pure."""

from __future__ import annotations

from weighbridge.estimates.plan import Plan
from weighbridge_engines.api import Load

BATCH = 512
"""The batch of our llama.cpp where a load names none."""

CONTEXT = 4096
"""For a load that names no context, which none of ours does."""


def plan_of(load: Load, engine_id: str) -> Plan:
    """What `engine_id` makes of `load`: everything that was left to it decided as it decides."""
    batch = load.batch or BATCH
    return Plan(
        engine=engine_id,
        context=load.context or CONTEXT,
        slots=load.slots,
        unified=load.slots > 1 if load.unified is None else load.unified,
        key_type=load.key_type or "f16",
        value_type=load.value_type or "f16",
        batch=batch,
        micro_batch=load.micro_batch or batch,
        flash_attention=load.flash_attention is not False,
        whole_window=bool(load.whole_window),
        gpu_layers=load.gpu_layers,
        cpu_experts=load.cpu_experts or 0,
        split=load.split,
        mapped=load.mapped is not False,
    )
