"""What is said of an endpoint. No Qt here."""

from __future__ import annotations

from weighbridge.base.explain import explain_code
from weighbridge.base.units import number
from weighbridge.base.words import plural, text
from weighbridge.choices.reach_words import known_by_in_words, left_out_in_words
from weighbridge.running.endpoints.endpoint import Endpoint, Reached
from weighbridge.running.endpoints.presets import KnownBy


def reached_in_words(reached: Reached | None, *, asks: bool) -> str:
    """ "Answers in 12 ms · 3 models"; why not; or that nobody has asked."""
    if asks:
        return text("Asking what it serves…")
    if reached is None:
        return text("Nobody has asked yet what it serves.")
    if reached.cause is not None:
        return str(explain_code(reached.cause.code, reached.cause.values))
    count = len(reached.models)
    models = plural("{count} model", "{count} models", count, count=number(count))
    took = "" if reached.ms is None else text("Answers in {time} ms", time=number(reached.ms))
    return " · ".join(filter(None, (took, models, left_out_in_words(reached))))


def names_in_words(reached: Reached | None, most: int = 6) -> str:
    """The first models that it serves, and how many more."""
    if reached is None or not reached.models:
        return ""
    names, more = [one.name for one in reached.models], len(reached.models) - most
    rest = plural("{count} more", "{count} more", more, count=number(more)) if more > 0 else ""
    return ", ".join([*names[:most], *filter(None, [rest])])


def known_in_words(endpoint: Endpoint, reached: Reached | None) -> str:
    """How it is known how such a server is spoken to, where it did not answer as it should and that may be why; else
    "".
    """
    preset = endpoint.preset
    if reached is None or reached.reachable or preset.known_by in (KnownBy.TRIED, KnownBy.NOTHING):
        return ""
    known = known_by_in_words(preset.known_by)
    return text("How {kind} is spoken to: {known}.", kind=preset.title, known=known)


def warning_in_words(endpoint: Endpoint) -> str:
    """That what is sent to it can be read on the way; "" where it cannot."""
    if not endpoint.unprotected:
        return ""
    return text("It is reached without encryption: whoever is in between can read what is sent.")
