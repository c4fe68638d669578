"""The calculated memory of each device against where llama.cpp puts weights and caches."""

from pathlib import Path

import pytest
from tests.benchmarks.offload_accuracy import Case, Pair, Result, cases, results

DATA = Path(__file__).parents[1] / "data"
HEADERS = DATA / "fit_cases"
CASES = cases(DATA / "offload_cases.json")


def test_there_are_enough_cases():
    assert len(CASES) == 127
    assert len({case.name for case in CASES}) == 23


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_each_device_is_within_its_limits(case):
    devices = list(results(case, HEADERS))
    assert len(devices) == case.setting["gpus"] + 1
    assert set(case.told) <= {result.device for result in devices}
    for result in devices:
        assert result.held, (result.device, result.weights, result.cache)


@pytest.mark.parametrize(
    ("calculated", "told", "held"),
    [(1000, 1000, True), (1009, 1000, True), (1011, 1000, False), (1.9, 0, True), (2.1, 0, False)],
)
def test_what_is_held(calculated, told, held):
    pair = Pair(calculated, told)
    nothing = Pair(0, 0)
    case = Case("", {}, {})
    assert Result(case, "", pair, nothing, nothing).held is held
    assert Result(case, "", nothing, pair, nothing).held is held
    assert Result(case, "", nothing, nothing, pair).held


def test_an_unknown_figure_is_a_miss():
    assert not Pair(float("nan"), 5).held
