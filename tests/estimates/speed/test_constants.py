"""The tables of constants that ship."""

from weighbridge.estimates.speed.constants import load_constants


def test_every_row_is_of_this_world():
    for row in load_constants().rows.values():
        assert 0.1 < row.streaming <= 1.0, row
        assert 1 < row.layer_us <= row.mixed_layer_us * 1.5 < 1000, row
        assert 0.05 < row.latent_streaming <= row.cache_streaming + 0.2 < 1.3, row
        assert 0 < row.prefill_share < 5, row
        assert 0 < row.mixed_prefill_share <= 1.5, row
        assert 0.05 < row.spread < 1.5, row
        assert row.source, row


def test_a_generation_without_a_row_has_that_of_its_api():
    table = load_constants()
    assert table.of("cuda", "ada").generation == "ada"
    assert table.of("cuda", "something newer").generation == ""
    assert table.of("cuda", None).generation == ""
    assert table.of("abacus", "ada") is None


def test_each_way_to_reach_a_device_has_a_row_of_its_own():
    apis = {api for api, generation in load_constants().rows if not generation}
    assert apis == {"cuda", "metal", "rocm", "vulkan", "sycl", "mlx", "exl", "cpu"}


def test_types_that_are_slow_to_unpack():
    table = load_constants()
    assert table.slow_types("metal")["IQ2"] < 1
    assert table.slow_types("cuda") == {}
