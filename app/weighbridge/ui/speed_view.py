"""What the window says of the speed of one model: figures with their basis, and the whole reckoning. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.base.explain import explain_code
from weighbridge.base.units import number, tokens
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import (
    basis_of_decode_in_words,
    basis_of_prefill_in_words,
    first_token_in_words,
    speed_in_words,
)
from weighbridge.choices.speeds import Speedometer
from weighbridge.estimates.speed.speeds import PROMPT, Speeds
from weighbridge.hardware.machine import Machine

_PLAIN = ("speed.does_not_fit", "speed.not_weighed")
"""Causes that the verdict beside it tells already."""
_MEASURABLE = ("speed.no_bandwidth", "speed.no_ram_bandwidth")


@dataclass(frozen=True)
class SpeedFigure:
    """A name, a value, and what it rests on."""

    name: str
    value: str
    basis: str


@dataclass(frozen=True)
class SpeedView:
    """`reasons` are the sentences of the whole reckoning. `unknown` says why there is no speed, "" where there is one
    or the verdict says it; `measurable` that measuring the memory here would give one; `there` that a speed can be
    asked for.
    """

    figures: tuple[SpeedFigure, ...] = ()
    reasons: tuple[str, ...] = ()
    unknown: str = ""
    measurable: bool = False
    there: bool = False


def speed_view(choice: Choice, speedometer: Speedometer, machine: Machine, *, is_other: bool = False) -> SpeedView:
    """That of `choice`, weighed for `machine`; `is_other`: that is not this one, so nothing there can be measured."""
    known = speedometer.of(choice)
    if known.decode is None or choice.fit is None:
        return _unknown(choice, speedometer, is_other=is_other)
    writing = basis_of_decode_in_words(known.decode, machine)
    figures = [SpeedFigure(text("Speed"), speed_in_words(known.decode), "\n".join(writing))]
    reasons = [*writing]
    figures += _first_token(known)
    full = choice.fit.plan.slot_cells
    if full > known.decode.depth:
        deep = speedometer.of(choice, depth=full).decode
        if deep is not None:
            basis = basis_of_decode_in_words(deep, machine)
            name = text("At {tokens}", tokens=tokens(full))
            figures.append(SpeedFigure(name, speed_in_words(deep), "\n".join(basis)))
            reasons.append(_deeper(known, speed_in_words(deep), full))
    if known.prefill is not None:
        reasons += ["", *basis_of_prefill_in_words(known.prefill, PROMPT)]
    return SpeedView(tuple(figures), tuple(reasons), there=True)


def row_basis(choice: Choice, speedometer: Speedometer, machine: Machine) -> str:
    """What the speed in a row rests on; "" where it has none."""
    known = speedometer.of(choice).decode
    return "" if known is None else "\n".join(basis_of_decode_in_words(known, machine))


def _unknown(choice: Choice, speedometer: Speedometer, *, is_other: bool) -> SpeedView:
    cause = speedometer.why_unknown(choice)
    if cause is None or cause.code in _PLAIN:
        return SpeedView(there=choice.fit is not None and choice.runner is not None)
    said = explain_code(cause.code, cause.values)
    measurable = cause.code in _MEASURABLE and not is_other
    shown = said.what if cause.code in _MEASURABLE else str(said)
    return SpeedView(unknown=text("Speed unknown. {reason}", reason=shown), measurable=measurable, there=True)


def _first_token(known: Speeds) -> list[SpeedFigure]:
    name = text("First token, prompt of {count}", count=number(PROMPT))
    if known.prefill is None:
        return [SpeedFigure(name, text("unknown"), text("How fast it reads a prompt is unknown."))]
    basis = "\n".join(basis_of_prefill_in_words(known.prefill, PROMPT))
    return [SpeedFigure(name, first_token_in_words(known, PROMPT), basis)]


def _deeper(known: Speeds, deep: str, full: int) -> str:
    """The speed at the whole context beside that at the start of it."""
    near = known.decode
    if near is None:
        return ""
    return text(
        "With the whole context of {full} in the cache: {deep}, against {near} with {few}.",
        full=tokens(full),
        deep=deep,
        near=speed_in_words(near),
        few=tokens(near.depth),
    )
