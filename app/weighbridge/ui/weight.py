"""What a model weighs in memory, as the window says it: parts, figure, and where the figure comes from. No Qt here."""

from __future__ import annotations

from weighbridge.base.units import THIN, number, size
from weighbridge.base.words import text
from weighbridge.estimates.memory import Memory as Estimate
from weighbridge.estimates.memory import simple_memory
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
