"""Advice for one set of answers: the hardware first, then engine, format, quantisation and settings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weighbridge.choices.advice.advice import Advice, Point, Ranked, Reason, Standing, Topic
from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.advice.at_hand import all_weighed, best_of, closest_of, model_for, model_point
from weighbridge.choices.advice.case import Case, case_of
from weighbridge.choices.advice.formats import format_of, format_point, quant_point
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.load_settings import settings_for
from weighbridge.choices.advice.mistakes import warnings_for
from weighbridge.choices.advice.strategy import hardware_point

MOST_ALSO = 4


def advise(answers: Answers, ground: Ground) -> Advice:
    """What to take for `answers`, with whys that carry their numbers. What is not known is said to be so.

    Models of the shelf are weighed, some dozen at most; nothing else is read, asked or kept.
    """
    case = case_of(answers, ground)
    first = next((one for one in case.engines if one.possible), None)
    if first is None:
        return Advice(hardware_point(case), None, None, None, None, None, (), (), (), case.engines)
    engine = case.candidate(first.engine_id)
    weighed = all_weighed(case, engine)
    choice = best_of(case, weighed)
    short = closest_of(weighed) if choice is None else None
    format_id = choice.model.format if choice is not None else format_of(case, engine)
    return Advice(
        hardware=hardware_point(case),
        engine=engine_point(first),
        format=None if format_id is None else format_point(case, engine, format_id),
        quant=None if format_id is None else quant_point(case, format_id),
        model=None if choice is None else model_point(engine, choice),
        choice=choice,
        settings=settings_for(case, engine, choice, short),
        warnings=warnings_for(case, engine, first, choice),
        also=tuple(_also(case, first)),
        engines=case.engines,
    )


def engine_point(one: Ranked) -> Point:
    """An engine as a point, with how to get it."""
    codes = {Standing.READY: "take_engine", Standing.TO_INSTALL: "get_engine", Standing.TO_ATTACH: "attach_engine"}
    return Point(Topic.ENGINE, Reason(codes[one.standing], {"engine": one.title}), one.why, one.against, one.action)


def _also(case: Case, first: Ranked) -> Iterator[Point]:
    """The engines of the rows beside the first, those that are here, and what of the library they run."""
    listed = {engine_id for _, row in case.order.rows(case.known) for engine_id in row.all}
    others = [one for one in case.engines if one.possible and one is not first]
    kept = [one for one in others if one.engine_id in listed or one.standing is Standing.READY][:MOST_ALSO]
    for one in kept:
        point = engine_point(one)
        engine = case.candidate(one.engine_id)
        choice = model_for(case, engine) if point.action is None and engine.here else None
        yield point if choice is None else _with_model(point, model_point(engine, choice), one.title)


def _with_model(point: Point, model: Point, by: str) -> Point:
    """The engine with the model that it would load."""
    action = None if model.action is None else replace(model.action, by=by)
    return Point(point.topic, point.what, (*point.why, model.what), point.against, action)
