"""What of a model one token makes an engine touch, from real headers."""

import pytest
from tests.benchmarks.estimate import DATA
from tests.benchmarks.fit_accuracy import cases, digest


@pytest.fixture(scope="module")
def uses():
    return {case.name: digest(case).use for case in cases(DATA)}


def test_a_mixture(uses):
    use = uses["qwen3-30b-a3b"]
    assert use.expert_share == 8 / 128
    assert use.active_parameters == pytest.approx(3.35e9, rel=0.1)
    assert use.output_parameters == 151_936 * 2048
    assert use.key_length == 128


def test_a_dense_model_whose_output_is_its_embedding(uses):
    use = uses["gemma-3-1b"]
    assert use.expert_share == 1.0
    assert use.output_parameters == 262_144 * 1152
    assert use.active_parameters == pytest.approx(1.0e9, rel=0.01)
    assert use.output_parameters < use.active_parameters


def test_no_model_has_more_parameters_in_its_output_than_it_uses(uses):
    assert len(uses) == 23
    for name, use in uses.items():
        assert use.active_parameters is None or use.output_parameters < use.active_parameters, name
