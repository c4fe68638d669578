"""How many choices fit, and in which order models are offered."""

from dataclasses import dataclass, replace

from tests.choices.made_speeds import here, weighed

from weighbridge.base.units import THIN
from weighbridge.choices.counts import Counts, counts
from weighbridge.choices.offer_words import counts_in_words, suggestion_in_words
from weighbridge.choices.runner import Runner
from weighbridge.choices.suggestions import DAY_S, suggestions
from weighbridge.estimates.fit import Verdict
from weighbridge_engines.api import Cause

NOW_S = 1_800_000_000.0


@dataclass(frozen=True)
class Group:
    title: str
    downloads: int | None = None
    changed_s: float | None = None


def order(*groups):
    return [one.group.title for one in suggestions(groups, NOW_S)]


def test_counts_of_each_verdict():
    fits = weighed(here())
    tight, no = (replace(fits, fit=replace(fits.fit, verdict=verdict)) for verdict in (Verdict.TIGHT, Verdict.NO))
    counted = counts([fits, tight, fits, no, replace(fits, fit=None)])
    assert counted == Counts(fits=2, tight=1, no=1, unknown=1)
    assert (counted.total, counted.best) == (5, Verdict.FITS)
    assert counts([]).best is Verdict.UNKNOWN
    needing = replace(fits, runner=Runner("exllamav3", "ExLlamaV3", Cause("program.needs_card")))
    assert counts([needing, fits]) == Counts(fits=1, no=1)
    assert Counts(partial=1, no=3).best is Verdict.PARTIAL


def test_counts_in_words():
    assert counts_in_words(Counts(fits=12, tight=1)) == "12 fit"
    assert counts_in_words(Counts(fits=1)) == "1 fits"
    assert counts_in_words(Counts(tight=3, no=9)) == "3 tight"
    assert counts_in_words(Counts(partial=2)) == "2 in part"
    assert counts_in_words(Counts(no=2)) == "none fits"
    assert counts_in_words(Counts(no=2, unknown=1)) == "unknown"


def test_what_fits_comes_first_then_what_many_take():
    known = Group("known", 10_000_000)
    assert order(
        (Group("too large", 10**9), Counts(no=40)),
        (Group("not looked at", 10**9), None),
        (known, Counts(tight=4)),
        (Group("few", 10), Counts(fits=1)),
        (Group("many", 100_000), Counts(fits=1)),
        (Group("untold"), Counts(fits=40)),
    ) == ["many", "few", "untold", "known", "not looked at", "too large"]


def test_what_is_new_stands_before_what_is_taken_a_little_more_often():
    new = Group("new", 1_000, NOW_S - DAY_S)
    old = Group("old", 20_000, NOW_S - 900 * DAY_S)
    classic = Group("classic", 2_000_000, NOW_S - 900 * DAY_S)
    fits = Counts(fits=1)
    assert order((old, fits), (new, fits), (classic, fits)) == ["classic", "new", "old"]


def test_reasons_in_words():
    [one] = suggestions([(Group("a", 2_345_678, NOW_S - 3 * DAY_S), Counts(fits=12))], NOW_S)
    assert suggestion_in_words(one).replace(THIN, " ") == "12 fit · 2.3 M downloads a month · changed 3 days ago"
    [one] = suggestions([(Group("a", 5, NOW_S - 90 * DAY_S), None)], NOW_S)
    assert suggestion_in_words(one) == "5 downloads a month · changed 3 months ago"
    [one] = suggestions([(Group("a", None, NOW_S + DAY_S), None)], NOW_S)
    assert (suggestion_in_words(one), one.age_days) == ("changed today", 0.0)
