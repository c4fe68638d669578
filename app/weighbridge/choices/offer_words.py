"""Why a choice is recommended, and why a model is offered, in words. For window and terminal."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.units import number
from weighbridge.base.words import mark, plural, text
from weighbridge.choices.counts import Counts
from weighbridge.choices.recommended import Recommended, Why
from weighbridge.choices.suggestions import Popular, Suggestion
from weighbridge.choices.words import count_in_words

_WHY: Mapping[Why, str] = {
    Why.MOST_BITS: mark("The most bits per weight that fit with room to spare."),
    Why.NEAR_LOSSLESS: mark("Near lossless, and it fits with room to spare."),
    Why.FASTER: mark("The most bits per weight that fit and are fast enough to read along."),
    Why.FEW_BITS: mark("Nothing of 4 bits per weight or more fits; below that, answers get worse."),
    Why.TIGHT: mark("The most bits per weight that fit, with little room to spare."),
    Why.PARTIAL: mark("None fits whole; the most bits per weight that fit in part."),
    Why.SLOW: mark("All that fit are slow here; this one is the least slow of 4 bits per weight or more."),
    Why.ONLY_ONE: mark("The only one that fits."),
}


def recommended_in_words(one: Recommended) -> str:
    """ "The most bits per weight that fit with room to spare."; with what has to be installed for it."""
    said = text(_WHY[one.why])
    if one.engine is None:
        return said
    if not one.is_ours:
        return text("{reason} It needs {engine}, which is no part of this program.", reason=said, engine=one.engine)
    return text("{reason} It needs {engine}, which is not installed.", reason=said, engine=one.engine)


def counts_in_words(counted: Counts, *, is_all: bool = True) -> str:
    """ "12 fit", "3 tight", "2 in part", "none fits", "unknown": the best that can be said. Where there may be more
    choices than were counted, "12+ fit", "none of 3 fits".
    """
    if not is_all:
        return _so_far_in_words(counted)
    if counted.fits:
        return plural("{count} fits", "{count} fit", counted.fits, count=number(counted.fits))
    if counted.tight:
        return plural("{count} tight", "{count} tight", counted.tight, count=number(counted.tight))
    if counted.partial:
        return plural("{count} in part", "{count} in part", counted.partial, count=number(counted.partial))
    return text("none fits") if counted.no and not counted.unknown else text("unknown")


def _so_far_in_words(counted: Counts) -> str:
    if counted.fits:
        return plural("{count}+ fit", "{count}+ fit", counted.fits, count=number(counted.fits))
    if counted.tight:
        return plural("{count}+ tight", "{count}+ tight", counted.tight, count=number(counted.tight))
    if counted.partial:
        return plural("{count}+ in part", "{count}+ in part", counted.partial, count=number(counted.partial))
    if counted.no and not counted.unknown:
        return plural("none of {count} fits", "none of {count} fits", counted.no, count=number(counted.no))
    return text("unknown")


def suggestion_in_words(one: Suggestion[Popular]) -> str:
    """ "12 fit · 1.2 M downloads a month · changed 12 days ago"."""
    said = [counts_in_words(one.counts)] if one.counts is not None else []
    if one.downloads is not None:
        said.append(text("{count} downloads a month", count=_rounded(one.downloads)))
    if one.age_days is not None:
        said.append(_changed(int(one.age_days)))
    return " · ".join(said)


def _rounded(count: int) -> str:
    return count_in_words(count) if count >= 1_000_000 else number(count)


def _changed(days: int) -> str:
    if days < 1:
        return text("changed today")
    if days < 60:
        return plural("changed {count} day ago", "changed {count} days ago", days, count=number(days))
    months = days // 30
    return plural("changed {count} month ago", "changed {count} months ago", months, count=number(months))
