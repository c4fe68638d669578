"""Turns as figures, and where answers part."""

import pytest
from tests.bench.made import column, turn

from weighbridge.bench.score import Sameness, Spread, sameness, score, spread


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0, 1.0, 2.0], Spread(2.0, 1.0, 3.0, 3)),
        ([1.0, None, 2.0], Spread(1.5, 1.0, 2.0, 2)),
        ([4.0], Spread(4.0, 4.0, 4.0, 1)),
        ([None], None),
        ([], None),
    ],
)
def test_the_middle_and_the_ends(values, expected):
    assert spread(values) == expected


def test_how_wide_a_spread_is():
    assert Spread(50.0, 45.0, 55.0, 3).width == pytest.approx(0.2)
    assert Spread(0.0, 0.0, 0.0, 1).width == 0.0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a b c", "a b c", Sameness(True)),
        ("a b c", "a x c", Sameness(False, character=2, token=2)),
        ("a b", "a b c", Sameness(False, shorter=True, character=3, token=3)),
        ("a b c", "a b", Sameness(False, shorter=True, character=3, token=3)),
        ("x", "y", Sameness(False, character=0, token=1)),
        ("", "y", Sameness(False, shorter=True, character=0, token=2)),
        ("\na b c", "a b", Sameness(False, spaces=True, character=0, token=1)),
        ("a  bcd", "a bc", Sameness(False, spaces=True, character=2, token=3)),
        ("a  bc x", "a b x", Sameness(False, character=2, token=3)),
    ],
)
def test_where_answers_part(one, other, expected):
    assert sameness(turn(one), turn(other)) == expected


def test_where_pieces_are_no_tokens_none_is_told():
    assert sameness(turn("a b c", output_tokens=9), turn("a x c")) == Sameness(False, character=2)


def test_a_wait_for_what_was_known_before_does_not_count_where_another_is_known():
    turns = [turn(ttft_ms=100.0), turn(number=2, ttft_ms=9.0, prompt_tps=9e9, cached_tokens=30)]
    told = score(column(turns=turns))
    assert (told.ttft_ms, told.warm) == (Spread(100.0, 100.0, 100.0, 1), False)
    assert told.prompt_tps.most == 400.0
    assert told.decode_tps.count == 2


@pytest.mark.parametrize(("cached", "warm"), [((0, 0), False), ((30, 30), True), ((None, None), None), ((4, 4), False)])
def test_whether_all_turns_were_warm(cached, warm):
    told = score(column(turns=[turn(number=number, cached_tokens=each) for number, each in enumerate(cached, 1)]))
    assert told.warm is warm
    assert told.ttft_ms.count == 2


def test_the_busiest_moment_and_whose_figures_they_are():
    turns = [turn(busy=None), turn(number=2, busy=0.3), turn(number=3, by_engine=False)]
    assert (score(column(turns=turns)).busy, score(column(turns=turns)).by_engine) == (0.3, False)
    assert score(column(turns=[turn(busy=None)])).busy is None
    assert score(column(turns=[])).by_engine is False
