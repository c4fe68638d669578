from weighbridge.formats.ggml_types import TYPES, tensor_bytes


def test_bytes_of_a_tensor():
    assert tensor_bytes(0, [3, 5]) == 60
    assert tensor_bytes(12, [512, 2]) == 4 * 144
    assert tensor_bytes(3, [576, 49152]) == 576 * 49152 // 32 * 20


def test_a_dimension_of_zero_is_no_bytes():
    assert tensor_bytes(12, [0]) == 0
    assert tensor_bytes(12, [256, 0]) == 0


def test_unknown_is_none():
    assert tensor_bytes(4, [32]) is None
    assert tensor_bytes(99, [32]) is None
    assert tensor_bytes(12, [255]) is None


def test_bits_for_each_weight():
    assert TYPES[12].bits_per_weight == 4.5
    assert TYPES[8].bits_per_weight == 8.5
