"""What a token touches, place by place."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import GIB, card, made, ram

from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Index, Layer, Shape
from weighbridge.estimates.speed.work import Work, layer_read_bytes, works
from weighbridge.estimates.use import Use

KIB = 1 << 10


def test_all_weights_but_the_input_are_read_once_and_the_cache_as_deep_as_it_is():
    [work] = works(made(), Plan(), [ram(64)], depth=1000)
    assert work == Work("host", 10, 0, 11 * GIB, 10 * 1000 * 4 * KIB, scores=10 * 8 * 1000)


def test_a_tied_output_is_read_as_a_whole():
    tied = replace(made().weights, output_bytes=0, embedding_bytes=GIB, tied=True)
    [work] = works(replace(made(), weights=tied), Plan(), [ram(64)], depth=0)
    assert work.weight_bytes == 11 * GIB


def test_of_experts_the_share_that_is_used_is_read():
    mixed = replace(made(expert_bytes=8 * GIB), use=Use(expert_share=1 / 8))
    [work] = works(mixed, Plan(), [ram(256, 256)], depth=0)
    assert (work.layers, work.mixed_layers) == (0, 10)
    assert work.weight_bytes == 10 * (GIB + GIB) + GIB


def test_experts_whose_use_is_not_told_may_all_be_read():
    mixed = replace(made(expert_bytes=8 * GIB), use=Use(expert_share=None))
    [work] = works(mixed, Plan(), [ram(256, 256)], depth=0)
    assert work.weight_bytes == 10 * 9 * GIB + GIB


def test_answers_at_a_time_share_the_weights_but_not_the_caches():
    mixed = replace(made(expert_bytes=8 * GIB), use=Use(expert_share=0.5))
    [work] = works(mixed, Plan(), [ram(256, 256)], depth=100, answers=2)
    assert work.weight_bytes == 10 * GIB + GIB + 0.75 * 80 * GIB
    assert work.cache_bytes == 2 * 10 * 100 * 4 * KIB


def test_layers_on_a_card_and_in_memory_each_do_their_part():
    host, gpu = works(made(), Plan(gpu_layers=4), [ram(64), card(24)], depth=1000)
    assert host == Work("host", 7, 0, 7 * GIB, 7 * 1000 * 4 * KIB, scores=7 * 8 * 1000)
    assert gpu == Work("card", 3, 0, 4 * GIB, 3 * 1000 * 4 * KIB, scores=3 * 8 * 1000)  # the output is one of the four


def test_a_place_with_nothing_to_read_is_left_out():
    [gpu] = works(made(), Plan(), [ram(64), card(24)], depth=0)
    assert gpu.place == "card"


def test_experts_kept_in_memory_are_read_there():
    mixed = replace(made(expert_bytes=8 * GIB), use=Use(expert_share=1 / 8))
    host, gpu = works(mixed, Plan(cpu_experts=4), [ram(256, 256), card(80)], depth=0)
    assert (host.layers, host.mixed_layers, host.weight_bytes) == (0, 4, 4 * GIB)
    assert (gpu.layers, gpu.mixed_layers, gpu.weight_bytes) == (4, 6, 10 * GIB + 6 * GIB + GIB)


def test_two_cards_share_the_layers():
    first, second = works(made(), Plan(), [ram(64), card(24, "a"), card(24, "b")], depth=0)
    assert (first.layers, second.layers) == (6, 4)
    assert first.weight_bytes + second.weight_bytes == 11 * GIB


def test_an_unknown_shape_has_no_work():
    assert works(made(certainty=Certainty.UNKNOWN), Plan(), [ram(64)], depth=0) == ()


def test_mlx_works_where_its_graphics_part_is():
    mlx = replace(made(), format="mlx")
    [work] = works(mlx, Plan(engine="mlx"), [ram(64)], depth=10)
    assert work.weight_bytes == 11 * GIB
    assert work.layers == 10


def test_exllama_fills_one_card_after_the_other():
    exl = replace(made(), format="exl2")
    first, second = works(exl, Plan(engine="exllamav2"), [ram(64), card(8, "a"), card(8, "b")], depth=10)
    assert (first.place, second.place) == ("a", "b")
    assert first.weight_bytes + second.weight_bytes == 11 * GIB


@pytest.mark.parametrize(
    ("layer", "plan", "depth", "expected"),
    [
        (Layer(key_width=512, value_width=512), Plan(), 1000, 1000 * 2048),
        (Layer(key_width=512, value_width=512, window=100), Plan(), 1000, 100 * 2048),
        (Layer(key_width=512, value_width=512, window=2000), Plan(), 1000, 1000 * 2048),
        (Layer(key_width=512, value_width=512), Plan(key_type="q8_0", value_type="q8_0"), 1000, 1000 * 1088),
        (Layer(conv=10, state=1000), Plan(), 1000, 2 * 1010 * 4),
        (Layer(key_width=576), Plan(), 1000, 1000 * 1152),
        (Layer(key_width=512, index=Index(128, every=4)), Plan(), 1000, 1000 * 1024 + 250 * 256),
    ],
)
def test_what_a_layer_reads_of_what_it_keeps(layer, plan, depth, expected):
    assert layer_read_bytes(layer, plan, depth) == expected


def test_compressed_attention_is_told():
    latent = replace(made(), shape=Shape((Layer(key_width=576),) * 10, latent=True))
    [work] = works(latent, Plan(flash_attention=False), [ram(64)], depth=1)
    assert work.latent
    assert not work.flash


def test_parameters_and_scores_are_shared_out_as_the_layers_are():
    shape = Shape((Layer(heads=8, key_width=512, value_width=512, window=100), Layer(heads=8, key_width=512)) * 5)
    model = replace(made(width=512), shape=shape, use=Use(active_parameters=11 * 10**9, key_length=64))
    host, gpu = works(model, Plan(gpu_layers=4), [ram(64), card(24)], depth=1000)
    assert (host.parameters, gpu.parameters) == (7e9, 4e9)
    assert host.scores == 8 * (4 * 100 + 3 * 1000)
    assert gpu.scores == 8 * (1 * 100 + 2 * 1000)
    [twice] = works(model, Plan(), [ram(64)], depth=1000, answers=2)
    assert (twice.parameters, twice.scores) == (22e9, 2 * (host.scores + gpu.scores))
