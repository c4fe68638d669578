"""What a model weighs in memory, as the window says it: parts, figure, and where the figure comes from. No Qt here."""

from __future__ import annotations

from weighbridge.base.units import THIN, number, size
from weighbridge.base.words import text
from weighbridge.estimates.simple import CELL_STEP, F16_BYTES, kv_cache_bytes, simple_memory
from weighbridge.estimates.simple import Memory as Estimate
from weighbridge.library.model import Model
from weighbridge.ui.memory_parts import Part


def weigh(model: Model, context: int) -> Estimate:
    """The memory of `model` as it is loaded by default: at `context` tokens, or what it was trained for if that is
    less.
    """
    trained = model.info.context_length if model.info else None
    return simple_memory(model.info, model.size_bytes, min(context, trained) if trained else context)


def parts(estimate: Estimate) -> tuple[Part, ...]:
    """The known parts of an estimate."""
    known = [Part("weights", estimate.weights_bytes)]
    if estimate.kv_bytes:
        known.append(Part("kv", estimate.kv_bytes))
    return tuple(known)


def figure(estimate: Estimate) -> str:
    """ "183.8 MiB", "at most 8.1 GiB", or "4.6 GiB + unknown KV" where the cache is unknown."""
    if estimate.total_bytes is None:
        return text("{weights} + unknown KV", weights=size(estimate.weights_bytes))
    total = size(estimate.total_bytes)
    return text("at most {total}", total=total) if estimate.upper_bound else total


def cache_basis(model: Model, estimate: Estimate) -> str:
    """How the KV cache of a token is made up, and what it would take at the context the model was trained for: "30
    layers × 3 KV heads × 64 × 2 × 2 bytes = 22.5 KiB a token". Empty where there is no cache, or it is unknown.
    """
    info = model.info
    if info is None or not estimate.kv_bytes or not info.kv_heads or not info.key_length or not info.value_length:
        return ""
    each = (kv_cache_bytes(info, CELL_STEP) or 0) // CELL_STEP
    length, heads = info.key_length + info.value_length, info.kv_heads[0]
    layers = each // (heads * length * F16_BYTES) if heads else 0
    if layers * heads * length * F16_BYTES != each or set(info.kv_heads[:layers]) != {heads}:
        made_of = text("{heads} KV heads in all layers", heads=number(each // (length * F16_BYTES)))
    else:
        made_of = text("{layers} layers × {heads} KV heads", layers=number(layers), heads=number(heads))
    wide = (
        f"{info.key_length} × 2"
        if info.key_length == info.value_length
        else f"({info.key_length} + {info.value_length})"
    )
    said = [text("{parts} × {length} × 2 bytes = {each} a token.", parts=made_of, length=wide, each=size(each))]
    trained = info.context_length
    if trained is not None and trained > estimate.context and not estimate.upper_bound:
        whole = size(kv_cache_bytes(info, trained))
        words = text(
            "At {count} tokens, what it was trained for, the cache would take {size}.",
            count=number(trained),
            size=whole,
        )
        said.append(words)
    return " ".join(said)


def parameters(count: int | None) -> str:
    """ "134.5 M", "8.2 B"; all experts are counted."""
    if count is None:
        return text("unknown")
    return f"{number(count / 1e9, 1)}{THIN}B" if count >= 1e9 else f"{number(count / 1e6, 1)}{THIN}M"


def basis(estimate: Estimate) -> str:
    """Where the figure comes from, with its numbers."""
    said = [text("Weights: {size}, the size of the file.", size=size(estimate.weights_bytes))]
    if estimate.kv_bytes is None:
        said.append(text("KV cache: unknown, for the file does not say enough or its kind is not known here."))
    elif estimate.kv_bytes:
        said.append(
            text(
                "KV cache: {size} in f16 for {count} tokens, {each} a token.",
                size=size(estimate.kv_bytes),
                count=number(estimate.context),
                each=size(round(estimate.kv_bytes / estimate.context)),
            )
        )
    if estimate.upper_bound:
        said.append(text("Some layers keep only a window, so it will be less."))
    said.append(text("Calculated; the engine adds its compute buffers."))
    return " ".join(said)
