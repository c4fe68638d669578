"""What can be given up so that a load that does not fit does."""

from dataclasses import replace

import pytest
from tests.choices.made_speeds import here, weighed
from tests.choices.made_surroundings import LOAD, RTX, model
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.units import GIB as ONE_GIB
from weighbridge.base.units import THIN
from weighbridge.choices.choice import weigh
from weighbridge.choices.way_words import memory_change_in_words, speed_change_in_words, way_in_words
from weighbridge.choices.ways import WayKind, takes_all, ways_out
from weighbridge.estimates.fit import GOOD
from weighbridge.hardware.machine import Memory, MemoryKind

TWELVE = made(layers=10, layer_bytes=GIB)
"""12 GiB of weights, and 40 KiB of cache a token."""
EIGHT = replace(RTX, memory=Memory(MemoryKind.DEDICATED, 8 * GIB, 8 * GIB))
SIX = made(layers=10, layer_bytes=GIB // 2)


def found(surroundings, load=LOAD, siblings=(), blueprint=TWELVE, takes=takes_all):
    blueprints = {one.id: SIX for one in siblings}

    def weighed_by(one, asked):
        return weigh(one, blueprints.get(one.id, blueprint), asked, surroundings)

    return ways_out(weighed(surroundings, blueprint, load), weighed_by, siblings, takes)


def test_what_fits_needs_none():
    assert found(here()) == ()


def test_each_way_gives_up_one_thing_and_fits():
    load = replace(LOAD, context=32_768)
    small = model(id="small", title="M")
    ways = found(here(free_gib=12.9, total_gib=16), load, (small,))
    assert [way.kind for way in ways] == [WayKind.CONTEXT, WayKind.CACHE, WayKind.QUANT]
    context, cache, quant = (way.choice for way in ways)
    assert all(choice.fit.verdict in GOOD for choice in (context, cache, quant))
    assert replace(context.load, context=32_768) == load
    assert replace(cache.load, key_type=None, value_type=None) == load
    assert quant.model is small
    assert quant.load.context == 32_768


def test_a_type_of_cache_that_the_engine_does_not_take_is_no_way():
    ways = found(here(free_gib=12.9, total_gib=16), replace(LOAD, context=32_768), takes=lambda load: not load.key_type)
    assert [way.kind for way in ways] == [WayKind.CONTEXT]


def test_the_context_is_the_longest_that_fits():
    around = here(free_gib=12.9, total_gib=16)
    ways = found(around, replace(LOAD, context=32_768))
    fits = ways[0].choice.load.context
    longer = weighed(around, TWELVE, replace(LOAD, context=fits + 256))
    assert longer.fit.verdict not in GOOD


def test_layers_are_given_up_where_they_were_asked_for_by_number():
    around = here(EIGHT, free_gib=20)
    ways = found(around, replace(LOAD, gpu_layers=11))
    layers = next(way for way in ways if way.kind is WayKind.LAYERS)
    assert 0 < layers.choice.load.gpu_layers < 11
    more = weighed(around, TWELVE, replace(LOAD, gpu_layers=layers.choice.load.gpu_layers + 1))
    assert more.fit.verdict not in GOOD


def test_where_no_single_thing_is_enough_several_are_given_up_together():
    around = here(EIGHT, free_gib=6.5, total_gib=16)
    (way,) = found(around, replace(LOAD, context=65_536, gpu_layers=11))
    load = way.choice.load
    assert (way.kind, load.gpu_layers) == (WayKind.TOGETHER, None)
    assert load.context < 65_536
    assert way.choice.fit.verdict in GOOD
    assert way_in_words(way).startswith("Layers left to the engine, ")


def test_what_never_fits_has_no_way():
    assert found(here(free_gib=8, total_gib=16)) == ()


def test_ways_in_words():
    ways = found(here(free_gib=12.9, total_gib=16), replace(LOAD, context=32_768), (model(id="small"),))
    said = [way_in_words(way).replace(THIN, " ") for way in ways]
    assert said[0].startswith("A context of ")
    assert "left" in said[0]
    assert said[1].startswith("KV cache in q8_0: ")
    assert said[2].startswith("small instead, ")


@pytest.mark.parametrize(
    ("memory", "tps", "words"),
    [
        (ONE_GIB, None, ("+1.0 GiB", "")),
        (-ONE_GIB // 2, -3.21, ("\u2212512.0 MiB", "\u22123.2 tok/s")),
        (0, 0.01, ("", "")),
        (None, 41.6, ("", "+42 tok/s")),
    ],
)
def test_changes_in_words(memory, tps, words):
    said = memory_change_in_words(memory), speed_change_in_words(tps)
    assert tuple(each.replace(THIN, " ") for each in said) == words
