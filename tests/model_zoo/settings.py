"""The settings under which the engine is asked, and their short names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.estimates.plan import Plan

_NAME = re.compile(r"ctx(\d+)/ub(\d+)/(\w+)/seq(\d+)(/unified)?(/noflash)?(/whole)?")


@dataclass(frozen=True)
class Setting:
    """How a model is loaded."""

    context: int
    micro_batch: int = 512
    kv_type: str = "f16"
    slots: int = 1
    unified: bool = False
    flash: bool = True
    whole: bool = False

    @property
    def name(self) -> str:
        """As in "ctx8192/ub512/f16/seq4/unified"."""
        ends = "/unified" * self.unified + "/noflash" * (not self.flash) + "/whole" * self.whole
        return f"ctx{self.context}/ub{self.micro_batch}/{self.kv_type}/seq{self.slots}{ends}"

    @property
    def plan(self) -> Plan:
        """The same as a plan."""
        return Plan(
            context=self.context,
            slots=self.slots,
            unified=self.unified,
            key_type=self.kv_type,
            value_type=self.kv_type,
            batch=2048,
            micro_batch=self.micro_batch,
            flash_attention=self.flash,
            whole_window=self.whole,
        )


def setting(name: str) -> Setting:
    """The setting of that name."""
    match = _NAME.fullmatch(name)
    assert match is not None, name
    context, micro_batch, kv_type, slots, unified, noflash, whole = match.groups()
    return Setting(int(context), int(micro_batch), kv_type, int(slots), bool(unified), not noflash, bool(whole))


SETTINGS = (
    Setting(4096),
    Setting(32768),
    Setting(32768, kv_type="q8_0"),
    Setting(8192, micro_batch=2048),
    Setting(16384, slots=4),
    Setting(16384, slots=4, unified=True),
    Setting(8192, micro_batch=128),
    Setting(8192, flash=False),
)
"""The first five are those of the cases that a reader can compare with."""
WHOLE_WINDOW = Setting(32768, whole=True)
"""For models whose layers keep only a window."""
