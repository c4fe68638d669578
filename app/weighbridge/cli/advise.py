"""`weighbridge advise`: which engine, format, quantisation and settings suit this machine and what it is wanted for."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.words import text
from weighbridge.choices.advice.answers import as_answer
from weighbridge.choices.advice.question_words import field_in_words, question_in_words
from weighbridge.choices.advice.questions import QUESTIONS, Control, Field
from weighbridge.cli.described import add_machine_options, is_described

if TYPE_CHECKING:
    from weighbridge.choices.advice.ground import Ground


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "advise", help=text("advise on engine, format and settings for this machine and what it is wanted for")
    )
    answers = parser.add_argument_group(text("answers; what is not told is taken from the machine and the library"))
    for question in QUESTIONS:
        for field in question.fields:
            _add_answer(answers, field, question_in_words(question))
    add_machine_options(parser)
    parser.add_argument("--no-library", action="store_true", help=text("look at no model that is here"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the questions with their answers, and the advice."""
    from weighbridge.choices.advice.advise import advise
    from weighbridge.choices.advice.prefill import prefilled
    from weighbridge.cli.advise_ground import ground_asked
    from weighbridge.cli.advise_json import as_json
    from weighbridge.cli.advise_words import in_words
    from weighbridge.cli.described import for_which_in_words

    ground = ground_asked(arguments)
    given = _given(arguments, ground)
    told = prefilled(ground, given)
    answers = replace(told.answers, **given)
    advice = advise(answers, ground)
    if arguments.json:
        print(json.dumps(as_json(answers, told, advice), default=str))
        return 0
    head = [for_which_in_words(ground.around.machine), ""] if is_described(arguments) else []
    print("\n".join([*head, *in_words(answers, told, advice)]))
    return 0


def _add_answer(group: argparse._ArgumentGroup, field: Field, question: str) -> None:
    told = f"{field_in_words(field)}: {question}"
    if field.control is Control.NUMBER:
        low, high = field.low, field.high
        group.add_argument(f"--{field.name}", type=_whole(low, high), metavar="N", help=told)
    elif field.control is Control.SEVERAL:
        group.add_argument(f"--{field.name}", action="append", choices=field.choices, help=told)
    else:
        group.add_argument(f"--{field.name}", choices=field.choices, help=told)


def _whole(low: int, high: int) -> Any:
    """A whole number within bounds, for argparse."""

    def number(value: str) -> int:
        told = int(value) if value.isdecimal() and len(value) < 12 else low - 1
        if not low <= told <= high:
            told_in_words = text("{value} is not a whole number from {low} to {high}", value=value, low=low, high=high)
            raise argparse.ArgumentTypeError(told_in_words)
        return told

    return number


def _given(arguments: argparse.Namespace, ground: Ground) -> dict[str, Any]:
    """The answers that were told. Raises Refused for another kind of machine than the described one."""
    told = {field.name: getattr(arguments, field.name) for question in QUESTIONS for field in question.fields}
    if told["hardware"] is not None and ground.elsewhere:
        raise Refused("options.not_together", one="--hardware", other="--gpu / --ram / --machine")
    return {name: as_answer(name, value) for name, value in told.items() if value is not None}
