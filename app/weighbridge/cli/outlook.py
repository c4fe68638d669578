"""How fast a weighed model will be, and what would make it fit or faster: what `fit` tells beside the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.base.units import tokens
from weighbridge.base.words import text
from weighbridge.choices.change_words import change_in_words
from weighbridge.choices.changes import Change, changes
from weighbridge.choices.choice import Choice, Surroundings
from weighbridge.choices.speed_words import (
    basis_of_decode_in_words,
    basis_of_prefill_in_words,
    first_token_in_words,
    speed_in_words,
    why_unknown_in_words,
)
from weighbridge.choices.speeds import Speedometer
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.speed.speeds import PROMPT, Speeds
from weighbridge.hardware.machine import Machine
from weighbridge.hardware.memory_types import load_memory_types
from weighbridge.library.model import Model
from weighbridge.running.paces import SpeedTables
from weighbridge.running.speed_observations import SpeedObservation, SpeedObservations
from weighbridge_engines.api import Cause

Siblings = Callable[[], Iterable[tuple[Model, Blueprint | None]]]
"""Smaller quantisations that are here; looked for only where one is needed."""


@dataclass(frozen=True)
class Question:
    """For how many tokens in the cache, for a prompt of how many, and which speed is wanted, in tokens a second."""

    depth: int | None = None
    prompt: int = PROMPT
    wanted_tps: float | None = None


@dataclass(frozen=True)
class Outlook:
    """The answer. `changes` are None where none was looked for, empty where none does it."""

    speeds: Speeds
    machine: Machine
    question: Question
    why_unknown: Cause | None = None
    changes: tuple[Change, ...] | None = None


def outlook(
    choice: Choice,
    around: Surroundings,
    tables: SpeedTables,
    past: Sequence[SpeedObservation],
    question: Question,
    siblings: Siblings,
) -> Outlook:
    """That of `choice`. Changes are looked for where it does not fit, or is slower than what is wanted."""
    speedometer = Speedometer(around, tables, past)
    known = speedometer.of(choice, depth=question.depth, prompt=question.prompt)
    why = speedometer.why_unknown(choice) if known.decode is None else None
    found = None
    if _needs_change(choice, known, question):
        choice, wanted = replace(choice, speeds=known), question.wanted_tps
        found = changes(choice, around, tables, past, siblings(), wanted, load_memory_types(), question.depth)
    return Outlook(known, around.machine, question, why, found)


def past_speeds() -> tuple[SpeedObservation, ...]:
    """What earlier answers took; nothing where there is no database yet, and none is made for asking."""
    path = default_paths().database
    if not path.exists():
        return ()
    with closing(Database(path)) as database:
        return SpeedObservations(database).all()


def outlook_in_words(view: Outlook, choice: Choice) -> list[str]:
    """The speeds first, then what they rest on, then the changes."""
    lines = _speeds(view)
    if view.changes is not None:
        lines += ["", *_changes(view, view.changes, choice)]
    return lines


def _needs_change(choice: Choice, known: Speeds, question: Question) -> bool:
    if choice.fit is None or choice.fit.verdict is Verdict.NO:
        return choice.fit is not None
    wanted = question.wanted_tps
    return wanted is not None and known.decode is not None and known.decode.mid_tps < wanted


def _speeds(view: Outlook) -> list[str]:
    if view.speeds.decode is None:
        return [why_unknown_in_words(view.why_unknown)] if view.why_unknown else []
    lines = [
        text("Writes {speed}.", speed=speed_in_words(view.speeds.decode)),
        *(f"  {line}" for line in basis_of_decode_in_words(view.speeds.decode, view.machine)),
    ]
    if view.speeds.prefill is None:
        return [*lines, text("How fast it reads a prompt is unknown.")]
    said = text(
        "Reads a prompt at {speed}: the first token of an answer to {prompt} comes after {time}.",
        speed=speed_in_words(view.speeds.prefill),
        prompt=tokens(view.question.prompt),
        time=first_token_in_words(view.speeds, view.question.prompt),
    )
    basis = basis_of_prefill_in_words(view.speeds.prefill, view.question.prompt)
    return [*lines, said, *(f"  {line}" for line in basis)]


def _changes(view: Outlook, found: Sequence[Change], choice: Choice) -> list[str]:
    if not found:
        return [text("No single change known here does it.")]
    return [text("What does it, the cheapest first:"), *(f"  {change_in_words(each, choice)}" for each in found)]
