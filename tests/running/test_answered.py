"""What of an answer says how fast the machine is."""

import math
from dataclasses import replace

import pytest

from weighbridge.running.answered import Answered, worth_keeping

GOOD = Answered(200, 100, 1300, 61.4, 250.0, by_engine=True, alone=True, busy=0.1)


def kept(**changes):
    """The speeds of writing and reading that are kept; None where nothing is."""
    one = worth_keeping(replace(GOOD, **changes), 1, 2)
    return None if one is None else (one.decode_tps, one.prompt_tps)


def test_an_answer_is_as_deep_as_its_middle():
    assert GOOD.depth == 1200
    assert replace(GOOD, output_tokens=3, context_used=10).depth == 9


def test_a_prompt_after_a_cache_is_like_a_longer_one():
    # 1,000 tokens were known: each of the 100 looks back at 1,050 in the mean, as in a prompt of 2,100.
    assert GOOD.prompt_alike == 2100
    assert replace(GOOD, context_used=300).prompt_alike == 100


def test_a_good_answer_is_kept_as_it_is():
    assert worth_keeping(GOOD, 1, 2) == GOOD


@pytest.mark.parametrize(
    ("changes", "speeds"),
    [
        ({"output_tokens": 15}, (None, 250.0)),
        ({"output_tokens": 16}, (61.4, 250.0)),
        ({"prompt_read": 63}, (61.4, None)),
        ({"prompt_read": 64}, (61.4, 250.0)),
        ({"prompt_read": None}, (61.4, None)),
        ({"by_engine": False}, (None, 250.0)),
        ({"decode_tps": None}, (None, 250.0)),
        ({"prompt_tps": None}, (61.4, None)),
        ({"decode_tps": 0.0, "prompt_tps": math.inf}, None),
        ({"decode_tps": math.nan, "prompt_tps": -1.0}, None),
        ({"output_tokens": 15, "prompt_read": 63}, None),
        ({"context_used": None}, None),
        ({"alone": False}, None),
        ({"busy": 0.5}, (61.4, 250.0)),
        ({"busy": 0.51}, None),
        ({"busy": None}, (61.4, 250.0)),
    ],
)
def test_only_what_shows_the_machine_is_kept(changes, speeds):
    assert kept(**changes) == speeds


@pytest.mark.parametrize(
    ("busy", "threads", "cores", "kept"),
    [
        (0.05, 2, 2, True),
        (0.2, 2, 2, False),  # two threads on two cores, of which others had 0.4
        (0.45, 1, 2, True),
        (0.3, 6, 8, False),
        (0.2, 6, 8, True),
        (0.3, None, 8, True),  # a card computed
        (None, 8, 8, True),
        (0.0, 4, 2, True),  # more threads than cores are slow by themselves
    ],
)
def test_others_may_not_take_the_cores_that_threads_need(busy, threads, cores, kept):
    assert (worth_keeping(replace(GOOD, busy=busy), threads, cores) is not None) is kept
