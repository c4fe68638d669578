"""How many tokens of a prompt a library is given at a time: it sees Stop only between two. Pure."""

from __future__ import annotations

STEP_S = 0.5
FLOP_S = 44e9
"""What a core with AVX2 does while a prompt is read, by 4-bit weights. Measured with a model of 135M parameters."""

BITS_PER_WEIGHT = 4.8
LEAST, MOST = 32, 512

CARD_BATCH = 1024
"""Tokens of a prompt at a time on a card, where they take no time worth waiting for."""


def prompt_step(weights_bytes: int, threads: int) -> int:
    """On a processor, what takes about STEP_S: two operations for each weight and token, as if weights had 4 bits."""
    weights = weights_bytes * 8 / BITS_PER_WEIGHT
    fitting = int(STEP_S * FLOP_S * threads / (2 * weights)) if weights else MOST
    return min(MOST, max(LEAST, fitting // LEAST * LEAST))
