"""A model of the library that suits, weighed by the estimator that everything else asks, and how to load it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from weighbridge.base.errors import Refused
from weighbridge.choices.advice.advice import Action, ActionKind, Point, Reason, Topic
from weighbridge.choices.advice.answers import OPEN, ModelKind, Need
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.case import Case
from weighbridge.choices.choice import Choice
from weighbridge.choices.recommended import USABLE_TPS, bits_of
from weighbridge.estimates.estimate import Term
from weighbridge.estimates.fit import WHOLE, Verdict
from weighbridge.estimates.plan import ELEMENT_BYTES
from weighbridge.formats.architectures import Kind
from weighbridge.formats.variant import Role
from weighbridge.library.model import Model
from weighbridge_engines.api import Load

MOST_WEIGHED = 12
"""Models of a library of thousands that are weighed for one piece of advice."""

_ORDER = (Verdict.FITS, Verdict.TIGHT, Verdict.PARTIAL, Verdict.UNKNOWN)


def model_for(case: Case, engine: Candidate) -> Choice | None:
    """The model here that suits best: see `best_of`. None where there is none that this engine runs."""
    return best_of(case, all_weighed(case, engine))


def all_weighed(case: Case, engine: Candidate) -> tuple[Choice, ...]:
    """The models here that this engine runs, weighed: the largest, MOST_WEIGHED at most."""
    weighed = (weighed_for(case, engine, model) for model in _able(case, engine))
    return tuple(choice for choice in weighed if choice is not None)


def best_of(case: Case, weighed: Sequence[Choice]) -> Choice | None:
    """The one that was trained for such a context, fits, is fast enough to read along where that is known, and is the
    largest. What nobody knows to fit stands behind what does, and in nobody's way; what does not fit is left out.
    """
    good = [choice for choice in weighed if _verdict(choice) is not Verdict.NO]
    return min(good, key=lambda choice: _key(choice, case.answers.context), default=None)


def closest_of(weighed: Sequence[Choice]) -> Choice | None:
    """Of those that do not fit, the one that is the least short."""
    short = [choice for choice in weighed if choice.fit is not None and choice.fit.left_bytes is not None]
    return max(short, key=lambda choice: (choice.fit.left_bytes if choice.fit else None) or 0, default=None)


def weighed_for(case: Case, engine: Candidate, model: Model) -> Choice | None:
    """`model` with the context and the users that are wanted: with the KV cache as it is where that fits, else with the
    smaller type of the engine; None where its memory cannot be told.
    """
    shelf = case.ground.shelf
    if shelf is None:
        return None
    start = replace(_seeing(shelf.start(model), case, model), engine=engine.id, **context_for(case, engine))
    first: Choice | None = None
    for load in _loads(start, engine.known.small_cache):
        try:
            choice = shelf.weigh(model, load, engine.id)
        except Refused:
            return first
        if choice.fit is not None and choice.fit.verdict in WHOLE:
            return choice
        first = first or choice
    return first


def context_for(case: Case, engine: Candidate) -> dict[str, Any]:
    """The context and the slots of a load: an engine that serves pages its cache, and is told what one conversation may
    have; of all others the slots share one context.
    """
    context, users = case.answers.context, case.answers.users if engine.parallel else 1
    return {"context": context if engine.known.serves else context * users, "slots": users}


def conversations(case: Case, engine: Candidate, choice: Choice) -> tuple[int, int | None]:
    """All tokens of conversation, and the bytes that these take at most; None where that is not known.

    The load of an engine that serves has the context of one conversation, of which there is one for each user.
    """
    count = case.answers.users if engine.known.serves else 1
    kept = [] if choice.fit is None else [choice.fit.estimate.term(term) for term in (Term.KV, Term.STATE)]
    known = None if not kept or None in kept else sum(filter(None, kept)) * count
    return (choice.load.context or case.answers.context) * count, known


def model_point(engine: Candidate, choice: Choice) -> Point:
    """The model, how it stands, and loading it so."""
    model, load = choice.model, choice.load
    action = Action(ActionKind.LOAD, model.title, engine.id, model_id=model.id, load=load) if engine.here else None
    bits = Reason("bits", {"bits": bits_of(choice), "quant": model.quant})
    speeds = choice.speeds.decode if choice.speeds else None
    why = (Reason("it_fits", {"engine": engine.title, "fit": choice.fit}), bits, Reason("writes", {"speed": speeds}))
    values = {"model": model.title, "size_bytes": model.size_bytes, "engine": engine.title}
    return Point(Topic.MODEL, Reason("take_model", values), why, (), action)


def _able(case: Case, engine: Candidate) -> list[Model]:
    """The models here that this engine could run and that are of the kind wanted: first what could fit whole, the
    largest before the others, then what could in part.
    """
    shelf = case.ground.shelf
    if shelf is None:
        return []
    most = _most_bytes(case)
    able = [model for model in shelf.models if _suits(case, engine, model)]
    small = [model for model in able if most is None or model.size_bytes <= most]
    room = case.room_bytes
    small.sort(key=lambda model: (room is not None and model.size_bytes > room, -model.size_bytes))
    return small[:MOST_WEIGHED]


def _most_bytes(case: Case) -> int | None:
    """What cards and system memory hold together; None where either is not known, which stands in nobody's way."""
    system = case.ground.around.machine.memory.available_bytes
    if case.fast.vendor == "cpu" or case.fast.unified:
        return case.room_bytes
    return None if case.room_bytes is None or system is None else case.room_bytes + system


def _suits(case: Case, engine: Candidate, model: Model) -> bool:
    asked = case.answers.format
    if model.format not in engine.formats or asked not in (OPEN, model.format):
        return False
    if Need.EMBEDDINGS in case.answers.needs:
        return model.kind is Kind.EMBEDDING
    if Need.VISION in case.answers.needs and model.companion(Role.PROJECTOR) is None and model.format == "gguf":
        return False
    return model.kind is Kind.CHAT and _is_made_so(model, case.answers.kind)


def _seeing(load: Load, case: Case, model: Model) -> Load:
    """`load` with the nearest projector where the model is to see and nobody has chosen one."""
    near = model.companion(Role.PROJECTOR) if Need.VISION in case.answers.needs and model.format == "gguf" else None
    return load if near is None or load.projector is not None else replace(load, projector=str(near.path))


def _is_made_so(model: Model, kind: ModelKind) -> bool:
    """Whether it is of the kind that is wanted; only what a header tells for certain keeps it out."""
    if model.info is None or kind not in (ModelKind.DENSE, ModelKind.MOE):
        return True
    return bool(model.info.experts) is (kind is ModelKind.MOE)


def _loads(start: Load, small_cache: str) -> Iterator[Load]:
    yield start
    if small_cache in ELEMENT_BYTES and start.key_type is None:
        yield replace(start, key_type=small_cache, value_type=small_cache)


def _verdict(choice: Choice) -> Verdict:
    return Verdict.UNKNOWN if choice.fit is None else choice.fit.verdict


def _key(choice: Choice, context: int) -> tuple[float, ...]:
    """The least is the best: one trained for less than the context is behind all others."""
    writing = choice.speeds.decode if choice.speeds else None
    slow = writing is not None and writing.mid_tps < USABLE_TPS
    info = choice.model.info
    parameters = info.parameters if info else None
    trained = info.context_length if info else None
    order = _ORDER.index(_verdict(choice))
    return (
        trained is not None and trained < context,
        order >= 2,
        slow,
        order,
        -(parameters or 0),
        -choice.model.size_bytes,
    )
