"""How far what is asked of a model goes, and what is known of an endpoint, for a person."""

from __future__ import annotations

from weighbridge.base.explain import explain_code
from weighbridge.base.units import number
from weighbridge.base.words import mark, plural, text
from weighbridge.library.model import Reach
from weighbridge.running.endpoints.endpoint import Endpoint, Reached
from weighbridge.running.endpoints.presets import Key, KnownBy

_REACHES = {
    Reach.HERE: mark("stays on this computer"),
    Reach.NETWORK: mark("leaves this computer, stays in the network"),
    Reach.INTERNET: mark("leaves this computer"),
}
_KEYS = {Key.NONE: mark("none"), Key.OPTIONAL: mark("if it is set to want one"), Key.NEEDED: mark("needed")}
_KNOWN_BY = {
    KnownBy.TRIED: mark("tried with a real one"),
    KnownBy.SOURCE: mark("from its source; not tried"),
    KnownBy.DOCUMENTATION: mark("from its documentation; not tried"),
    KnownBy.NOTHING: mark("as OpenAI's API says; more is not known"),
}


def known_by_in_words(known_by: KnownBy) -> str:
    """How it is known how a kind of server is spoken to."""
    return text(_KNOWN_BY[known_by])


def reach_in_words(reach: Reach) -> str:
    """How far it goes."""
    return text(_REACHES[reach])


def key_in_words(key: Key) -> str:
    """Whether a kind of server asks for a key."""
    return text(_KEYS[key])


def warnings(endpoint: Endpoint) -> list[str]:
    """What there is to beware of."""
    told = []
    if endpoint.unprotected:
        told.append(
            text("Everybody on the way to {address} can read along: it is not https.", address=endpoint.address)
        )
    if endpoint.preset.key is Key.NEEDED and not endpoint.keyed:
        told.append(text("{title} wants a key, and none is kept.", title=endpoint.title))
    return told


def reached_in_words(reached: Reached | None) -> str:
    """Whether it can be reached, how fast it answered, how many models it has; or why not."""
    if reached is None:
        return text("not asked yet")
    if reached.cause is not None:
        return str(explain_code(reached.cause.code, reached.cause.values))
    models = plural("{count} model", "{count} models", len(reached.models), count=number(len(reached.models)))
    answered = text("answers in {ms} ms, {models}", ms=number(round(reached.ms or 0)), models=models)
    return answered if not (left := left_out_in_words(reached)) else f"{answered} ({left})"


def left_out_in_words(reached: Reached) -> str:
    """How many models of its list are not listed here, and why; "" where all are."""
    named = plural(
        "{count} left out for its name",
        "{count} left out for their names",
        reached.left_out,
        count=number(reached.left_out),
    )
    beyond = plural(
        "{count} more is not listed", "{count} more are not listed", reached.beyond, count=number(reached.beyond)
    )
    return ", ".join(words for count, words in ((reached.left_out, named), (reached.beyond, beyond)) if count)
