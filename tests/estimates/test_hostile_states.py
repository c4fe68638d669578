"""Headers that claim a state that no model has: what it takes is then unknown."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import ram
from tests.estimates.made_folders import info as folder
from tests.model_zoo import recurrent

from weighbridge.estimates.blueprint import LARGEST_STATE, blueprint
from weighbridge.estimates.fit import Verdict, fit
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.shape_states import MOST

MODELS = {model.name: model.info() for model in recurrent.models()}
KEYS = (
    "kda.head_dim", "shortconv.l_cache", "ssm.conv_kernel", "ssm.group_count", "ssm.inner_size", "ssm.state_size",
    "ssm.time_step_rank", "token_shift_count", "wkv.head_size",
)  # fmt: skip


BY_ARCHITECTURE = {
    info.architecture: replace(info, tensors=None)
    for info in MODELS.values()
    if any(f"{info.architecture}.{key}" in info.metadata for key in KEYS)
}


def shape_of(info):
    return blueprint(info, 1 << 30).shape


def claiming(info, **claims):
    told = {f"{info.architecture}.{key}": value for key, value in claims.items()}
    return replace(info, metadata={**info.metadata, **told})


@pytest.mark.parametrize("value", [1 << 40, (1 << 31) - 1, MOST + 1, -1, 1.5, "16", True, (16, 16)])
@pytest.mark.parametrize("architecture", BY_ARCHITECTURE)
def test_a_count_that_cannot_be_makes_it_unknown(architecture, value):
    info = BY_ARCHITECTURE[architecture]
    for key in (key for key in KEYS if f"{architecture}.{key}" in info.metadata):
        found = fit(blueprint(claiming(info, **{key: value}), 1 << 30), Plan(), [ram(99, 128)])
        assert (key, found.verdict, found.estimate.total_bytes) == (key, Verdict.UNKNOWN, None)
        assert found.estimate.notes[0] == "estimate.unknown"


@pytest.mark.parametrize("architecture", BY_ARCHITECTURE)
def test_a_state_larger_than_any_makes_it_unknown(architecture):
    info = BY_ARCHITECTURE[architecture]
    present = {key: MOST for key in KEYS if f"{architecture}.{key}" in info.metadata}
    large = replace(claiming(info, **present), embedding_length=MOST)
    assert shape_of(large).certainty is Certainty.UNKNOWN


@pytest.mark.parametrize("name", MODELS)
def test_models_that_there_are_are_far_from_the_limit(name):
    assert 0 < max(layer.conv + layer.state for layer in shape_of(MODELS[name]).kinds) < LARGEST_STATE / 8


def test_a_config_is_believed_no_more():
    config = {
        "model_type": "mamba2", "hidden_size": 1024, "num_hidden_layers": 2, "num_heads": 32, "head_dim": 64,
        "state_size": 128, "n_groups": 1, "conv_kernel": 4,
    }  # fmt: skip
    assert shape_of(folder(config, "mlx")).certainty is Certainty.KNOWN
    assert shape_of(folder({**config, "state_size": 1 << 20}, "mlx")).certainty is Certainty.UNKNOWN
