"""How many tokens of a prompt are computed at a time."""

import pytest

from weighbridge_engines.prompt_steps import LEAST, MOST, prompt_step


@pytest.mark.parametrize(
    ("weights_bytes", "threads", "tokens"),
    [
        (81_000_000, 1, 64),  # 135 million weights: half a second is 81 tokens
        (81_000_000, 2, 160),
        (4_800_000_000, 8, LEAST),
        (1_000_000, 1, MOST),
        (0, 1, MOST),
    ],
)
def test_half_a_second_of_work(weights_bytes, threads, tokens):
    assert prompt_step(weights_bytes, threads) == tokens
