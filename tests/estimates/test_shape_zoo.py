"""The cache and the state of made models, against what llama.cpp itself would allocate for them."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.model_zoo import latent, recurrent, windowed
from tests.model_zoo.__main__ import settings_for
from tests.model_zoo.settings import WHOLE_WINDOW, setting

from weighbridge.estimates.cache import kv_bytes, state_bytes, token_bytes
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.shape_gguf import shape_of_gguf

MIB = 1 << 20
MODELS = {model.name: model for zoo in (recurrent, windowed, latent) for model in zoo.models()}
ANSWERS = json.loads((Path(__file__).parent.parent / "data" / "zoo_recurrent.json").read_text())


@cache
def info(name):
    return MODELS[name].info()


def off(mib, truth):
    """By how much a figure is off, beyond what the engine's log leaves open."""
    return abs(mib - truth) > max(0.001 * truth, 0.02)


def misses(shape, name):
    """The settings in which the cache or the state is not what the engine says."""
    found = {}
    for told, (_, _, cache_mib, state_mib) in ANSWERS[name].items():
        plan = setting(told).plan
        ours = kv_bytes(shape, plan) / MIB, state_bytes(shape, plan) / MIB
        if off(ours[0], cache_mib) or off(ours[1], state_mib):
            found[told] = (ours, (cache_mib, state_mib))
    return found


def test_every_model_was_asked_for():
    assert set(ANSWERS) == set(MODELS)
    assert min(map(len, ANSWERS.values())) >= 7


def test_asking_again_asks_for_all_that_is_kept():
    for name, told in ANSWERS.items():
        assert set(told) <= {one.name for one in settings_for(MODELS[name])}
    assert sum(WHOLE_WINDOW.name in told for told in ANSWERS.values()) == 24


@pytest.mark.parametrize("name", MODELS)
def test_cache_and_state_are_those_of_the_engine(name):
    assert misses(shape_of_gguf(info(name)), name) == {}


@pytest.mark.parametrize("name", MODELS)
def test_all_but_t5_are_known(name):
    expected = Certainty.APPROXIMATE if name == "flan-t5-base" else Certainty.KNOWN
    assert shape_of_gguf(info(name)).certainty is expected


def renamed(name, **changes):
    """The same model, of an architecture that nobody knows."""
    known = info(name)
    keys = {key.replace(f"{known.architecture}.", "novel.", 1): value for key, value in known.metadata.items()}
    return replace(known, architecture="novel", metadata=keys | {"general.architecture": "novel"}, **changes)


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"flan-t5-base"}))
def test_under_a_name_that_is_not_known_it_is_never_less(name):
    shape = shape_of_gguf(renamed(name))
    assert shape.certainty is Certainty.UPPER_BOUND
    told = "ctx32768/ub512/f16/seq1"
    assert kv_bytes(shape, setting(told).plan) / MIB >= 0.999 * ANSWERS[name][told][2]


@pytest.mark.parametrize("name", ["nemotron-nano-9b-v2", "qwen3.5-27b", "jamba-mini", "lfm2-2.6b", "smollm3-3b"])
def test_the_tensors_of_an_unknown_model_show_which_layers_keep_a_cache(name):
    shape = shape_of_gguf(renamed(name))
    told = "ctx32768/ub512/f16/seq1"
    assert kv_bytes(shape, setting(told).plan) / MIB == pytest.approx(ANSWERS[name][told][2], rel=0.3)
    assert shape.recurrent == (ANSWERS[name][told][3] > 0)


def test_without_its_tensors_an_unknown_model_is_taken_at_its_word():
    told = "ctx32768/ub512/f16/seq1"
    shape = shape_of_gguf(renamed("smollm3-3b", tensors=None))
    assert kv_bytes(shape, setting(told).plan) / MIB == ANSWERS["smollm3-3b"][told][2]


def test_the_cache_of_a_long_text_grows_by_what_is_told():
    told = setting("ctx32768/ub512/f16/seq1").plan
    for name in ("gemma-3-27b", "deepseek-v3.2", "qwen3.5-27b"):
        shape = shape_of_gguf(info(name))
        longer = kv_bytes(shape, replace(told, context=told.context + 2560)) - kv_bytes(shape, told)
        assert longer == pytest.approx(2560 * token_bytes(shape, told), rel=1e-9)
