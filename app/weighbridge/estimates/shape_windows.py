"""Which layers of a GGUF model look back over a window only.

Source: the `load_arch_hparams` of each architecture in llama.cpp, `load_swa_pattern` and `set_swa_pattern`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.formats.keys import Keys
from weighbridge.formats.model import MAX_LAYERS

_WINDOW, _PATTERN = "attention.sliding_window", "attention.sliding_window_pattern"


@dataclass(frozen=True)
class _Windows:
    """All but every `period`-th layer have a window (the first of each group is full, or the last); 0: all of them.

    `tokens` stands in where the header names no window, `forced` whatever it names; None: then there is none. A
    `period` of None: the header must say it layer by layer.
    """

    period: int | None
    tokens: int | None = None
    first_is_full: bool = False
    forced: int | None = None


_WINDOWS: Mapping[str, _Windows] = {
    "afmoe": _Windows(4),
    "cohere2": _Windows(4),
    "cohere2moe": _Windows(4, first_is_full=True),
    "deepseek4": _Windows(0),
    "dots3note": _Windows(None),
    "exaone-moe": _Windows(4, tokens=128),
    "exaone4": _Windows(4, tokens=4096),
    "gemma2": _Windows(2, tokens=4096),
    "gemma3": _Windows(6),
    "gemma3n": _Windows(5),
    "gemma4": _Windows(None),
    "gpt-oss": _Windows(2),
    "granite_swa": _Windows(None),
    "laguna": _Windows(4, first_is_full=True),
    "lfm2": _Windows(0),
    "llama4": _Windows(4, forced=8192),
    "maple": _Windows(None),
    "mellum": _Windows(4),
    "mimo2": _Windows(None),
    "muse-glimmer": _Windows(4),
    "olmo2": _Windows(4),
    "plamo3": _Windows(8),
    "smallthinker": _Windows(4, first_is_full=True, forced=4096),
    "spark2_5": _Windows(None),
    "step35": _Windows(None),
}
_EXAONE4_LAYERS = 64
"""Only the largest model of EXAONE 4 has windows."""


def windows(architecture: str, keys: Keys, count: int, trunk: int) -> Sequence[int | None]:
    """The window of each of `count` layers, None for those without; after `trunk` layers come those that predict."""
    rule = _WINDOWS.get(architecture)
    tokens = _tokens(architecture, rule, keys.count(_WINDOW), trunk) if rule else None
    if rule is None or not tokens:
        return (None,) * count
    return [tokens if is_short else None for is_short in _short(rule, keys, count, trunk)]


def _tokens(architecture: str, rule: _Windows, told: int | None, trunk: int) -> int | None:
    if architecture == "exaone4" and trunk != _EXAONE4_LAYERS:
        return None
    if architecture == "smallthinker" and not told:
        return None
    if rule.forced is not None and told != 0:
        return rule.forced
    return rule.tokens if told is None else told


def _short(rule: _Windows, keys: Keys, count: int, trunk: int) -> Sequence[bool]:
    told = keys.flags(_PATTERN, count) or keys.flags(_PATTERN, trunk)
    if told is not None:
        return [*told, *(False,) * (count - len(told))]
    period = keys.count(_PATTERN, MAX_LAYERS) if rule.period else None
    period = rule.period if period is None else period
    if period is None:
        return (False,) * count
    return [number < trunk and _is_short(number, period, rule.first_is_full) for number in range(count)]


def _is_short(number: int, period: int, first_is_full: bool) -> bool:
    if period == 0:
        return True
    return number % period != 0 if first_is_full else number % period < period - 1
