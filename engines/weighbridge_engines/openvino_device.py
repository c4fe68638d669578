"""On which of its devices OpenVINO computes where nobody says: the fastest that has room for the model. Pure but for
`need_bytes`, which looks into the model's folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Device

CPU = "CPU"
MOST_BYTES = 1 << 20
"""A config.json has some kilobytes."""

_KINDS: Mapping[str, str] = {"gpu": "setting.device_card", "shared": "setting.device_shared"}
"""What is tried, in this order: cards with memory of their own, then the processor's graphics part. And why."""

_CARD_ELEMENT_BYTES = 2
_BESIDE = 1.1
"""For what a card takes beside weights and cache, as a share: an estimate, for none was measured."""


def chosen(devices: Sequence[Device], need_bytes: int) -> tuple[str, str]:
    """The id of the device, and a "setting." code that says why. Of several of a kind the one with the most memory; one
    that does not tell how much it has is taken to have room.
    """
    for kind, why in _KINDS.items():
        roomy = [one for one in devices if one.kind == kind and _has_room(one, need_bytes)]
        if roomy:
            return max(roomy, key=lambda one: one.memory_total_bytes or 0).id, why
    return CPU, "setting.device_full" if any(one.kind in _KINDS for one in devices) else "setting.device_only"


def _has_room(device: Device, need_bytes: int) -> bool:
    return device.memory_total_bytes is None or need_bytes <= device.memory_total_bytes


def need_bytes(model: Path, weights_bytes: int, context: int) -> int:
    """What the model at `model` takes on a card: its weights, and `context` tokens of cache where config.json tells how
    much that is.
    """
    try:
        with (model / "config.json").open("rb") as file:
            told = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        told = {}
    row = row_elements(told) if isinstance(told, dict) else None
    return int((weights_bytes + context * (row or 0) * _CARD_ELEMENT_BYTES) * _BESIDE)


def row_elements(config: Mapping[str, Any]) -> int | None:
    """Elements of the KV cache for each token; None where `config` does not tell."""
    layers, heads = _whole(config, "num_hidden_layers"), _whole(config, "num_attention_heads")
    length = _whole(config, "head_dim") or (_whole(config, "hidden_size") // heads if heads else 0)
    return 2 * layers * (_whole(config, "num_key_value_heads") or heads) * length or None


def _whole(config: Mapping[str, Any], name: str) -> int:
    told = config.get(name)
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0
