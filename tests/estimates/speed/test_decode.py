"""How fast an answer is written."""

from dataclasses import replace

import pytest
from tests.estimates.speed.made_paces import pace

from weighbridge.estimates.speed.decode import decode
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.work import Work

GB = 10**9


def test_weights_over_bandwidth_and_layers_and_cache_add_up():
    work = Work("card", 32, 0, 4 * GB, GB // 2)
    speed = decode([work], {"card": pace("card", 1000, streaming=0.8, layer_us=50, cache_streaming=0.5)}, 512)
    assert speed.mid_tps == pytest.approx(1 / (0.0016 + 0.005 + 0.001))
    assert speed.depth == 512


@pytest.mark.parametrize(
    ("layers", "gb", "gbs", "streaming", "layer_us", "tps"),
    [
        (32, 3.75, 1008, 0.88, 38, 184),  # Llama-2-7B Q4_0 on an RTX 4090, 186.2 measured
        (32, 13.2, 546, 0.88, 150, 31.0),  # the same in F16 on an M4 Max, 31.6 measured
        (24, 2.56, 1792, 0.88, 80, 282),  # gpt-oss-20b on an RTX 5090, 282.5 measured
    ],
)
def test_published_figures_come_out(layers, gb, gbs, streaming, layer_us, tps):
    work = Work("card", layers, 0, int(gb * GB), 0)
    speed = decode([work], {"card": pace("card", gbs, streaming=streaming, layer_us=layer_us)}, 0)
    assert speed.mid_tps == pytest.approx(tps, rel=0.01)


def test_layers_with_experts_have_a_cost_of_their_own():
    work = Work("card", 1, 10, GB, 0)
    speed = decode([work], {"card": pace("card", 1000, layer_us=1000, mixed_layer_us=2000)}, 0)
    assert speed.mid_tps == pytest.approx(1 / (0.001 + 0.020 + 0.001))


def test_places_come_one_after_the_other():
    works = [Work("host", 10, 0, GB, 0), Work("card", 10, 0, 9 * GB, 0)]
    speed = decode(works, {"host": pace("host", 50), "card": pace("card", 900)}, 0)
    assert speed.mid_tps == pytest.approx(1 / (0.02 + 0.01 + 0.0001))
    assert [leg.seconds for leg in speed.legs] == pytest.approx([0.02, 0.01])


def test_a_bandwidth_that_is_a_range_widens_the_range_of_the_speed():
    work = Work("card", 0, 0, GB, 0)
    exact = decode([work], {"card": pace("card", 100)}, 0)
    wide = decode([work], {"card": replace(pace("card", 100), low_gbs=50.0, high_gbs=200.0)}, 0)
    assert (exact.low_tps, exact.mid_tps, exact.high_tps) == pytest.approx((80, 100, 125))
    assert (wide.low_tps, wide.mid_tps, wide.high_tps) == pytest.approx((40, 100, 250))


def test_a_place_whose_bandwidth_is_not_known_has_no_speed():
    assert decode([Work("card", 1, 0, GB, 0)], {}, 0) is None
    assert decode([], {"card": pace("card")}, 0) is None


def test_compressed_attention_and_a_cache_without_flash_attention_are_read_slower():
    plain = Work("card", 0, 0, 0, GB)
    paces = {"card": pace("card", 1)}
    seconds = [
        1 / decode([each], paces, 0).mid_tps
        for each in (plain, replace(plain, latent=True), replace(plain, flash=False))
    ]
    assert seconds == pytest.approx([1, 10, 2])


@pytest.mark.parametrize(
    ("type_name", "factor"), [("IQ2_XXS", 0.5), ("IQ2_M", 0.25), ("iq2_s", 0.5), ("Q4_K", 1.0), (None, 1.0)]
)
def test_types_that_are_slow_to_unpack_slow_the_reading(type_name, factor):
    slow = Pace("card", "", 1, 1, pace().constants, slow_types={"IQ2": 0.5, "IQ2_M": 0.25})
    speed = decode([Work("card", 0, 0, GB, 0, type_name=type_name)], {"card": slow}, 0)
    assert speed.mid_tps == pytest.approx(factor)


def test_a_processor_computes_while_it_reads():
    work = Work("host", 0, 0, GB, GB, parameters=4e9, scores=2e9)
    plain = pace("host", 10)
    bound = replace(plain, parameters_per_s=10e9, scores_per_s=5e9)
    ample = replace(plain, parameters_per_s=100e9, scores_per_s=100e9)
    found = [decode([work], {"host": each}, 0).mid_tps for each in (plain, bound, ample)]
    assert found == pytest.approx([1 / 0.2, 1 / 0.8, 1 / 0.2])
