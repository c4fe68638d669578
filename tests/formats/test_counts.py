import pytest

from weighbridge.formats.counts import active_parameters, bits_per_weight
from weighbridge.formats.gguf_tensors import Tensor


def made(*names, elements=100, size_bytes=50):
    return [Tensor(name, 12, (elements,), 0, size_bytes) for name in names]


DENSE = ("token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_up.weight", "output_norm.weight", "output.weight")
MIXED = ("blk.1.ffn_gate_inp.weight", "blk.1.ffn_up_shexp.weight", "blk.1.ffn_gate_exps.weight")


@pytest.mark.parametrize(
    ("names", "experts", "layers", "count"),
    [
        (DENSE, (None, None), 1, 400),
        (DENSE[:-1], (None, None), 1, 400),
        (DENSE + MIXED, (8, 2), 2, 400 + 200 + 25),
        (DENSE + MIXED + ("blk.1.ffn_up_exps.bias", "blk.1.ffn_down_chexps.weight"), (8, 2), 2, 400 + 200 + 75),
        (DENSE + MIXED, (None, 2), 2, None),
        (DENSE + MIXED, (8, None), 2, None),
        (DENSE + MIXED, (8, 2), 1, 400),
        (DENSE + MIXED, (8, 2), None, 400 + 200 + 25),
        ((*DENSE, "per_layer_token_embd.weight", "position_embd.weight", "token_types.weight"), (None, None), 1, 400),
    ],
)
def test_what_a_token_touches(names, experts, layers, count):
    assert active_parameters(made(*names), *experts, layers) == count


def test_bits_for_each_weight():
    assert bits_per_weight(made("a", "b")) == 4.0
    assert bits_per_weight([]) is None
    assert bits_per_weight([*made("a"), Tensor("b", 99, (4,), 0, None)]) is None
