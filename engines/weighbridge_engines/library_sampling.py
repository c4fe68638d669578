"""How a library that has some of the usual samplers is told to choose tokens. Pure.

What a request asks for and the library does not have is refused, unless the value asked for does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.controls import Control
from weighbridge_engines.sampling import NUMBERS, SAMPLING

DEFAULTS: Mapping[str, float] = {control.name: control.default for control in NUMBERS}

_OFF: Mapping[str, float] = {
    "min_p": 0,
    "typical_p": 1,
    "top_n_sigma": -1,
    "dynatemp_range": 0,
    "xtc_probability": 0,
    "repeat_penalty": 1,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "dry_multiplier": 0,
    "mirostat": 0,
    "adaptive_target": -1,
    "min_keep": 0,
}
"""The values at which a sampler does nothing."""

_PARTS = frozenset(
    {
        "dynatemp_exponent", "xtc_threshold", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "mirostat_tau",
        "mirostat_eta", "adaptive_decay",
    }
)  # fmt: skip
"""What only says how another sampler works."""


def controls_of(names: Collection[str], parameters: Mapping[str, str]) -> tuple[Control, ...]:
    """The settings of sampling that are `names`; `parameters` are the library's own words for them."""
    found = (control for control in SAMPLING if control.name in names)
    return tuple(replace(control, parameter=parameters.get(control.name, control.name)) for control in found)


def chosen(asked: Mapping[str, float], able: Collection[str]) -> dict[str, float]:
    """What holds for an answer by a library that is `able` to so much: what is asked for, else what is usual.

    Raises RequestRefused, which names the field, for what it is not able to.
    """
    for name, value in asked.items():
        if name not in able and name not in _PARTS and value != _OFF.get(name):
            raise RequestRefused(f"this engine has no {name}", name)
    return {name: asked.get(name, value) for name, value in DEFAULTS.items() if name in able}


def is_greedy(values: Mapping[str, float]) -> bool:
    """Whether only the likeliest token is left to choose."""
    return (
        values["temperature"] <= 0
        or values.get("top_k") == 1
        or values.get("top_p", 1) <= 0
        or values.get("min_p", 0) >= 1
    )


def check_penalty(values: Mapping[str, float]) -> None:
    """Raise RequestRefused for a penalty by which these libraries would divide by nothing."""
    if values.get("repeat_penalty", 1) <= 0:
        raise RequestRefused("repeat_penalty is above 0 here", "repeat_penalty")
