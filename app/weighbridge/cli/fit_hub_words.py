"""Choices on the Hub for the terminal: a row for each, the recommended one marked."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import plural, text
from weighbridge.choices.choice import Choice
from weighbridge.choices.counts import counts
from weighbridge.choices.offer_words import counts_in_words, recommended_in_words
from weighbridge.choices.offered import Offered, reference_of
from weighbridge.choices.recommended import Recommended
from weighbridge.choices.speed_words import figures_in_words
from weighbridge.choices.words import lacking_in_words, runner_in_words, total_in_words, verdict_in_words
from weighbridge.cli.table import table
from weighbridge.formats.gguf_variants import FORMAT
from weighbridge.hub.layout import MAIN
from weighbridge.hub.looking import Sight, Spot

MARK = "*"
MAX_NAMED = 8
_WIDTH = 100
_MOST_LETTERS = 64


def table_in_words(
    sights: Sequence[Sight],
    left: Sequence[Spot],
    rows: Sequence[Offered],
    choices: Sequence[Choice],
    best: Recommended | None,
) -> str:
    """All choices, what is recommended and why, and what was not looked at."""
    counted = counts(choices)
    total = plural("{count} choice", "{count} choices", len(rows), count=number(len(rows)))
    lines = [f"{sights[0].repository.id}: {total}, {counts_in_words(counted)}", *_known(sights[0]), ""]
    lines += [_table(rows, choices, best), ""]
    lines += _recommended(rows, best)
    lines += [f"{_name(row)}: {explain(problem)}" for row in rows if (problem := _problem(row))][:MAX_NAMED]
    if left:
        named = ", ".join(spot.revision for spot in left[:MAX_NAMED])
        named += ", …" if len(left) > MAX_NAMED else ""
        lines.append(
            plural(
                "{count} more branch was not looked into: {names}. Name it with --revision.",
                "{count} more branches were not looked into: {names}. Name one with --revision.",
                len(left),
                count=number(len(left)),
                names=named,
            )
        )
    unread = next((sight.unread for sight in sights if sight.unread is not None), None)
    if unread is not None:
        lines.append(text("What is inside could not be looked at: {reason}", reason=str(explain(unread))))
    return "\n".join(lines)


def place_in_words(sight: Sight, row: Offered) -> tuple[str, ...]:
    """What is known of one choice beyond its files."""
    here = [text("Already on this computer: {path}", path=str(row.here.path))] if row.here else []
    return (*here, *_known(sight))


def _problem(row: Offered) -> WeighbridgeError | None:
    return row.model.problem if row.model is not None else None


def _known(sight: Sight) -> list[str]:
    gated = text("Its licence has to be accepted on its page before it can be fetched.")
    return [gated] if sight.repository.gated else []


def _recommended(rows: Sequence[Offered], best: Recommended | None) -> list[str]:
    if best is None:
        return [text("None of them is recommended for this machine.")]
    row = rows[best.place]
    name = reference_of(row.spot, row.offer.variant) if row.offer else row.spot.repo_id
    said = text("Recommended: {name}. {reason}", name=name, reason=recommended_in_words(best))
    return textwrap.wrap(f"{MARK} {said}", _WIDTH, break_on_hyphens=False, break_long_words=False)


def _table(rows: Sequence[Offered], choices: Sequence[Choice], best: Recommended | None) -> str:
    head = ["", text("Choice"), text("Format"), text("Size"), text("Bits"), text("Memory"), text("Verdict")]
    head += [text("Run by"), text("tok/s"), text("Here")]
    lines = [
        [MARK if best is not None and best.place == place else "", *_cells(row, choice)]
        for place, (row, choice) in enumerate(zip(rows, choices, strict=True))
    ]
    return table(head, lines, right=(3, 4, 5, 8))


def _cells(row: Offered, choice: Choice) -> list[str]:
    model, fit = choice.model, choice.fit
    writing = choice.speeds.decode if choice.speeds else None
    bits = row.bits_per_weight
    return [
        _name(row),
        model.format.upper(),
        size(model.size_bytes),
        number(bits, 2) if bits else "?",
        total_in_words(fit.estimate) if fit else "?",
        text("Cannot be used")
        if model.problem is not None
        else lacking_in_words(choice.runner) or verdict_in_words(fit),
        runner_in_words(choice.runner),
        "?" if writing is None else figures_in_words(writing),
        text("yes") if row.here else "",
    ]


def _name(row: Offered) -> str:
    """What tells it from the others of its repository: its label, its branch, else its folder or file."""
    if row.offer is None or row.model is None:
        return row.spot.revision
    variant = row.offer.variant
    label, place = variant.label, variant.name if row.spot.revision == MAIN else row.spot.revision
    if variant.format == FORMAT or not place:
        named = label or row.model.title
    else:
        named = f"{place} · {label}" if label and not variant.guessed else place
    named = _cut(named)
    return text("{quant} (guessed)", quant=named) if label and variant.guessed else named


def _cut(named: str) -> str:
    """A name of strangers, not so long that the other columns are out of sight."""
    half = _MOST_LETTERS // 2
    return named if len(named) <= _MOST_LETTERS else f"{named[:half]}…{named[-half:]}"
