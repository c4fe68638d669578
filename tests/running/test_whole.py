"""Whether cards hold a model whole."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import RTX, engine, machine, model, unseen
from tests.estimates.made_blueprints import GIB, made

from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.whole import cards_of, whole_on_cards
from weighbridge_engines.api import Load

LOAD = Load("m.gguf", context=4096)
ENGINES = {"llama_server": engine()}


def rtx(free_gib):
    return replace(RTX, memory=Memory(MemoryKind.DEDICATED, 24 * GIB, int(free_gib * GIB)))


def test_a_model_that_cards_hold_is_whole():
    assert whole_on_cards(made(layers=10), LOAD, "llama_server", machine(RTX))
    assert whole_on_cards(made(layers=20), LOAD, "llama_server", machine(RTX))
    assert whole_on_cards(made(layers=21), LOAD, "llama_server", machine(RTX))
    assert not whole_on_cards(made(layers=23), LOAD, "llama_server", machine(RTX))  # the output is 1 GiB more
    assert whole_on_cards(made(layers=23), LOAD, "llama_server", machine(RTX, replace(RTX, id="cuda1")))


def test_what_is_free_now_does_not_count():
    assert whole_on_cards(made(layers=10), LOAD, "llama_server", machine(rtx(0.5)))


def test_a_card_that_the_engine_does_not_use_holds_nothing():
    assert not whole_on_cards(made(), LOAD, "llama_server", machine(unseen(RTX)))
    assert not whole_on_cards(made(), LOAD, "llama_server", machine())


@pytest.mark.parametrize(
    ("changes", "whole"),
    [
        ({"gpu_layers": 10}, False),
        ({"gpu_layers": 11}, True),
        ({"gpu_layers": 0}, False),
        ({"cpu_experts": 1}, False),
        ({"cpu_experts": 0}, True),
    ],
)
def test_layers_that_are_to_stay_in_host_memory_are_not_on_cards(changes, whole):
    assert whole_on_cards(made(layers=10), replace(LOAD, **changes), "llama_server", machine(RTX)) is whole


def test_nothing_is_held_while_something_is_not_known():
    assert cards_of(lambda: machine(RTX), ENGINES, lambda _: made())(model(), LOAD)
    assert not cards_of(lambda: None, ENGINES, lambda _: made())(model(), LOAD)
    assert not cards_of(lambda: machine(RTX), ENGINES, lambda _: None)(model(), LOAD)
    assert not cards_of(lambda: machine(RTX), {}, lambda _: made())(model(), LOAD)
