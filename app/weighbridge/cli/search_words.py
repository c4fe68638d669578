"""What a search has found, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from weighbridge.base.printable import printable
from weighbridge.base.units import duration, number
from weighbridge.base.words import plural, text
from weighbridge.choices.words import count_in_words
from weighbridge.cli.table import table
from weighbridge.hub.allowance import Allowance
from weighbridge.hub.groups import Group, groups
from weighbridge.hub.hits import Hit
from weighbridge.hub.reference import Reference

_FIGURES = (2, 4, 5)
"""Columns that end at their right."""


def hits_in_words(hits: Sequence[Hit]) -> str:
    """A table: a line for each model, its repositories below."""
    head = [
        text("repository"),
        text("formats"),
        text("parameters"),
        text("licence"),
        text("downloads"),
        text("likes"),
        text("changed"),
        text("access"),
    ]
    rows: list[Sequence[str]] = []
    for group in groups(hits):
        rows.append(_group_row(group))
        rows += [_hit_row(hit) for hit in group.hits]
    return table(head, rows, right=_FIGURES)


def nothing_in_words() -> str:
    """Why a table is missing, and what to do."""
    return text("The Hub lists no such model. Try fewer words, or leave out an option.")


def next_step_in_words(hit: Hit, reference: Reference) -> str:
    """The command that weighs what is meant; where to look, where no engine here may have use for it as it is."""
    command = f"weighbridge fit {reference_in_words(hit, reference)}"
    lines = [text("To weigh it before a byte is fetched: {command}", command=printable(command))]
    if not hit.formats:
        search = f"weighbridge search --base {hit.id}"
        lines.append(text("For its quantisations: {command}", command=search))
    return "\n".join(lines)


def reference_in_words(hit: Hit, reference: Reference) -> str:
    """What is meant as one word, with the name as the Hub spells it."""
    revision = f"@{reference.revision}" if reference.revision not in (None, "main") else ""
    wanted = reference.file or reference.quant
    word = f"{hit.id}{revision}" + (f":{wanted}" if wanted else "")
    return f'"{word}"' if " " in word else word


def allowance_in_words(allowance: Allowance, left_s: float) -> str:
    """How often the Hub may still be asked."""
    return plural(
        "The Hub allows {count} more call in the next {time}.",
        "The Hub allows {count} more calls in the next {time}.",
        allowance.remaining,
        time=duration(left_s),
    )


def _group_row(group: Group) -> Sequence[str]:
    return [
        printable(_title(group)),
        ", ".join(group.formats),
        _parameters(group.parameters),
        "",
        _count(group.downloads),
        "",
        _day(group.changed_s),
        "",
    ]


def _hit_row(hit: Hit) -> Sequence[str]:
    return [
        f"  {printable(hit.id)}",
        ", ".join(hit.formats),
        _parameters(hit.parameters),
        printable(hit.license or ""),
        _count(hit.downloads),
        _count(hit.likes),
        _day(hit.changed_s),
        _access(hit),
    ]


def _title(group: Group) -> str:
    if group.base is not None:
        return f"{group.title} ({group.base})"
    return text("{title} (by name)", title=group.title) if len(group.hits) > 1 else group.title


def _access(hit: Hit) -> str:
    if hit.private:
        return text("private")
    return text("licence first") if hit.gated else ""


def _parameters(count: int | None) -> str:
    return "" if count is None else count_in_words(count)


def _count(count: int | None) -> str:
    return "" if count is None else number(count)


def _day(moment_s: float | None) -> str:
    return "" if moment_s is None else datetime.fromtimestamp(moment_s, UTC).date().isoformat()
