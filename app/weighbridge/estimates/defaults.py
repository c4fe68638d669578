"""How each engine is started where nothing is asked for: the plan that an estimate starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbridge.estimates.plan import Plan

_BATCH: Mapping[str, int] = {
    "llama_server": 512,
    "llama_cpp": 512,
    "mlx": 2048,
    "exllamav2": 2048,
    "exllamav3": 2048,
}
"""Tokens of a prompt computed at a time. An engine that is not here computes a prompt as a whole."""

_ON_HOST = frozenset({"onnx_genai", "openvino"})


def plan_for(engine_id: str, context: int, **changes: Any) -> Plan:
    """The plan of `engine_id` with a context of `context` tokens, and with `changes` of its other fields.

    llama-cpp-python is given a cache of windows and flash attention, both against its own defaults; it keeps logits for
    each token of a batch. Several slots share one cache. Raises TypeError for a field that a plan does not have.
    """
    batch = _BATCH.get(engine_id, max(context, 1))
    plan = Plan(
        engine=engine_id,
        context=context,
        unified=changes.get("slots", 1) > 1,
        batch=batch,
        micro_batch=batch,
        gpu_layers=0 if engine_id in _ON_HOST else None,
        outputs=batch if engine_id == "llama_cpp" else None,
    )
    return replace(plan, **changes)
