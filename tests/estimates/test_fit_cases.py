"""The calculated memory of 23 architectures against what llama.cpp allocates for them."""

from pathlib import Path

import pytest
from tests.benchmarks.fit_accuracy import (
    COMPUTE_MEAN,
    COMPUTE_SHARE,
    Pair,
    Result,
    all_held,
    calculated,
    cases,
    mean_compute_error,
)

CASES = list(cases(Path(__file__).parents[1] / "data" / "fit_cases"))


def test_there_are_enough_cases():
    assert len(CASES) == 114
    assert len({case.name for case in CASES}) == 23


@pytest.mark.parametrize("case", CASES, ids=[f"{case.name}/{case.setting}" for case in CASES])
def test_a_case_is_within_its_limits(case):
    result = calculated(case)
    assert result.low_mib is None
    assert result.held, (result.cache, result.compute, result.total)


def test_compute_buffers_are_near_in_the_mean():
    assert mean_compute_error([calculated(case) for case in CASES]) <= COMPUTE_MEAN


@pytest.mark.parametrize(
    ("cache", "compute", "low", "held"),
    [
        (Pair(1000, 1000), Pair(100, 100), None, True),
        (Pair(1011, 1000), Pair(100, 100), None, False),
        (Pair(10.9, 10), Pair(100, 100), None, True),
        (Pair(1000, 1000), Pair(126, 100), None, False),
        (Pair(100, 100), Pair(124, 100), None, False),
        (Pair(float("nan"), 100), Pair(100, 100), None, False),
        (Pair(1000, 500), Pair(100, 50), 500, True),
        (Pair(1000, 500), Pair(100, 50), 600, False),
        (Pair(400, 500), Pair(100, 50), 300, False),
    ],
)
def test_what_is_held(cache, compute, low, held):
    result = Result(CASES[0], cache, compute, low)
    assert result.held is held
    assert all_held([result]) is held


def test_the_mean_has_a_limit_of_its_own():
    off = Result(CASES[0], Pair(1000, 1000), Pair(100 * (1 + COMPUTE_SHARE - 0.01), 100))
    assert off.held
    assert not all_held([off])
