"""How each engine is started where nothing is asked for: the plan that an estimate starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbridge.estimates.plan import Plan
from weighbridge.estimates.runtime_device import CACHE
from weighbridge_engines.prompt_steps import CARD_BATCH

_BATCH: Mapping[str, int] = {
    "llama_server": 512,
    "llama_cpp": 512,
    "mlx": 2048,
    "exllamav2": 2048,
    "exllamav3": 2048,
    "onnx_genai": CARD_BATCH,
    "openvino": CARD_BATCH,
}
"""Tokens of a prompt computed at a time: mlx-lm's `prefill_step_size`, exllamav2's `max_input_len`, exllamav3's
`max_chunk_size`; of the runtimes, those on a card. An engine that is not here computes a prompt as a whole.
"""

OUTPUTS = 32
"""Tokens of a batch whose probabilities llama-cpp-python can be asked for here, so that texts can be scored."""

_ON_HOST = frozenset({"onnx_genai"})
"""What computes on the processor unless it is told otherwise. OpenVINO chooses by what is there."""


def plan_for(engine_id: str, context: int, **told: Any) -> Plan:
    """The plan of `engine_id` with a context of `context` tokens, and with what else is `told`, by a plan's fields.

    llama-cpp-python is given a cache of windows, against its own default, and room for the logits of OUTPUTS tokens of
    a batch. A batch is computed at once, and several slots share one cache, unless told otherwise. Raises
    TypeError for a field that a plan does not have.
    """
    batch = told.get("batch", _BATCH.get(engine_id, max(context, 1)))
    cache = CACHE.get(engine_id, "f16")
    plan = Plan(
        engine=engine_id,
        context=context,
        key_type=cache,
        value_type=cache,
        unified=told.get("slots", 1) > 1,
        batch=batch,
        micro_batch=batch,
        gpu_layers=0 if engine_id in _ON_HOST else None,
        outputs=OUTPUTS if engine_id == "llama_cpp" else None,
    )
    return replace(plan, **told)
