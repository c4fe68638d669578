"""The graph of models that keep a state, against what llama.cpp itself would set aside for it."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.model_zoo import recurrent
from tests.model_zoo.settings import setting

from weighbridge.estimates.activations import activations
from weighbridge.estimates.compute import compute_bytes
from weighbridge.estimates.compute_recurrent import graph_of, recurrent_bytes
from weighbridge.estimates.graph_parts import Batch
from weighbridge.estimates.graph_walk import graph_floats
from weighbridge.estimates.shape_gguf import shape_of_gguf

MIB = 1 << 20
SHARE, MEAN = 0.07, 0.01
MODELS = {model.name: model for model in recurrent.models()}
ANSWERS = json.loads((Path(__file__).parent.parent / "data" / "zoo_recurrent.json").read_text())


@cache
def digest(name):
    info = MODELS[name].info()
    return activations(info), shape_of_gguf(info)


def errors(name):
    """By how much the compute buffer is off, by setting."""
    widths, shape = digest(name)
    return {
        told: compute_bytes(widths, shape, setting(told).plan) / MIB / answer[0] - 1
        for told, answer in ANSWERS[name].items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_buffer_is_that_of_the_engine(name):
    assert {told: error for told, error in errors(name).items() if abs(error) > SHARE} == {}


def test_it_is_nearly_exact_in_the_mean():
    found = [abs(error) for name in MODELS for error in errors(name).values()]
    assert sum(found) / len(found) < MEAN


@pytest.mark.parametrize("name", MODELS)
def test_the_keys_alone_tell_as_much_as_the_tensors(name):
    info = MODELS[name].info()
    shape = shape_of_gguf(info)
    plan = setting("ctx16384/ub512/f16/seq4").plan
    whole, brief = graph_of(info, shape), graph_of(replace(info, tensors=None), shape)
    layers = range(len(shape.layers))
    assert recurrent_bytes(brief, plan, 0, layers) == recurrent_bytes(whole, plan, 0, layers)


def test_some_layers_need_no_more_than_all_of_them():
    widths, shape = digest("granite-4-h-micro")
    plan = setting("ctx4096/ub512/f16/seq1").plan
    whole = compute_bytes(widths, shape, plan)
    assert 0 < compute_bytes(widths, shape, plan, range(5, 20)) <= whole
    assert compute_bytes(widths, shape, plan, range(0)) < whole / 3


@pytest.mark.parametrize("name", MODELS)
def test_what_some_layers_need_does_not_depend_on_what_was_asked_before(name):
    graph, batch = digest(name)[0].graph, Batch(512, slots=2)
    count = len(graph.layers)
    spans = [(0, count), (count // 3, count), (0, count // 2), (1, count - 1), (count // 2, count)]
    for first, last in spans:
        for has_input in (True, False):
            alone = graph_floats(replace(graph), batch, first, last, has_input)
            assert graph_floats(graph, batch, first, last, has_input) == alone


def test_a_place_that_is_handed_the_embedded_text_needs_less():
    widths, _shape = digest("mamba-2.8b")
    plan = setting("ctx4096/ub512/f16/seq1").plan
    whole = recurrent_bytes(widths.graph, plan, 0, range(64))
    later = recurrent_bytes(widths.graph, plan, 0, range(32, 64), has_input=False)
    assert whole - later == pytest.approx(3 * 2560 * 512 * 4, rel=0.01)


def test_all_logits_of_a_batch_may_be_the_most():
    widths, shape = digest("mamba-130m")
    plan = replace(setting("ctx4096/ub512/f16/seq1").plan, outputs=512)
    assert compute_bytes(widths, shape, plan) == 512 * 50280 * 4


def test_a_model_without_a_state_has_no_graph():
    info = replace(MODELS["mamba-130m"].info(), architecture="llama", metadata={"general.architecture": "llama"})
    assert graph_of(info, shape_of_gguf(info)) is None
