"""A comparison on the terminal, and the steps of one that goes on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weighbridge.base.printable import printable
from weighbridge.base.words import text
from weighbridge.cli.table import table

if TYPE_CHECKING:
    from weighbridge.bench.plan import Plan, Step
    from weighbridge.bench.result import Comparison
    from weighbridge.bench.words import Table


def shown(comparison: Comparison) -> str:
    """All of it."""
    from weighbridge.bench.words import comparison_in_words, conditions, figures, headline, logs, notes, settings

    measured = any(column.turns for column in comparison.columns)
    parts = (
        *headline(comparison),
        _table(figures(comparison)) if measured else "",
        "\n".join(comparison_in_words(comparison)),
        _answers(comparison) if measured else "",
        _table(conditions(comparison)),
        "\n".join(settings(comparison)),
        "\n".join(f"- {note}" for note in notes(comparison)),
        *(f"{name}:\n{_indented(lines)}" for name, lines in logs(comparison)),
    )
    return "\n\n".join(part for part in parts if part)


def tell_reach(plan: Plan) -> None:
    """Say on standard error where what is asked leaves this computer."""
    for endpoint in sorted(
        {one.model.remote.endpoint for one in plan.entries if one.model.remote and one.model.leaves}
    ):
        print(text("What you ask leaves this computer: {endpoint} answers.", endpoint=endpoint), file=sys.stderr)


def tell_step(plan: Plan, step: Step) -> None:
    """What begins now, on standard error."""
    print(f"{plan.entries[step.entry].name}: {_step(plan, step)}", file=sys.stderr, flush=True)


def no_step(step: Step) -> None:
    """Where nothing is told."""
    del step


def _step(plan: Plan, step: Step) -> str:
    words = {"load": text("loading"), "warm_up": text("warming up"), "end": text("ending")}
    return words.get(step.act) or text("turn {turn} of {turns}", turn=step.turn, turns=plan.turns)


def _answers(comparison: Comparison) -> str:
    from weighbridge.bench.words import answers

    return "\n\n".join(
        f"{', '.join(names)}:\n{_indented(said.strip().splitlines())}" for names, said in answers(comparison)
    )


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"  {printable(line)}" for line in lines)


def _table(one: Table) -> str:
    return table(one.head, one.rows, one.right)
