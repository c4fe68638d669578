"""How fast a prompt is read, and when the first token comes."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import card, made, ram
from tests.estimates.speed.made_paces import pace

from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer, Shape
from weighbridge.estimates.speed.prefill import prefill
from weighbridge.estimates.speed.speeds import Speeds, speeds
from weighbridge.estimates.speed.work import works
from weighbridge.estimates.use import Use

GPU = pace("card", 1000, 100.0)


def read(blueprint, plan, places, paces, prompt=512):
    return prefill(blueprint, plan, works(blueprint, plan, places, 0), paces, prompt)


def test_two_operations_for_each_parameter():
    blueprint = replace(made(), use=Use(active_parameters=10**9))
    speed = read(blueprint, Plan(), [ram(64), card(24)], {"card": GPU})
    assert speed.mid_tps == pytest.approx(100e12 / 2e9)
    assert (speed.low_tps, speed.high_tps) == pytest.approx((100e12 / 3e9, 150e12 / 2e9))


def test_attention_grows_with_the_prompt_and_stops_at_the_window():
    shape = Shape((Layer(heads=8, key_width=1024), Layer(heads=8, key_width=1024, window=100)))
    blueprint = replace(made(2), shape=shape, use=Use(active_parameters=10**9, key_length=128))
    speed = read(blueprint, Plan(), [ram(64), card(24)], {"card": GPU}, 2000)
    assert 1 / speed.mid_tps == pytest.approx((2e9 + 4 * 8 * 128 * (1000 + 100)) / 100e12)


def test_experts_are_read_at_their_own_rate():
    blueprint = replace(made(expert_bytes=1 << 30), use=Use(expert_share=0.5, active_parameters=10**9))
    speed = read(blueprint, Plan(), [ram(64), card(64)], {"card": GPU})
    assert speed.mid_tps == pytest.approx(50e12 / 2e9)


def test_weights_in_memory_are_copied_to_the_card_once_a_batch():
    blueprint = replace(made(), use=Use(active_parameters=10**9))
    places, paces = [ram(64), card(24)], {"host": pace("host", 50, None), "card": GPU}
    speed = read(blueprint, Plan(gpu_layers=6, batch=512), places, paces)
    assert 1 / speed.mid_tps == pytest.approx(2e9 / 100e12 + 5 * (1 << 30) / 16e9 / 512)


@pytest.mark.parametrize("active", [None, 0])
def test_without_the_parameters_there_is_no_figure(active):
    blueprint = replace(made(), use=Use(active_parameters=active))
    assert read(blueprint, Plan(), [ram(64)], {"host": pace()}) is None


def test_without_the_compute_of_a_place_there_is_no_figure():
    blueprint = replace(made(), use=Use(active_parameters=10**9))
    assert read(blueprint, Plan(), [ram(64)], {"host": pace(tflops=None)}) is None
    assert read(blueprint, Plan(), [ram(64)], {}) is None


def test_the_first_token_comes_after_the_prompt_and_one_step():
    blueprint = replace(made(), use=Use(active_parameters=10**9))
    both = speeds(blueprint, Plan(), [ram(64), card(24)], {"card": GPU}, depth=0)
    assert both.first_token_s(1000) == pytest.approx(1000 * 2e9 / 100e12 + 11 * (1 << 30) / 1e12)
    assert Speeds(both.decode, None).first_token_s(1000) is None


def test_a_step_for_many_answers_is_no_faster_than_so_many_tokens_of_a_prompt():
    blueprint = replace(made(1, 0, width=0), use=Use(active_parameters=10**12))
    slow = {"host": pace(gbs=1000, tflops=1.0)}
    [one, four] = [speeds(blueprint, Plan(slots=4), [ram(64)], slow, depth=0, answers=count) for count in (1, 4)]
    assert one.decode.mid_tps == pytest.approx(1e12 / (1 << 30))
    assert four.decode.mid_tps == pytest.approx(four.prefill.mid_tps / 4)


def test_the_depth_shown_is_no_deeper_than_the_context():
    both = speeds(made(), Plan(context=512), [ram(64)], {"host": pace()})
    assert both.decode.depth == 512
    assert speeds(made(), Plan(), [ram(64)], {"host": pace()}).decode.depth == 1024


def test_starting_the_layers_is_paid_once_a_batch():
    blueprint = replace(made(), use=Use(active_parameters=10**9))
    speed = read(
        blueprint, Plan(batch=256), [ram(64), card(24)], {"card": pace("card", 1000, 100.0, layer_us=100)}, 1000
    )
    assert 1 / speed.mid_tps == pytest.approx(2e9 / 100e12 + 10 * 100e-6 / 256)


def test_each_card_computes_its_own_layers():
    blueprint = replace(made(9), use=Use(active_parameters=10**9))
    paces = {"a": pace("a", 1000, 100.0), "b": pace("b", 1000, 50.0)}
    speed = read(blueprint, Plan(), [ram(64), card(24, "a"), card(24, "b")], paces)
    assert [leg.pace.place for leg in speed.legs] == ["a", "b"]
    assert 1 / speed.mid_tps == pytest.approx(1e9 / 100e12 + 1e9 / 50e12)


def test_the_output_is_computed_for_the_last_token_alone():
    blueprint = replace(made(), use=Use(active_parameters=3 * 10**9, output_parameters=2 * 10**9))
    assert read(blueprint, Plan(), [ram(64)], {"host": pace(tflops=1.0)}).mid_tps == pytest.approx(1e12 / 2e9)
