"""What to change so that a model fits, or is fast enough."""

from dataclasses import replace

import pytest
from tests.choices.made_speeds import FAST_RTX, MEASURED, TABLES, TENTH, here, weighed
from tests.choices.made_surroundings import LOAD, NOT_HERE, engine, model, unseen
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.units import THIN
from weighbridge.choices.change_words import change_in_words
from weighbridge.choices.changes import ChangeKind, changes
from weighbridge.choices.speeds import speeds_of
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.use import Use
from weighbridge.hardware.machine import Bandwidth, Device, Memory, MemoryKind, Sight
from weighbridge.hardware.memory_types import load_memory_types

TWELVE = made(layers=10, layer_bytes=GIB)
"""12 GiB of weights, and 40 KiB of cache a token."""


def found(surroundings, blueprint=TWELVE, load=LOAD, siblings=(), wanted=None, **rest):
    choice = weighed(surroundings, blueprint, load)
    return changes(choice, surroundings, TABLES, (), siblings, wanted, load_memory_types(), **rest)


def kinds(some):
    return [change.kind for change in some]


def of_kind(some, kind):
    (change,) = [change for change in some if change.kind is kind]
    return change


def said(change, surroundings, blueprint=TWELVE, load=LOAD):
    return change_in_words(change, weighed(surroundings, blueprint, load)).replace(THIN, " ")


def test_what_fits_or_is_fast_enough_needs_no_change():
    assert found(here()) == ()
    assert found(here(), TENTH, wanted=10) == ()
    assert changes(weighed(here(), None), here(), TABLES, (), ()) == ()


def test_a_smaller_cache_is_cheaper_than_a_shorter_context():
    tight, load = here(free_gib=12.9, total_gib=16), replace(LOAD, context=32_768)
    change = found(tight, load=load)[0]
    assert change.kind is ChangeKind.SETTINGS
    assert change.choice.load == replace(load, key_type="q8_0", value_type="q8_0")
    assert change.choice.fit.verdict is Verdict.TIGHT
    assert said(change, tight, load=load).startswith("KV cache in q8_0: Tight · ")
    assert said(change, tight, load=load).endswith(" tok/s")


def test_fewer_slots_come_first_and_the_context_stays_as_long_as_it_can():
    load = replace(LOAD, context=131_072, slots=4, unified=False)
    change = found(here(free_gib=13.5, total_gib=16), load=load)[0]
    assert (change.choice.load.slots, change.choice.load.context, change.choice.load.key_type) == (1, 32_768, None)
    short = found(here(free_gib=12.6, total_gib=16), load=replace(LOAD, context=131_072))[0]
    assert short.choice.load.key_type is None or short.choice.load.key_type == "q8_0"
    assert 4096 < short.choice.load.context < 131_072
    longer = replace(short.choice.load, context=short.choice.load.context + 1024)
    assert weighed(here(free_gib=12.6, total_gib=16), TWELVE, longer).fit.verdict is Verdict.NO


def test_a_division_told_by_hand_is_left_to_the_engine_first():
    card = here(replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 6 * GIB, 6 * GIB)))
    load = replace(LOAD, gpu_layers=10)
    change = found(card, load=load)[0]
    assert change.choice.load == LOAD
    assert change.choice.fit.verdict is Verdict.PARTIAL
    assert said(change, card, load=load).startswith("Layers and experts left to the engine: Partial · ")


def test_more_memory_as_modules_are_sold():
    change = of_kind(found(here(free_gib=6, total_gib=8)), ChangeKind.MEMORY)
    assert change.upgrade.memory_bytes == 16 * GIB
    assert change.choice.fit.verdict is Verdict.FITS
    assert said(change, here(free_gib=6, total_gib=8)).startswith("16.0 GiB of system memory: Fits · ")


def test_what_is_bought_holds_the_model_whole():
    small = here(free_gib=6, total_gib=8)
    change = of_kind(found(small), ChangeKind.CARD)
    assert change.choice.fit.verdict in (Verdict.FITS, Verdict.TIGHT)
    assert change.upgrade.device.memory.total_bytes == 12 * GIB  # of 12 GiB of weights, the input stays in RAM
    assert said(change, small).startswith("A card with 1")
    assert kinds(found(small)) == [ChangeKind.MEMORY, ChangeKind.CARD]


def test_one_more_of_the_cards_that_are_there():
    card = replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 8 * GIB, 7 * GIB))
    small = here(card, free_gib=2, total_gib=4)
    change = of_kind(found(small), ChangeKind.CARD)
    assert change.upgrade.like_others
    assert change.choice.fit.verdict is Verdict.TIGHT
    assert said(change, small).startswith("One more NVIDIA GeForce RTX 3090 (8 GiB): Tight · ")
    assert len(change.choice.places) == 3


def test_another_card_where_one_more_is_no_faster():
    slow = replace(FAST_RTX, bandwidth=Bandwidth(100.0, 100.0, "its maker"))
    change = of_kind(found(here(slow), TENTH, wanted=100), ChangeKind.CARD)
    assert not change.upgrade.like_others
    assert change.choice.speeds.decode.mid_tps >= 100
    assert len(change.choice.places) == 2
    assert " GiB in place of what is there, such as NVIDIA GeForce " in said(change, here(slow), TENTH)


def test_a_card_that_no_build_here_uses_costs_an_installation():
    small = here(unseen(FAST_RTX), free_gib=4, total_gib=8)
    change = found(small)[0]
    assert (change.kind, change.device.name) == (ChangeKind.BUILD, "NVIDIA GeForce RTX 3090")
    assert change.choice.fit.verdict is Verdict.FITS
    assert change.choice.speeds.decode is not None
    words = "The CUDA build of llama.cpp, which uses NVIDIA GeForce RTX 3090: Fits · "
    assert said(change, small).startswith(words)


