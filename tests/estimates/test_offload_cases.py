"""The calculated memory of each device against where llama.cpp puts weights and caches."""

import shutil
from pathlib import Path

import pytest
from tests.benchmarks.offload_accuracy import Case, Pair, Result, cases, results
from tests.benchmarks.offload_truth import zoo

DATA = Path(__file__).parents[1] / "data"
HEADERS = DATA / "fit_cases"
CASES = cases(DATA / "offload_cases.json")
MORE = cases(DATA / "offload_more.json")
CACHED_PREDICTORS = {"glm-4.5-air", "glm-4.7-flash"}
"""The build that told of these kept a cache for layers that only predict; later ones do not: see test_shape_zoo."""


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    """The headers of all models of `MORE`, those that are made among them."""
    folder, made = tmp_path_factory.mktemp("headers"), zoo()
    for name in {case.name for case in MORE}:
        file = f"{name}.gguf.head"
        if (HEADERS / file).exists():
            shutil.copyfile(HEADERS / file, folder / file)
        else:
            (folder / file).write_bytes(made[name][0])
    return folder


def test_there_are_enough_cases():
    assert len(CASES) == 127
    assert len({case.name for case in CASES}) == 23
    assert len(MORE) == 50
    assert len({case.name for case in MORE}) == 38


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_each_device_is_within_its_limits(case):
    check(case, HEADERS)


@pytest.mark.parametrize("case", MORE, ids=[case.id for case in MORE])
def test_each_device_of_other_settings_is_within_its_limits(case, headers):
    check(case, headers, cached=case.name not in CACHED_PREDICTORS)


def check(case, folder, cached=True):
    devices = list(results(case, folder))
    assert len(devices) == case.setting["gpus"] + 1
    assert set(case.told) <= {result.device for result in devices}
    for result in devices:
        assert result.weights.held, (result.device, result.weights)
        assert result.cache.held or not cached, (result.device, result.cache)


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
