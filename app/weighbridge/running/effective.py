"""What an engine's log says of a load (stage, effective values, buffers), against what was asked for. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weighbridge.running.state import Setting
from weighbridge_engines.api import Load
from weighbridge_engines.sampling import SAMPLING

SHOWN = ("context", "threads", "gpu_layers", "slots", "batch", "flash_attention")
SHOWN_IF_ASKED = (
    "batch_threads",
    "micro_batch",
    "unified",
    "key_type",
    "value_type",
    "whole_window",
    "prompt_cache_mib",
    "checkpoints",
    "cpu_experts",
    "split",
    "split_mode",
    "main_gpu",
    "mapped",
    "projector",
    "draft",
    "adapters",
    "adapter_scales",
    "template",
)
"""Settings that are left to the engine as a rule."""

_OF_THE_STAGE = ("stage", "done", "total")

TOLD_ALONE = ("cache_tokens", "concurrency", "device", "dtype")
"""What engines tell that nobody asks for: the tokens that the KV cache has room for, how many full contexts that is,
on what they chose to compute, and in which type of floats.
"""

_REASONS = frozenset({"setting.device_card", "setting.device_full", "setting.device_only", "setting.device_shared"})
"""Why an engine chose by itself, as it may tell as "because"."""

_FILES = ("projector", "draft", "adapters")
"""Told once for each file."""

_OF_THE_SERVER = ("slot_context", "prompt_cache_mib", "checkpoints", "checkpoint_step", "draft_kind", "draft_tokens",
                  "draft_least_tokens", "draft_least_probability")  # fmt: skip
"""Told after a draft is loaded, and not of it."""

_OF_ANSWERS = frozenset(control.name for control in SAMPLING)
"""Told at each answer. The first is ours, and asks for nothing: it has what the load says."""

_PADDED_TO = 256
_PRINTED = 0.0005
"""The engine prints three digits behind the point."""


@dataclass(frozen=True)
class Told:
    """All that the log has told so far.

    `steps` are how many of how many steps of the stage are done, None where that was not told. `buffers` are sums in
    bytes over the engine's lines, `held` the same for each device that was named.
    """

    stage: str = "starting"
    steps: tuple[int, int] | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def with_line(self, reported: Mapping[str, int | float | str | bool]) -> Told:
        """This, and what one more line reported."""
        if not reported:
            return self
        added = {name: int(value) for name, value in reported.items() if name.endswith("_bytes")}
        values = self._values(reported, added)
        device = str(reported.get("device", "")) if added else ""
        if not values and not added and "stage" not in reported:
            return self
        return replace(
            self,
            stage=str(reported.get("stage", self.stage)),
            steps=_steps(reported) if "stage" in reported else self.steps,
            values={**self.values, **values},
            buffers=_sums(self.buffers, added),
            held={**self.held, device: _sums(self.held.get(device, {}), added)} if device else self.held,
        )

    def _values(
        self, reported: Mapping[str, int | float | str | bool], buffers: Mapping[str, int]
    ) -> dict[str, object]:
        """Once a draft is loaded, what is told of contexts and caches is its own: that of the model stands before."""
        found: dict[str, object] = {}
        for name, value in reported.items():
            if name in ("adapters", "unused"):
                found[name] = (*_texts(self.values.get(name)), str(value))
            elif name not in (*buffers, *_OF_THE_STAGE, "device" if buffers else "") and self._takes(name):
                found[name] = value
        return found

    def _takes(self, name: str) -> bool:
        if name in _OF_ANSWERS:
            return name not in self.values
        drafted = "draft" in self.values or "draft_kind" in self.values
        return name in _FILES or name in _OF_THE_SERVER or not drafted


def _texts(told: object) -> tuple[str, ...]:
    return tuple(map(str, told)) if isinstance(told, tuple) else ()


def _steps(reported: Mapping[str, int | float | str | bool]) -> tuple[int, int] | None:
    """What is told of steps, as far as it makes sense."""
    done, total = reported.get("done"), reported.get("total")
    return (done, total) if isinstance(done, int) and isinstance(total, int) and 0 <= done <= total > 0 else None


def _sums(sums: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {**sums, **{name: sums.get(name, 0) + amount for name, amount in added.items()}}


def settings(load: Load, told: Told, known: Collection[str] = ()) -> tuple[Setting, ...]:
    """Requested and effective, side by side, for what was asked for or told. `known` are the names of the settings that
    the engine has; empty where it tells of none.
    """
    asked = {name: getattr(load, name) or None if name.startswith("adapter") else getattr(load, name)
             for name in (*SHOWN, *SHOWN_IF_ASKED)}  # fmt: skip
    asked |= {"slot_context": _share(load), **load.sampling, **load.extra}
    values = _completed(load, told.values)
    asked |= {name: None for name in TOLD_ALONE if name not in asked}
    rows = [_setting(load, name, requested, values) for name, requested in asked.items()]
    rows = [_unused(row, values, known) for row in rows]
    return tuple(
        row
        for row in rows
        if (row.requested is not None and row.name != "slot_context")
        or (row.effective is not None and (row.name in (*SHOWN, *TOLD_ALONE) or _is_worth_telling(row, values)))
    )


def _is_worth_telling(row: Setting, values: Mapping[str, object]) -> bool:
    return row.name == "slot_context" and row.effective != values.get("context")


def _share(load: Load) -> int | None:
    """What one request may have of the context that was asked for."""
    if load.context is None or load.slots == 1 or load.unified is not False:
        return load.context
    return load.context // load.slots


def _completed(load: Load, values: Mapping[str, object]) -> Mapping[str, object]:
    """llama.cpp says nothing of layers where it has no device for them: then it has none there."""
    silent = load.gpu_layers is not None and "gpu_layers" not in values and "trained_context" in values
    return {**values, "gpu_layers": 0} if silent and "context" in values else values


def _unused(row: Setting, values: Mapping[str, object], known: Collection[str]) -> Setting:
    """A setting that was asked for and that nothing came of, with the reason where that is known."""
    if row.requested is None or row.effective is not None or row.name in _NOT_SET:
        return row
    if row.name in _texts(values.get("unused")):
        return replace(row, reason="setting.unused_here")
    return replace(row, reason="setting.not_of_engine") if known and row.name not in known else row


_NOT_SET = ("slots", "slot_context")
"""What every load has, whether its engine knows it or not."""


def _setting(load: Load, name: str, requested: object, values: Mapping[str, object]) -> Setting:
    effective = values.get(name)
    if requested is None and name == "device":
        because = str(values.get("because"))
        return Setting(name, None, effective, because if because in _REASONS else None)
    if _same(requested, effective):
        return Setting(name, requested, requested)
    setting = Setting(name, requested, effective)
    return replace(setting, reason=_reason(load, setting, values)) if setting.differs else setting


def _same(requested: object, effective: object) -> bool:
    """Whether the two are the same number as far as the engine prints it."""
    numbers = isinstance(requested, int | float) and isinstance(effective, float)
    return numbers and math.isclose(requested, effective, rel_tol=_PRINTED, abs_tol=_PRINTED)  # type: ignore[arg-type] # both are numbers


Because = Callable[[int, int, Mapping[str, object]], bool]

_CAUSES: Sequence[tuple[str, tuple[str, ...], Because]] = (
    ("setting.padded", ("context", "slot_context"), lambda asked, got, _: got == _aligned(asked)),
    (
        "setting.capped_to_training",
        ("slot_context", "context"),
        lambda asked, got, told: got == told.get("trained_context"),
    ),
    ("setting.no_device", ("gpu_layers",), lambda asked, got, told: got == 0 and "layers" not in told),
    ("setting.all_layers", ("gpu_layers",), lambda asked, got, told: got == told.get("layers") and got < asked),
    ("setting.capped_to_context", ("batch", "micro_batch"), lambda asked, got, told: got == told.get("context")),
    (
        "setting.capped_to_batch",
        ("micro_batch", "batch"),
        lambda asked, got, told: got == told.get("batch") and got < asked,
    ),
    ("setting.no_window", ("whole_window",), lambda asked, got, _: bool(asked) and not got),
    ("setting.no_flash_attention", ("flash_attention",), lambda asked, got, _: bool(asked) and not got),
)
"""Reasons, for which settings, and whether one holds: of what was asked for, what came of it, and all that was told."""


def _reason(load: Load, setting: Setting, values: Mapping[str, object]) -> str:
    asked, got = setting.requested, setting.effective
    if setting.name == "prompt_cache_mib" and load.adapters:
        return "setting.no_prompts_with_adapters"
    if setting.name in ("batch", "micro_batch") and load.task != "chat":
        return "setting.whole_batch"
    if setting.name == "context" and got == _shared_out(load):
        return "setting.padded"
    if setting.name in ("batch", "micro_batch") and got == load.context:
        return "setting.capped_to_context"
    if isinstance(asked, int) and isinstance(got, int):
        for code, names, holds in _CAUSES:
            if setting.name in names and holds(asked, got, values):
                return code
    return "setting.changed_by_engine"


def _shared_out(load: Load) -> int | None:
    """What comes of the context that was asked for where each slot has a cache of its own: each is padded."""
    if load.context is None or load.unified is not False:
        return None
    return load.slots * _aligned(_aligned(load.context) // load.slots)


def _aligned(tokens: int) -> int:
    return -(-tokens // _PADDED_TO) * _PADDED_TO
