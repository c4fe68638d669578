"""From what is known of choices to the rows that are shown: verdicts, downloads, and which one to take. No Qt here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.counts import Counts, counts
from weighbridge.choices.offer_words import counts_in_words, suggestion_in_words
from weighbridge.choices.offered import Offered
from weighbridge.choices.recommended import Recommended, recommended
from weighbridge.choices.suggestions import Popular, Suggestion, suggestions
from weighbridge.hardware.machine import Device
from weighbridge.hub.groups import Group
from weighbridge.hub.looking import Spot
from weighbridge.hub.snapshot import JobView
from weighbridge.hub.wanted import name_of
from weighbridge.library.model import Model
from weighbridge.ui.discover.group_row import GroupRow
from weighbridge.ui.discover.rows import ChoiceRow, job_of
from weighbridge.ui.models.weighed import Weighed

ChoiceOf = Callable[[Model], Choice | None]


class Standing(NamedTuple):
    """How the choices of a base model stand (None: none is weighed), how many are known, in how many formats, and
    whether these are all; `failed`: it could not be looked into.
    """

    counts: Counts | None
    choices: int
    formats: int
    is_all: bool = True
    failed: bool = False


def choice_rows(
    rows: Iterable[Offered],
    choice_of: ChoiceOf,
    jobs: Sequence[JobView],
    is_waiting: Callable[[Spot], bool],
    failure: Callable[[Spot], WeighbridgeError | None],
) -> list[ChoiceRow]:
    """The rows of a table; none is recommended yet."""
    made = []
    there = tuple(rows)
    twins = Counter(map(_called, there))
    for row in there:
        weighed = None if row.model is None else Weighed(row.model, choice_of(row.model))
        wanted = () if row.offer is None else (row.offer.plain, row.offer.seeing)
        unseen = row.offer is None
        made.append(
            ChoiceRow(
                row,
                weighed,
                job_of(wanted, jobs) if jobs else None,
                is_looked_at=unseen and is_waiting(row.spot),
                failed=failure(row.spot) if unseen else None,
                has_twin=not unseen and twins[_called(row)] > 1,
            )
        )
    return made


def _called(row: Offered) -> tuple[str, str]:
    return (row.offer.variant.format, name_of(row.offer.variant)) if row.offer is not None else ("", row.key)


def with_best(rows: Sequence[ChoiceRow], devices: Sequence[Device]) -> tuple[list[ChoiceRow], Recommended | None]:
    """The rows, the one to take marked, and why it is."""
    weighed = [(place, row.weighed.choice) for place, row in enumerate(rows) if row.weighed and row.weighed.choice]
    best = recommended([choice for _, choice in weighed], devices)
    marked = list(rows)
    if best is not None:
        place = weighed[best.place][0]
        marked[place] = replace(marked[place], recommended=True)
    return marked, best


def counted(models: Sequence[Model], choice_of: ChoiceOf) -> Counts | None:
    """How the choices of a base model stand; None before one is weighed."""
    choices = [choice for choice in map(choice_of, models) if choice is not None]
    return counts(choices) if choices else None


def group_rows(
    groups: Sequence[tuple[str, Group]],
    standing: Mapping[str, Standing],
    looked_at: str,
    now_s: float | None,
) -> list[GroupRow]:
    """The list: in the Hub's order, or, with the time `now_s` in seconds since 1970, as they are to be offered, each
    with its reason. `standing` has each of them, by its key.
    """
    key_of = {id(group): key for key, group in groups}
    if now_s is None:
        return [_row(key, group, standing, looked_at, "") for key, group in groups]
    offered = suggestions([(group, standing[key].counts) for key, group in groups], now_s)
    return [_row(key_of[id(each.group)], each.group, standing, looked_at, _reason(each)) for each in offered]


def _reason(each: Suggestion[Group]) -> str:
    """What else speaks for it than what fits, which stands beside it."""
    told: Suggestion[Popular] = Suggestion(each.group, None, each.downloads, each.age_days)
    return suggestion_in_words(told)


def _row(key: str, group: Group, standing: Mapping[str, Standing], looked_at: str, reason: str) -> GroupRow:
    known, choices, formats, is_all, failed = standing[key]
    badge = ("unknown", text("Could not be looked into")) if failed else None
    if known is not None:
        badge = (known.best.value, counts_in_words(known, is_all=is_all))
    looked = known is None and any(looked_at.startswith(f"{hit.id}@") for hit in group.hits)
    return GroupRow(key, group.title, formats, choices or None, badge, reason, looked, is_all)
