"""One model weighed and told in full, whether it is here or on the Hub."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weighbridge.choices.choice import Choice
from weighbridge.choices.corrections import after_loads, after_table
from weighbridge.cli.described import for_which_in_words
from weighbridge.cli.fit_ground import Ground, past_loads
from weighbridge.cli.fit_json import as_json
from weighbridge.cli.fit_words import in_words
from weighbridge.estimates.beside import Beside
from weighbridge.formats.head import Head
from weighbridge.library.model import Model
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Cause


@dataclass(frozen=True)
class Report:
    """What is told: the model, what is loaded beside it, and for one on the Hub how it is called there, the `heads` of
    its files, and what is known of it beyond its files, as lines and as values.
    """

    model: Model
    beside: Beside
    called: str | None = None
    heads: Sequence[Head] | None = None
    lines: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def report(arguments: argparse.Namespace, ground: Ground, told: Report) -> None:
    """Weigh the model and print it."""
    choice = ground.weighed(told.model, told.beside, with_remedy=True)
    choice, beside, problem = _put_right(choice, ground, told.heads, ask_engine=arguments.exact)
    view = ground.outlook(choice)
    if arguments.json:
        print(json.dumps({**as_json(choice, beside, problem, view), **told.values}))
        return
    head = [*told.lines, *([for_which_in_words(ground.around.machine)] if ground.elsewhere else [])]
    if told.called is not None:
        choice = replace(choice, model=replace(choice.model, id=told.called))
    print(in_words(choice, beside, problem, view, head))


def _put_right(
    choice: Choice, ground: Ground, heads: Sequence[Head] | None, *, ask_engine: bool
) -> tuple[Choice, Table | None, Cause | None]:
    """The choice after what earlier loads took, or with the engine's own figures; a table that is only a check beside
    the formula; and why the engine did not tell.
    """
    if not ask_engine:
        return after_loads(choice, ground.around, past_loads()), None, None
    table = ground.table(choice, heads)
    if not isinstance(table, Table):
        return choice, None, table
    exact = after_table(choice, ground.around, table)
    return (choice, table, None) if exact is None else (exact, None, None)
