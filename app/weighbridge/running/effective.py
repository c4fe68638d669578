"""What an engine's log says of a load (stage, effective values, buffers), against what was asked for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from weighbridge.running.state import Setting
from weighbridge_engines.api import Load

SHOWN = ("context", "threads", "gpu_layers", "slots", "batch", "flash_attention")
SHOWN_IF_ASKED = (
    "micro_batch",
    "unified",
    "key_type",
    "value_type",
    "whole_window",
    "cpu_experts",
    "split",
    "mapped",
    "projector",
    "draft",
    "adapters",
)
"""Settings that are left to the engine as a rule."""

_FILES = ("projector", "draft", "adapters")
"""Told once for each file."""

_PADDED_TO = 256


@dataclass(frozen=True)
class Told:
    """All that the log has told so far.

    `buffers` are sums in bytes over the engine's lines, `held` the same for each device that was named.
    """

    stage: str = "starting"
    values: Mapping[str, object] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def with_line(self, reported: Mapping[str, int | float | str | bool]) -> Told:
        """This, and what one more line reported."""
        if not reported:
            return self
        added = {name: int(value) for name, value in reported.items() if name.endswith("_bytes")}
        values = self._values(reported, added)
        device = str(reported.get("device", ""))
        return replace(
            self,
            stage=str(reported.get("stage", self.stage)),
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
            if name == "adapters":
                found[name] = (*_texts(self.values.get(name)), str(value))
            elif name not in (*buffers, "stage", "device") and (name in _FILES or "draft" not in self.values):
                found[name] = value
        return found


def _texts(told: object) -> tuple[str, ...]:
    return tuple(map(str, told)) if isinstance(told, tuple) else ()


def _sums(sums: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {**sums, **{name: sums.get(name, 0) + amount for name, amount in added.items()}}


def settings(load: Load, told: Told) -> tuple[Setting, ...]:
    """Requested and effective, side by side, for what was asked for or told."""
    asked = {name: getattr(load, name) for name in (*SHOWN, *SHOWN_IF_ASKED)} | {"adapters": load.adapters or None}
    rows = [_setting(name, requested, told.values.get(name)) for name, requested in asked.items()]
    return tuple(
        row
        for row in rows
        if row.requested is not None or (row.effective is not None and row.name not in SHOWN_IF_ASKED)
    )


def _setting(name: str, requested: object, effective: object) -> Setting:
    setting = Setting(name, requested, effective)
    return replace(setting, reason=_reason(setting)) if setting.differs else setting


def _reason(setting: Setting) -> str:
    padded = isinstance(setting.requested, int) and -(-setting.requested // _PADDED_TO) * _PADDED_TO
    if setting.name == "context" and setting.effective == padded:
        return "setting.padded"
    return "setting.changed_by_engine"
