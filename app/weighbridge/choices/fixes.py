"""What can be done about a load that failed or cannot be met: values that a window carries out and a command names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from weighbridge.choices.ways import Way
from weighbridge_engines.api import Load


class FixKind(StrEnum):
    """What is done, in the order of what that costs."""

    AGAIN = "again"
    END = "end"
    LOAD = "load"
    OTHER_ENGINE = "other_engine"
    USE_BUILD = "use_build"
    INSTALL_BUILD = "install_build"
    OTHER_MODEL = "other_model"
    SCAN = "scan"
    VERIFY = "verify"
    FETCH = "fetch"


@dataclass(frozen=True)
class Fix:
    """One thing to do about the load of `model_id`.

    AGAIN and LOAD: load it as `load` says; OTHER_ENGINE the same, by the engine called `title`. END: end `other_id`
    first, which gives back `freed_bytes`, then load it as `load` says. USE_BUILD and INSTALL_BUILD: `build_id`, called
    `title`; `verified`: somebody has run it. OTHER_MODEL: load `other_id` instead. SCAN: look into the folders again.
    VERIFY: read the file again. FETCH: get `repository` from the Hub again. `way` has the figures of what was weighed;
    None where there is nothing to weigh.
    """

    kind: FixKind
    model_id: str
    load: Load | None = None
    way: Way | None = None
    other_id: str = ""
    freed_bytes: int | None = None
    build_id: str = ""
    title: str = ""
    verified: bool = True
    repository: str = ""


def mended(code: str, load: Load, values: Mapping[str, object] | None = None) -> tuple[Load, ...]:
    """Loads without what `code` with its `values` says cannot be, the one that gives up least first; none where the
    load is not at fault. Pure.
    """
    told = values or {}
    changed = [replace(load, **change) for change in _CHANGED.get(code, ())]
    changed.append(replace(load, extra=_with_options(load.extra, _options(code, told))))
    if (context := _context_with_room(load.context, told)) is not None:
        changed.append(replace(load, context=context))
    return tuple(one for one in changed if one != load)


def _options(code: str, values: Mapping[str, object]) -> Mapping[str, Any]:
    """Options of one engine that are to be otherwise; None leaves one to the engine."""
    if "setting" in values and "instead" in values:
        return {str(values["setting"]): values["instead"]}
    return _OPTIONS.get(code, {})


def _with_options(extra: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in {**extra, **options}.items() if value is not None}


def _context_with_room(context: int | None, values: Mapping[str, object]) -> int | None:
    """A context for whose cache there is room: as the engine tells, or by what its cache needs and may have."""
    asked = values.get("context", context)
    offer, needed, available = (values.get(name) for name in ("offer", "needed_bytes", "available_bytes"))
    if not isinstance(asked, int):
        return None
    if isinstance(offer, int):
        return offer if 0 < offer < asked else None
    if not isinstance(needed, int) or not isinstance(available, int) or needed <= 0:
        return None
    found = asked * available // needed // _STEP * _STEP
    return found if 0 < found < asked else None


_STEP = 256
"""Tokens: a context that is calculated is a multiple of it."""

_OWN_SHARE: Mapping[str, Any] = {"memory_share": None}
"""Instead of a share of the card's memory that somebody has set: what the load needs, of what is free."""

_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "engine.no_shift": {"context_shift": None},
    "onnx_genai.other_build": {"provider": "cpu"},
    "onnx_genai.provider": {"provider": "cpu"},
    "openvino.cache_precision": {"cache_precision": None},
    "openvino.no_card_runtime": {"device": None},
    "program.card_not_free": _OWN_SHARE,
    "program.context_too_long": _OWN_SHARE,
    "program.dtype_needs_card": {"dtype": "float16"},
    "program.no_room_for_cache": _OWN_SHARE,
    "program.no_room_for_context": _OWN_SHARE,
}

_SMALLER_CACHE: dict[str, Any] = {"key_type": "q8_0", "value_type": "q8_0"}
_PLAIN_CACHE: dict[str, Any] = {"key_type": "f16", "value_type": "f16"}
_NO_ADAPTERS: dict[str, Any] = {"adapters": (), "adapter_scales": ()}
_NO_DRAFT: dict[str, Any] = {"draft": None}
_NO_PROJECTOR: dict[str, Any] = {"projector": None}
_NO_OPTIONS: dict[str, Any] = {"extra": {}}
_ON_PROCESSOR: dict[str, Any] = {"gpu_layers": 0, "cpu_experts": None, "split": None}
_CHANGED: Mapping[str, tuple[dict[str, Any], ...]] = {
    "engine.adapter_mismatch": (_NO_ADAPTERS,),
    "engine.bad_option": (_NO_OPTIONS,),
    "engine.cache_needs_flash": ({"flash_attention": None}, _PLAIN_CACHE),
    "engine.cache_type_size": (_SMALLER_CACHE, _PLAIN_CACHE),
    "engine.cache_type_unknown": (_SMALLER_CACHE, _PLAIN_CACHE),
    "engine.cannot_map": ({"mapped": False},),
    "engine.card_failed": (_ON_PROCESSOR,),
    "engine.card_not_built_for": (_ON_PROCESSOR,),
    "engine.draft_mismatch": (_NO_DRAFT,),
    "engine.driver": (_ON_PROCESSOR,),
    "engine.no_adapter_file": (_NO_ADAPTERS,),
    "engine.no_draft_file": (_NO_DRAFT,),
    "engine.no_draft_here": (_NO_DRAFT,),
    "engine.no_projector_file": (_NO_PROJECTOR,),
    "engine.no_small_cache": ({"key_type": None, "value_type": None},),
    "engine.no_strength": ({"adapter_scales": ()},),
    "engine.no_such_device": (_NO_OPTIONS,),
    "engine.projector_mismatch": (_NO_PROJECTOR,),
    "engine.projector_refused": (_NO_PROJECTOR,),
    "engine.template": ({"template": None},),
    "exl.no_head": ({"draft": None, "draft_kind": "simple"},),
    "exl.no_tensor_split": ({"split_mode": None},),
}
