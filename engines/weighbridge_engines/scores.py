"""What `/v1/score` is asked and what it answers: how likely a model finds each token of a text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge_engines.api import RequestRefused

MOST_TOKENS = 1 << 20


def scored_input(body: Mapping[str, Any]) -> str | list[int]:
    """The text or the tokens under `input`. Raises RequestRefused where it is neither."""
    told = body.get("input")
    if isinstance(told, str) and told:
        return told
    if isinstance(told, list) and 0 < len(told) <= MOST_TOKENS and all(map(_is_token, told)):
        return told
    raise RequestRefused("input is a text or a list of tokens, and not empty", "input")


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def scores(model: str, tokens: Sequence[int], logprobs: Sequence[float | None]) -> dict[str, Any]:
    """The answer: the tokens, and the natural logarithm of the probability of each after those before it."""
    return {"object": "score", "model": model, "tokens": list(tokens), "logprobs": list(logprobs)}
