"""Why a token of context costs what it costs, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from weighbridge.base.units import number, size
from weighbridge.base.words import plural, text
from weighbridge.estimates.cache import kv_bytes, token_bytes
from weighbridge.estimates.plan import ALIGNED_TO, Plan, element_bytes
from weighbridge.estimates.shape import Certainty, Layer, Shape


def token_in_words(shape: Shape, plan: Plan) -> str:
    """ "30 layers × (192 + 192) × 2 bytes = 22.5 KiB a token"; what windows, states and sharing change follows."""
    if shape.certainty is Certainty.UNKNOWN:
        return text("The header does not say enough to tell what a token of context costs.")
    if not any(layer.cached for layer in shape.layers):
        return _without_cache(shape)
    said = [_growing(shape, plan), *_windows(shape), *_others(shape)]
    return " ".join(sentence for sentence in said if sentence)


def _growing(shape: Shape, plan: Plan) -> str:
    full = Counter(
        (layer.key_width, layer.value_width) for layer in shape.layers if layer.cached and layer.window is None
    )
    if not full:
        return text("Every layer keeps only a window, so a longer context costs nothing more.")
    parts = " + ".join(
        plural(
            "{count} layer × ({keys} + {values})",
            "{count} layers × ({keys} + {values})",
            count,
            count=number(count),
            keys=number(keys),
            values=number(values),
        )
        for (keys, values), count in full.items()
    )
    each = size(token_bytes(shape, plan))
    if plan.key_type == plan.value_type:
        each_bytes = element_bytes(plan.key_type) or 0.0
        element = number(each_bytes, 0 if each_bytes % 1 == 0 else 4)
        return text("{parts} × {element} bytes = {each} a token.", parts=parts, element=element, each=each)
    return text("{parts}, keys in {key_type}, values in {value_type} = {each} a token.", parts=parts, each=each,
                key_type=plan.key_type, value_type=plan.value_type)  # fmt: skip


def _windows(shape: Shape) -> list[str]:
    windows = Counter(layer.window for layer in shape.layers if layer.cached and layer.window is not None)
    return [
        plural(
            "{count} layer keeps only the last {tokens} tokens.",
            "{count} layers keep only the last {tokens} tokens.",
            count,
            count=number(count),
            tokens=number(window),
        )
        for window, count in windows.items()
    ]


def _others(shape: Shape) -> list[str]:
    """Layers without a cache of their own, and the compressed kind."""
    said: list[str] = []
    states = sum(1 for layer in shape.layers if _has_state(layer))
    if states:
        said.append(_states(states))
    borrowing = sum(1 for layer in shape.layers if not layer.cached and not _has_state(layer))
    if borrowing:
        said.append(_borrowing(borrowing))
    if shape.latent:
        said.append(text("Attention is kept compressed, keys and values as one."))
    return said


def _states(layers: int) -> str:
    return plural(
        "{count} layer keeps a state that does not grow.",
        "{count} layers keep a state that does not grow.",
        layers,
        count=number(layers),
    )


def _borrowing(layers: int) -> str:
    return plural(
        "{count} layer has no cache of its own.",
        "{count} layers have no cache of their own.",
        layers,
        count=number(layers),
    )


def _without_cache(shape: Shape) -> str:
    if shape.recurrent:
        return text("Its layers keep a state that does not grow: a longer context costs nothing more.")
    return text("It reads a text at once and keeps no cache.")


def _has_state(layer: Layer) -> bool:
    return layer.conv + layer.state > 0


def context_curve(shape: Shape, plan: Plan, longest: int, most_points: int = 48) -> list[tuple[int, int]]:
    """KV cache in bytes against context in tokens, up to `longest`, for a drawing: whole steps of the cache."""
    steps = max(1, longest // ALIGNED_TO)
    count = min(most_points, steps)
    contexts = [ALIGNED_TO * (steps * point // count) for point in range(1, count + 1)]
    return [(context, kv_bytes(shape, replace(plan, context=context))) for context in contexts]
