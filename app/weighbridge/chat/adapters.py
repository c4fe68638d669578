"""Which adapters act on an answer, said in every request where some are loaded. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge_engines.api import Load


def with_adapters(body: Mapping[str, Any], load: Load | None) -> dict[str, Any]:
    """`body`, and how strongly each adapter of `load` acts where it does not say.

    llama.cpp forgets what it has read under other adapters only where the request names adapters: one that named none
    would go on from there.
    """
    if load is None or not load.adapters or body.get("lora") is not None:
        return dict(body)
    scales = load.adapter_scales or (1.0,) * len(load.adapters)
    return {**body, "lora": [{"id": place, "scale": scale} for place, scale in enumerate(scales)]}
