"""Settings of a load in words: their names, their values, why one is refused. For window and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weighbridge.base.explain import Explanation, explain_code
from weighbridge.base.units import THIN, number
from weighbridge.base.words import mark, text
from weighbridge.choices.setting_titles import TITLES
from weighbridge_engines.api import Cause

_FILES = ("adapters", "draft", "projector")
_UNITS: Mapping[str, str] = {"tokens": mark("tokens"), "layers": mark("layers")}
_UNIT_OF: Mapping[str, str] = {"gib": "GiB", "mib": "MiB"}
"""By the end of a setting's name."""
_OF_NAMES = ("name", "needs")
"""Values of a cause that are names of settings."""


def setting_name(name: str) -> str:
    """The name of a setting as a person reads it; one that we do not know is shown as it is."""
    return text(TITLES[name][0]) if name in TITLES else name


def setting_hint(name: str) -> str:
    """What it does, in a sentence; "" for one that we do not know."""
    return text(TITLES[name][1]) if name in TITLES else ""


def unit_in_words(unit: str) -> str:
    """ "tokens" in the language in use; other units are the same in each."""
    return text(_UNITS[unit]) if unit in _UNITS else unit


def value_in_words(value: object, absent: str = "") -> str:
    """A value of a setting; `absent` stands for None."""
    if value is None:
        return absent
    if isinstance(value, bool):
        return text("on") if value else text("off")
    if isinstance(value, int | float):
        return _figure(value)
    if isinstance(value, tuple | list):
        return ", ".join(value_in_words(one) for one in value)
    return str(value)


def setting_in_words(name: str, value: object, absent: str = "", *, with_unit: bool = True) -> str:
    """The value of the setting `name`: of files their names alone, of memory with its unit unless that stands beside
    it.
    """
    if name in _FILES and value:
        paths = value if isinstance(value, tuple | list) else (value,)
        return ", ".join(Path(str(path)).name for path in paths)
    unit = _UNIT_OF.get(name.rpartition("_")[2]) if with_unit and value is not None else None
    return f"{value_in_words(value, absent)}{THIN}{unit}" if unit else value_in_words(value, absent)


def refusal_in_words(cause: Cause) -> Explanation:
    """Why a setting cannot be so, with the settings it is about by their names."""
    named = {key: setting_name(str(cause.values[key])) for key in _OF_NAMES if key in cause.values}
    return explain_code(cause.code, {**cause.values, **named})


def _figure(value: float) -> str:
    """8192 -> "8,192"; 0.05 as it is written."""
    if isinstance(value, int) or float(value).is_integer():
        return number(value)
    digits = len(f"{value:.6g}".partition(".")[2]) if "e" not in f"{value:.6g}" else 6
    return number(value, digits)
