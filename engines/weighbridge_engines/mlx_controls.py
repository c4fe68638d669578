"""What a load may say to mlx-lm, and what that means for it: settings as data, their check, the cache's form. Pure.

Names are those of the other engines' settings where they mean the same. The types of a quantised cache are called by
llama.cpp's names of the same bits: MLX keeps groups of elements with a scale and a bias each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbridge_engines.api import Cause, Load, Unsupported
from weighbridge_engines.controls import Change, Control, Home, Kind, check
from weighbridge_engines.sampling import FORMS, NUMBERS

BITS: Mapping[str, int] = {"q8_0": 8, "q4_0": 4}
"""mlx-lm's cache packs these; other numbers of bits that MLX knows it lays out wrongly."""

CACHE_TYPES = ("f32", "f16", "bf16", *BITS)
COMPUTE_TYPES: Mapping[str, str] = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
"""MLX's names of floating types, and those that a cache of such a type goes by."""

GROUPS = ("32", "64", "128")
DEFAULT_GROUP = 64
DRAFT_TOKENS = 3
MOST_XTC = 0.5
"""From here on two tokens cannot both be so likely: mlx-lm takes no greater threshold."""

_MOST_TOKENS = 1 << 30
_MEMORY = frozenset({Change.MEMORY})
_SPEED = frozenset({Change.SPEED})
_ANSWERS = frozenset({Change.ANSWERS})
_ALL = _MEMORY | _SPEED | _ANSWERS

SAMPLED = frozenset(
    {
        "temperature", "top_k", "top_p", "min_p", "min_keep", "xtc_probability", "xtc_threshold", "repeat_penalty",
        "repeat_last_n", "frequency_penalty", "presence_penalty", "seed",
    }
)  # fmt: skip
"""What a request may say of how tokens are chosen."""

_FOREIGN = (
    "batch_threads", "micro_batch", "unified", "flash_attention", "whole_window", "cpu_experts", "split", "split_mode",
    "main_gpu", "mapped", "projector",
)  # fmt: skip
"""Fields of a load that mlx-lm has no word for. Where layers lie, which may be asked of every load, is told instead:
all of them are where MLX computes.
"""


def _sampling() -> Iterator[Control]:
    for control in NUMBERS:
        if control.name in SAMPLED - {"min_keep"}:
            yield replace(control, high=MOST_XTC) if control.name == "xtc_threshold" else control
    yield from (control for control in FORMS if control.name != "samplers")


_OF_LOADS = (
    Control("context", "context", Kind.WHOLE, "", _MEMORY | _ANSWERS, low=2, high=_MOST_TOKENS, unit="tokens"),
    Control("slots", "context", Kind.WHOLE, "", _MEMORY, low=1, high=1, default=1),
    Control("key_type", "context", Kind.CHOICE, "kv_bits", _ALL, choices=CACHE_TYPES),
    Control("value_type", "context", Kind.CHOICE, "kv_bits", _ALL, choices=CACHE_TYPES),
    Control("cache_group", "context", Kind.CHOICE, "kv_group_size", _ALL, Home.EXTRA, choices=GROUPS,
            default=str(DEFAULT_GROUP)),
    Control("cache_quantised_from", "context", Kind.WHOLE, "quantized_kv_start", _ALL, Home.EXTRA, low=0,
            high=_MOST_TOKENS, unit="tokens", default=0),
    Control("context_shift", "context", Kind.SWITCH, "max_kv_size", _MEMORY | _ANSWERS, Home.EXTRA, default=False),
    Control("batch", "prompt", Kind.WHOLE, "prefill_step_size", _MEMORY | _SPEED, low=1, high=65_536, unit="tokens"),
    Control("compute_type", "processor", Kind.CHOICE, "", _ALL, Home.EXTRA, choices=tuple(COMPUTE_TYPES)),
    Control("draft", "beside", Kind.FILE, "draft_model", _MEMORY | _SPEED),
    Control("draft_tokens", "beside", Kind.WHOLE, "num_draft_tokens", _SPEED, Home.EXTRA, low=1, high=64,
            unit="tokens", default=DRAFT_TOKENS),
    Control("adapters", "beside", Kind.FILES, "adapter_path", _ALL),
    Control("adapter_scales", "beside", Kind.NUMBERS, "scale", _ANSWERS, low=-100, high=100),
    Control("template", "form", Kind.TEXT, "", _ANSWERS),
    Control("template_values", "form", Kind.VALUES, "", _ANSWERS, Home.EXTRA),
)  # fmt: skip

CONTROLS: tuple[Control, ...] = (*_OF_LOADS, *_sampling())
"""The settings that this engine follows. It gives one answer at a time."""


@dataclass(frozen=True)
class CacheForm:
    """How what was read is kept: in `bits`, None as it was computed, in groups of `group` elements, once a text has
    `start` tokens; in the last `most` tokens alone, None in all.
    """

    bits: int | None = None
    group: int = DEFAULT_GROUP
    start: int = 0
    most: int | None = None


def cache_form(load: Load) -> CacheForm:
    """What `load`, which is checked, asks for."""
    told = load.key_type or load.value_type
    most = load.context if load.extra.get("context_shift") else None
    group = int(load.extra.get("cache_group", DEFAULT_GROUP))
    return CacheForm(BITS.get(told or ""), group, load.extra.get("cache_quantised_from", 0), most)


def draft_tokens(load: Load) -> int:
    """How many tokens its draft proposes at a time."""
    told: int = load.extra.get("draft_tokens", DRAFT_TOKENS)
    return told


def checked(load: Load) -> None:
    """Raise Unsupported, with a "setting." code that names it, where `load` asks for what cannot be followed."""
    check(load, CONTROLS)
    for name in _FOREIGN:
        if getattr(load, name) is not None:
            raise Unsupported(Cause("setting.unknown", {"name": name}))
    if load.task != "chat":
        raise Unsupported(Cause("setting.choice", {"name": "task", "value": load.task, "known": "chat"}))
    if load.draft_kind != "simple":
        raise Unsupported(Cause("setting.choice", {"name": "draft_kind", "value": load.draft_kind, "known": "simple"}))
    if len(load.adapters) > 1:
        values = {"name": "adapters", "value": str(len(load.adapters)), "low": "0", "high": "1", "unit": ""}
        raise Unsupported(Cause("setting.range", values))
    for name, needs, met in _needs(load):
        if not met:
            raise Unsupported(Cause("setting.needs", {"name": name, "needs": needs}))


def _needs(load: Load) -> Iterator[tuple[str, str, bool]]:
    """What is asked for, what it needs, and whether that is so."""
    extra: Mapping[str, Any] = load.extra
    bits = {BITS.get(kind) for kind in (load.key_type, load.value_type) if kind is not None}
    quantised = bool(bits - {None})
    yield "value_type", "key_type", len(bits) <= 1
    for name in ("cache_group", "cache_quantised_from"):
        if name in extra:
            yield name, "key_type", quantised
    if "cache_quantised_from" in extra:
        yield "cache_quantised_from", "draft", load.draft is None  # mlx-lm would lose the quantised one
    if extra.get("context_shift"):
        yield "context_shift", "context", load.context is not None
        yield "context_shift", "key_type", not quantised
        yield "context_shift", "draft", load.draft is None
    if "draft_tokens" in extra:
        yield "draft_tokens", "draft", load.draft is not None
    if load.adapter_scales:
        yield "adapter_scales", "adapters", len(load.adapter_scales) == len(load.adapters)
    if "grammar" in load.sampling:
        yield "grammar", "json_schema", "json_schema" not in load.sampling
