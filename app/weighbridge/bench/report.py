"""A comparison as a file: JSON for programs, Markdown for people."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.explain import explain, explain_code
from weighbridge.base.printable import printable
from weighbridge.base.words import text
from weighbridge.bench.cautions import cautions
from weighbridge.bench.compare import Ratio, Verdict, verdicts
from weighbridge.bench.result import Column, Comparison, Turn
from weighbridge.bench.score import score
from weighbridge.bench.words import (
    Table,
    answers,
    comparison_in_words,
    conditions,
    figures,
    headline,
    limits,
    logs,
    notes,
    settings,
    verdict_in_words,
)

FORM = 1
"""Goes up where a field changes its meaning or goes away."""


def as_json(comparison: Comparison) -> dict[str, Any]:
    """All of it, as plain values. Times are in milliseconds, memory in bytes; unknown is null."""
    return {
        "form": FORM,
        "weighbridge": comparison.version,
        "begun_at": datetime.fromtimestamp(comparison.begun_at, UTC).isoformat(timespec="seconds"),
        "machine": asdict(comparison.machine),
        "workload": asdict(comparison.workload),
        "plan": {
            "turns": comparison.turns,
            "warm_up": comparison.warm_up,
            "interleaved": comparison.interleaved,
            "fresh": comparison.fresh,
            "sampling": "greedy",
            "seed": comparison.seed,
        },
        "stopped": comparison.stopped,
        "columns": [_column(column) for column in comparison.columns],
        "verdicts": [_verdict(one, comparison) for one in verdicts(comparison.columns)],
        "cautions": [
            {"code": one.code, "values": dict(one.values), "message": str(explain_code(one.code, one.values))}
            for one in cautions(comparison)
        ],
        "limits": limits(),
    }


def json_text(comparison: Comparison) -> str:
    """The same as text; what JSON does not know (a path, a set) as its own text."""
    return json.dumps(as_json(comparison), default=str, ensure_ascii=False, indent=2)


def as_markdown(comparison: Comparison) -> str:
    """A page of it."""
    parts = [
        "# " + text("Comparison"),
        *headline(comparison),
        _table(figures(comparison)) if any(column.turns for column in comparison.columns) else "",
        _list(comparison_in_words(comparison)),
        _list(notes(comparison)),
        *(part for name, lines in logs(comparison) for part in (_escaped(name), fenced("\n".join(lines)))),
        "## " + text("Conditions"),
        _table(conditions(comparison)),
        _list(settings(comparison)),
        "## " + text("Prompt"),
        fenced(comparison.workload.prompt),
        "## " + text("Answers"),
        *(part for names, said in answers(comparison) for part in (_escaped(", ".join(names)), fenced(said))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def fenced(words: str) -> str:
    """`words` as a block of code, whatever they hold."""
    longest = max((len(run) for run in re.findall("`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = "\n".join(map(printable, words.splitlines()))
    return f"{fence}text\n{lines}\n{fence}"


def _column(column: Column) -> dict[str, Any]:
    error = column.error
    return {
        "name": column.name,
        "model": {**asdict(column.subject), "path": None if column.subject.endpoint else str(column.subject.path)},
        "engine": None if column.runtime is None else asdict(column.runtime),
        "settings": [{**asdict(one), "differs": one.differs} for one in column.settings],
        "load_ms": column.load_ms,
        "memory": {**asdict(column.held), "total_bytes": column.held.total_bytes},
        "figures": asdict(score(column)) if column.turns else None,
        "turns": [_turn(turn) for turn in column.turns],
        "error": None if error is None else _error(error),
        "left_out": column.left_out,
    }


def _error(error: WeighbridgeError) -> dict[str, Any]:
    told = {"code": error.code, "values": dict(error.values), "message": str(explain(error))}
    return {**told, "log": error.log} if isinstance(error, EngineFailed) and error.log else told


def _turn(turn: Turn) -> dict[str, Any]:
    told = {name: value for name, value in asdict(turn).items() if name != "pieces"}
    return {**told, "cached": turn.cached, "text": turn.text}


def _verdict(one: Verdict, comparison: Comparison) -> dict[str, Any]:
    columns = comparison.columns
    ratios = {"writing": one.writing, "reading": one.reading, "first_token": one.first_token, "memory": one.memory}
    return {
        "column": columns[one.column].name,
        "baseline": columns[one.baseline].name,
        **{name: _ratio(value) for name, value in ratios.items()},
        "answer": asdict(one.answer),
        "words": verdict_in_words(one, columns),
    }


def _ratio(known: Ratio | None) -> dict[str, Any] | None:
    return None if known is None else {**asdict(known), "alike": known.alike}


def _table(table: Table) -> str:
    ruler = tuple("---:" if place in table.right else "---" for place in range(len(table.head)))
    return "\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in (table.head, ruler, *table.rows))


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {_escaped(line)}" for line in lines)


def _escaped(words: str) -> str:
    """Words that no table and no list takes for its own signs."""
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", printable(words))
