"""Advice for the terminal: the questions with their answers, then each block with its why and what does it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from weighbridge.base.words import text
from weighbridge.choices.advice.advice import Advice, Point, Reason
from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.advice.prefill import Prefilled
from weighbridge.choices.advice.question_words import answer_in_words, basis_in_words, field_in_words, question_in_words
from weighbridge.choices.advice.questions import QUESTIONS
from weighbridge.choices.advice.words import command_of, reason_in_words, topic_in_words

WIDTH = 80


def in_words(answers: Answers, told: Prefilled, advice: Advice) -> list[str]:
    """All of it, in lines of at most 80 columns."""
    lines = [*_questions(answers, told), ""]
    for point in (advice.hardware, advice.engine, advice.model, advice.format, advice.quant):
        lines += [] if point is None else [*_block(topic_in_words(point.topic), [point]), ""]
    if advice.engine is None:
        lines += [text("No engine could do that."), *_refusals(advice), ""]
    if advice.settings:
        lines += [*_block(text("Settings"), advice.settings), ""]
    if advice.warnings:
        lines += [text("Beware"), *_reasons(advice.warnings, "-"), ""]
    if advice.also:
        lines += [*_block(text("Also to think of"), advice.also), ""]
    return lines[:-1]


def _questions(answers: Answers, told: Prefilled) -> Iterator[str]:
    for number, question in enumerate(QUESTIONS, 1):
        yield f"{number:2}. {question_in_words(question)}"
        for field in question.fields:
            same = getattr(answers, field.name) == getattr(told.answers, field.name)
            basis = basis_in_words(told.basis[field.name]) if same else ""
            answer = answer_in_words(field, answers)
            said = f"{field_in_words(field)}: {answer}" if len(question.fields) > 1 else answer
            yield from _wrapped(f"{said} ({basis})" if basis else said, "    ")


def _block(title: str, points: Sequence[Point]) -> Iterator[str]:
    yield title
    for point in points:
        yield from _wrapped(reason_in_words(point.what), "  ")
        yield from _reasons(point.why, "-")
        yield from _reasons(point.against, "!")
        command = command_of(point.action) if point.action is not None else ""
        if command:
            yield f"    $ {command}"


def _refusals(advice: Advice) -> Iterator[str]:
    for one in advice.engines:
        yield f"  {one.title}"
        yield from _reasons(one.against, "!")


def _reasons(reasons: Sequence[Reason], sign: str) -> Iterator[str]:
    for reason in reasons:
        yield from _wrapped(reason_in_words(reason), f"    {sign} ", "      ")


def _wrapped(line: str, indent: str, later: str | None = None) -> list[str]:
    """A command is never broken, a figure stays with its unit: both hold no ordinary space."""
    return textwrap.wrap(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )
