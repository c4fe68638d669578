"""A weighed model as the window shows it: a bar for each place, and figures that say where they come from.

No Qt here.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.units import size, tokens
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.words import (
    basis_in_words,
    last_off_in_words,
    note_in_words,
    place_in_words,
    plan_in_words,
    total_in_words,
    where_in_words,
)
from weighbridge.estimates.estimate import Place, Share, Term
from weighbridge.estimates.fit import Fit, Verdict, margin_bytes
from weighbridge.ui.memory_parts import Memory, Part

_KINDS: Mapping[Term, str] = {
    Term.WEIGHTS: "weights",
    Term.KV: "kv",
    Term.STATE: "state",
    Term.COMPUTE: "compute",
    Term.OUTPUT: "compute",
    Term.ENGINE: "engine",
    Term.PROJECTOR: "weights",
    Term.DRAFT: "weights",
    Term.ADAPTER: "weights",
}


def memories(choice: Choice) -> tuple[Memory, ...]:
    """Each place that the model would lie in, with what others hold there now."""
    if choice.fit is None:
        return ()
    shares = {share.place: share for share in choice.fit.estimate.shares}
    found = [_memory(place, shares[place.id]) for place in choice.places if place.id in shares]
    return tuple(memory for memory in found if memory is not None)


def tightest(choice: Choice) -> Memory | None:
    """The bar for a row: that of the place the verdict speaks of, else the first."""
    found = memories(choice)
    place = choice.fit.place if choice.fit else None
    named = [memory for memory in found if place is not None and memory.name == place_in_words(place)]
    return next(iter((*named, *found)), None)


def _memory(place: Place, share: Share) -> Memory | None:
    if place.total_bytes is None:
        return None
    sums: dict[str, int] = {}
    for term, amount in share.terms.items():
        sums[_KINDS[term]] = sums.get(_KINDS[term], 0) + (amount or 0)
    parts = [Part(kind, amount) for kind, amount in sums.items() if amount]
    others = 0 if place.free_bytes is None else max(0, place.total_bytes - place.free_bytes)
    limit = max(0, place.total_bytes - margin_bytes(place))
    return Memory(place_in_words(place), place.total_bytes, (Part("others", others), *parts), limit)


def badge_kind(fit: Fit | None) -> str:
    """The kind of badge for a verdict: each verdict has the name of its colour."""
    return str(Verdict.UNKNOWN if fit is None else fit.verdict)


def where(fit: Fit | None) -> str:
    """What goes on after the badge: "in RAM", or for a part of a model "304.5 MiB left on RTX 4080"."""
    place = "" if fit is None else where_in_words(fit)
    if fit is None or fit.verdict is not Verdict.PARTIAL or fit.left_bytes is None:
        return place
    return text("{amount} left {place}", amount=size(fit.left_bytes), place=place)


def figure(choice: Choice) -> str:
    """ "334.6 MiB", or "unknown"."""
    return text("unknown") if choice.fit is None else total_in_words(choice.fit.estimate)


def basis(choice: Choice) -> str:
    """Where the figure comes from, with the settings it is for."""
    if choice.fit is None:
        return text("The file does not say enough to weigh it.")
    estimate = choice.fit.estimate
    said = [f"{basis_in_words(estimate.basis)}: {total_in_words(estimate)}.", f"{plan_in_words(choice.fit.plan)}."]
    if choice.last_off is not None:
        said.append(last_off_in_words(choice.last_off))
    said += [note_in_words(note) for note in estimate.notes]
    return " ".join(said)


def longest_in_words(longest: int | None) -> str:
    """ "The longest context that fits: 8,192 tokens."; "" where none does, or nothing grows with it."""
    return "" if longest is None else text("The longest context that fits: {tokens}.", tokens=tokens(longest))
