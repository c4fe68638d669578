"""Advice as JSON: codes and values for programs, sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from weighbridge.choices.advice.advice import Action, Advice, Point, Ranked, Reason
from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.advice.prefill import Prefilled
from weighbridge.choices.advice.question_words import answer_in_words, field_in_words, question_in_words
from weighbridge.choices.advice.questions import QUESTIONS, Field, Question
from weighbridge.choices.advice.words import action_in_words, command_of, reason_in_words
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.words import verdict_in_words
from weighbridge.cli.json_words import cause_as_json
from weighbridge.estimates.fit import Fit
from weighbridge.estimates.speed.speed import Speed
from weighbridge_engines.api import Cause


def as_json(answers: Answers, told: Prefilled, advice: Advice) -> dict[str, Any]:
    """All of it. Bytes are whole numbers; unknown is null."""
    blocks = ("hardware", "engine", "model", "format", "quant")
    return {
        "questions": [_question(question, answers, told) for question in QUESTIONS],
        **{name: _point(getattr(advice, name)) for name in blocks},
        "settings": [_point(point) for point in advice.settings],
        "warnings": [_reason(reason) for reason in advice.warnings],
        "also": [_point(point) for point in advice.also],
        "engines": [_ranked(one) for one in advice.engines],
    }


def _question(question: Question, answers: Answers, told: Prefilled) -> dict[str, Any]:
    fields = [_field(field, answers, told) for field in question.fields]
    return {"id": question.id, "question": question_in_words(question), "answers": fields}


def _field(field: Field, answers: Answers, told: Prefilled) -> dict[str, Any]:
    value, prefilled = getattr(answers, field.name), getattr(told.answers, field.name)
    return {
        "name": field.name,
        "title": field_in_words(field),
        "value": _plain(value),
        "words": answer_in_words(field, answers),
        "prefilled": _plain(prefilled),
        "basis": told.basis[field.name].code,
        "choices": list(field.choices) or None,
    }


def _point(point: Point | None) -> dict[str, Any] | None:
    if point is None:
        return None
    return {
        "topic": point.topic,
        "what": _reason(point.what),
        "why": [_reason(reason) for reason in point.why],
        "against": [_reason(reason) for reason in point.against],
        "action": _action(point.action),
    }


def _ranked(one: Ranked) -> dict[str, Any]:
    return {
        "id": one.engine_id,
        "title": one.title,
        "standing": one.standing,
        "why": [_reason(reason) for reason in one.why],
        "against": [_reason(reason) for reason in one.against],
        "action": _action(one.action),
    }


def _reason(reason: Reason) -> dict[str, Any]:
    values = {name: _plain(value) for name, value in reason.values.items()}
    return {"code": reason.code, "message": reason_in_words(reason), "values": values}


def _action(action: Action | None) -> dict[str, Any] | None:
    if action is None:
        return None
    return {
        "kind": action.kind,
        "words": action_in_words(action),
        "command": command_of(action) or None,
        "engine": action.engine_id or None,
        "build": action.build_id or None,
        "verified": action.verified,
        "query": None if action.query is None else asdict(action.query),
        "model": action.model_id or None,
        "load": None if action.load is None else action.load.as_json(),
        "changes": dict(action.changes) or None,
        "preset": action.preset or None,
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it; what has figures of its own as those that count."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Cause):
        return cause_as_json(value)
    if isinstance(value, Fit):
        return {"verdict": value.verdict, "left_bytes": value.left_bytes, "words": verdict_in_words(value)}
    if isinstance(value, Speed):
        return {"low_tps": value.low_tps, "high_tps": value.high_tps, "words": speed_in_words(value)}
    return dict(value) if isinstance(value, Mapping) else value
