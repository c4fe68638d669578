"""What of a model one token makes an engine touch, digested once for each file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from weighbridge.estimates.weights import Weights
from weighbridge.formats.model import ModelInfo


@dataclass(frozen=True)
class Use:
    """`expert_share` of a layer's experts is read for a token: 1 where there are none, None where it is not told.

    `active_parameters` are what a token is multiplied with; `output_parameters`, a part of them, only give out a word:
    of a prompt, the last token alone is multiplied with these. `key_length` is the elements of one head's query,
    `type_name` the type in which most of the layers' bytes lie.
    """

    expert_share: float | None = 1.0
    active_parameters: int | None = None
    output_parameters: int = 0
    key_length: int = 0
    type_name: str | None = None


def use_of(info: ModelInfo, weights: Weights, output_parameters: int) -> Use:
    """That of the model that `info` tells of, whose matrix of the output has so many elements."""
    share = _expert_share(info, weights)
    return Use(
        expert_share=share,
        active_parameters=info.active_parameters or _active(info, weights, share),
        output_parameters=output_parameters,
        key_length=info.key_length or 0,
        type_name=_bulk_type(weights) or info.quant,
    )


def _expert_share(info: ModelInfo, weights: Weights) -> float | None:
    if not any(layer.expert_bytes for layer in weights.layers) and not info.experts:
        return 1.0
    if not info.experts or not info.experts_used:
        return None
    return min(1.0, info.experts_used / info.experts)


def _active(info: ModelInfo, weights: Weights, share: float | None) -> int | None:
    """All parameters where there are no experts; where theirs are counted, those that are left by what is read."""
    if not info.experts:
        return info.parameters
    if not weights.counted or share is None or not info.parameters:
        return None
    count = len(weights.layers)
    read_bytes = weights.dense_sums[count] + share * weights.expert_sums[count] + weights.embedding_bytes
    return round(info.parameters * read_bytes / weights.total_bytes)


def _bulk_type(weights: Weights) -> str | None:
    sums: Counter[str] = Counter()
    for layer in weights.layers:
        for kind, amount in (*layer.dense_matrices, *layer.expert_matrices):
            sums[kind] += amount
    return sums.most_common(1)[0][0] if sums else None
