"""How tokens are chosen, as settings: what a request may say, and what a load may say for requests that do not. Pure.

Names are those of OpenAI's and llama.cpp's requests; `parameter` is llama.cpp's own. Ranges are llama.cpp's where it
has them, OpenAI's for its two penalties, else what makes sense.
"""

from __future__ import annotations

from weighbridge_engines.controls import Change, Control, Home, Kind

_MOST = (1 << 31) - 1
_ANSWERS = frozenset({Change.ANSWERS})
_RANDOM = (1 << 32) - 1
SAMPLERS = (
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typ_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
    "infill",
    "adaptive_p",
)
"""llama.cpp's names of its samplers, for their order."""


def _number(name: str, parameter: str, low: float, high: float, default: float) -> Control:
    return Control(
        name, "sampling", Kind.NUMBER, f"sampling.{parameter}", _ANSWERS, Home.SAMPLING, low, high, default=default
    )


def _whole(name: str, parameter: str, low: int, high: int, default: int, unit: str = "") -> Control:
    return Control(
        name, "sampling", Kind.WHOLE, f"sampling.{parameter}", _ANSWERS, Home.SAMPLING, low, high, unit, default=default
    )


def _seed(value: int) -> int:
    """-1 is another one each time, which the library knows as its greatest number."""
    return _RANDOM if value < 0 else value


NUMBERS = (
    _number("temperature", "temp", 0, 100, 0.8),
    _whole("top_k", "top_k", 0, _MOST, 40, "tokens"),
    _number("top_p", "top_p", 0, 1, 0.95),
    _number("min_p", "min_p", 0, 1, 0.05),
    _number("typical_p", "typ_p", 0, 1, 1.0),
    _number("top_n_sigma", "top_n_sigma", -1, 100, -1.0),
    _number("dynatemp_range", "dynatemp_range", 0, 100, 0.0),
    _number("dynatemp_exponent", "dynatemp_exponent", 0, 100, 1.0),
    _number("xtc_probability", "xtc_probability", 0, 1, 0.0),
    _number("xtc_threshold", "xtc_threshold", 0, 1, 0.1),
    _number("repeat_penalty", "penalty_repeat", 0, 100, 1.0),
    _whole("repeat_last_n", "penalty_last_n", 0, _MOST, 64, "tokens"),
    _number("frequency_penalty", "penalty_freq", -2, 2, 0.0),
    _number("presence_penalty", "penalty_present", -2, 2, 0.0),
    _number("dry_multiplier", "dry_multiplier", 0, 100, 0.0),
    _number("dry_base", "dry_base", 1, 100, 1.75),
    _whole("dry_allowed_length", "dry_allowed_length", 0, _MOST, 2, "tokens"),
    _whole("dry_penalty_last_n", "dry_penalty_last_n", 0, _MOST, 64, "tokens"),
    _whole("mirostat", "mirostat", 0, 2, 0),
    _number("mirostat_tau", "mirostat_tau", 0, 100, 5.0),
    _number("mirostat_eta", "mirostat_eta", 0, 100, 0.1),
    _number("adaptive_target", "adaptive_target", -1, 1, -1.0),
    _number("adaptive_decay", "adaptive_decay", 0, 0.99, 0.9),
    _whole("min_keep", "min_keep", 0, _MOST, 0, "tokens"),
    Control(
        "seed", "sampling", Kind.WHOLE, "sampling.seed", _ANSWERS, Home.SAMPLING, -1, _RANDOM, default=-1, made=_seed
    ),
)
"""What a request may say with a number."""

FORMS = (
    Control("ignore_eos", "sampling", Kind.SWITCH, "sampling.ignore_eos", _ANSWERS, Home.SAMPLING, default=False),
    Control("samplers", "sampling", Kind.TEXT, "sampling.samplers", _ANSWERS, Home.SAMPLING),
    Control("max_tokens", "sampling", Kind.WHOLE, "n_predict", _ANSWERS, Home.SAMPLING, -1, _MOST, "tokens"),
    Control("grammar", "sampling", Kind.TEXT, "sampling.grammar", _ANSWERS, Home.SAMPLING),
    Control("json_schema", "sampling", Kind.JSON, "sampling.json_schema", _ANSWERS, Home.SAMPLING),
)

OF_REQUESTS = frozenset({"top_n_sigma", "min_keep"})
"""What a request alone can say: the library, or the program, has no word for it at a load."""

SAMPLING = tuple(control for control in (*NUMBERS, *FORMS) if control.name not in OF_REQUESTS)
"""All that a load may say for its requests."""

_FROM_THE_FILE = (
    "samplers",
    "top_k",
    "top_p",
    "min_p",
    "xtc_probability",
    "xtc_threshold",
    "temperature",
    "repeat_last_n",
    "repeat_penalty",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
)
"""What a model's file may recommend, in the order of llama.cpp's bits."""


def told_bits(names: frozenset[str]) -> int:
    """llama.cpp's mask of values that a user has told, so that what the file recommends does not replace them."""
    return sum(1 << bit for bit, name in enumerate(_FROM_THE_FILE) if name in names)