def test_a_smaller_quantisation_that_is_here():
    small = here(free_gib=6, total_gib=8)
    large, fitting = model(id="m.Q4"), model(id="m.Q2", size_bytes=2 * GIB)
    some = found(small, siblings=[(large, TWELVE), (fitting, TENTH), (model(id="m.Q1"), TENTH), (model(), None)])
    assert kinds(some)[0] is ChangeKind.QUANT
    assert some[0].choice.model is fitting
    assert said(some[0], small).startswith("m.Q2 instead, 2.0 GiB, which is here: Fits · ")


def test_one_that_nothing_here_runs_is_no_help():
    small = replace(here(free_gib=6, total_gib=8), engines={"llama_server": engine("llama_server", missing=NOT_HERE)})
    assert ChangeKind.QUANT not in kinds(found(small, siblings=[(model(id="m.Q2"), TENTH)]))


def test_a_speed_that_memory_bounds_takes_faster_memory():
    slow = here(bandwidth=replace(MEASURED, low_gbs=20.0, high_gbs=20.0))
    choice = weighed(slow)
    assert speeds_of(choice, slow, TABLES).decode.mid_tps == pytest.approx(4.41, abs=0.01)
    some = found(slow, TENTH, wanted=15)
    assert kinds(some) == [ChangeKind.MEMORY_TYPE, ChangeKind.CARD]
    faster = some[0]
    assert faster.upgrade.memory_type.name == "DDR5-4800 dual channel (2x64-bit)"
    assert faster.choice.speeds.decode.mid_tps >= 15
    words = "DDR5-4800 dual channel (2x64-bit) memory (77 GB/s): Fits · "
    assert said(faster, slow, TENTH).startswith(words)
    assert some[1].choice.speeds.decode.mid_tps >= 15


def test_the_depth_that_is_asked_for_counts():
    fast = speeds_of(weighed(here()), here(), TABLES).decode.mid_tps
    assert found(here(), TENTH, wanted=fast) == ()
    deep = found(here(), TENTH, wanted=fast, depth=1536)
    assert deep[0].kind is ChangeKind.SETTINGS
    assert deep[0].choice.load.key_type == "q8_0"


def test_a_speed_that_nothing_reaches_has_no_change():
    assert found(here(), TENTH, wanted=1e6) == ()


def test_an_unknown_speed_is_not_taken_for_enough():
    some = found(here(bandwidth=None), TENTH, wanted=10)
    assert kinds(some) == [ChangeKind.CARD]


def test_memory_that_is_one_for_both_is_what_was_bought():
    memory = Memory(MemoryKind.UNIFIED, 8 * GIB, 6 * GIB, 6 * GIB)
    chip = Device("gpu0", "apple", "Apple M4", memory, bandwidth=Bandwidth(120.0, 120.0, "its maker"),
                  seen_by=(Sight("llama_server", "CUDA0"),))  # fmt: skip
    assert found(here(chip, free_gib=6, total_gib=8)) == ()


def test_a_graphics_part_that_borrows_gets_more_with_more_memory():
    memory = Memory(MemoryKind.SHARED, 8 * GIB, 6 * GIB, 4 * GIB)
    part = Device("gpu0", "amd", "AMD Radeon 780M", memory, seen_by=(Sight("llama_server", "Vulkan0"),))
    some = found(here(part, free_gib=6, total_gib=8))
    change = of_kind(some, ChangeKind.MEMORY)
    assert change.upgrade.memory_bytes == 32 * GIB  # half of it can be borrowed
    assert change.upgrade.machine.devices[0].memory.usable_bytes == 16 * GIB
    assert ChangeKind.CARD in kinds(some)


def test_no_other_card_goes_into_a_laptop():
    laptop = replace(FAST_RTX, name="NVIDIA GeForce RTX 3090 Laptop GPU", memory=Memory(MemoryKind.DEDICATED, GIB, GIB))
    some = found(here(laptop, free_gib=6, total_gib=8))
    assert kinds(some) == [ChangeKind.MEMORY]


def test_an_engine_gets_cards_of_the_makers_that_it_runs_on():
    small = replace(here(free_gib=6, total_gib=8), engines={"mlx": engine("mlx", formats=("mlx",))})
    blueprint = replace(TWELVE, format="mlx", widths=Widths(hidden=1024))
    some = changes(weighed(small, blueprint, format_id="mlx"), small, TABLES, (), ())
    assert of_kind(some, ChangeKind.CARD).upgrade.device.vendor == "nvidia"


def test_a_format_that_none_of_ours_runs_is_weighed_with_more_memory_too():
    small, blueprint = here(free_gib=6, total_gib=8), replace(TWELVE, format="bitsandbytes", widths=Widths(hidden=1024))
    choice = weighed(small, blueprint, format_id="bitsandbytes")
    assert choice.fit.verdict is Verdict.NO
    assert ChangeKind.MEMORY in kinds(changes(choice, small, TABLES, (), ()))


def test_experts_stay_in_ram_where_no_card_holds_them_all():
    experts = replace(made(layers=10, layer_bytes=GIB // 100, expert_bytes=30 * GIB), use=Use(0.1))
    change = of_kind(found(here(free_gib=250, total_gib=260), experts), ChangeKind.CARD)
    assert change.choice.fit.verdict is Verdict.PARTIAL
    assert change.choice.fit.plan.cpu_experts == 8
    assert change.upgrade.device.memory.total_bytes == 72 * GIB
