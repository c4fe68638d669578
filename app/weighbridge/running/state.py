"""What is known about running engines, as immutable values that any thread may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from weighbridge.base.errors import WeighbridgeError
from weighbridge_engines.api import Load


class State(StrEnum):
    """The life of an engine process: stopped -> loading -> ready -> stopping -> stopped, or failed."""

    STOPPED = "stopped"
    LOADING = "loading"
    READY = "ready"
    STOPPING = "stopping"
    FAILED = "failed"


@dataclass(frozen=True)
class Setting:
    """One value of a load: what was asked for, and what the engine really uses.

    `requested` None: left to the engine; `effective` None: unknown.

    `reason` is a code of `base.explain`: why the two differ, why the engine chose so where nothing was asked for, or
    why it has no use for what was.
    """

    name: str
    requested: object
    effective: object
    reason: str | None = None

    @property
    def differs(self) -> bool:
        """True where something was asked for and the engine uses something else."""
        return self.requested is not None and self.effective is not None and self.requested != self.effective

    @property
    def unused(self) -> bool:
        """True where something was asked for of which the engine makes no use."""
        return self.requested is not None and self.effective is None and self.reason is not None


@dataclass(frozen=True)
class Running:
    """One engine process, as it was when this value was made.

    `since_s` is `time.monotonic()` at the start of the state, `moved_s` when it last showed that it goes on.
    `stage` is one of `api.STAGES` while loading, `steps` how many of how many steps of it are done, None where the
    engine does not tell. `memory_bytes` is the resident memory of the process group,
    `private_bytes` the part of it that its end makes available: pages of a mapped file may be so already. `buffers`
    is what the engine said it allocated ("weights_bytes", "kv_bytes", "compute_bytes", ...), `held` the same by
    device, where it named one. `sees_alone`: whether it sees pictures is told by its answers. `error` is set where it
    failed. `build` is that of `engine_id` which runs, "" for
    the one beside this program.
    """

    model_id: str
    title: str
    engine_id: str
    state: State
    load: Load
    settings: tuple[Setting, ...] = ()
    stage: str = "starting"
    steps: tuple[int, int] | None = None
    since_s: float = 0.0
    moved_s: float = 0.0
    pid: int | None = None
    url: str | None = None
    in_flight: int = 0
    waiting: int = 0
    pinned: bool = False
    memory_bytes: int | None = None
    private_bytes: int | None = None
    buffers: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sees_alone: bool = False
    error: WeighbridgeError | None = None
    build: str = ""
    log: tuple[str, ...] = ()

    def still_s(self, now_s: float) -> float | None:
        """How long a load has shown no sign of going on; None where nothing loads. It may go on all the same."""
        return max(0.0, now_s - max(self.moved_s, self.since_s)) if self.state is State.LOADING else None

    @property
    def context(self) -> int | None:
        """The context length that the engine really uses; None where it has not said."""
        return self._effective("context")

    @property
    def slot_context(self) -> int | None:
        """What one request may have of it: slots that do not share it have a part each. None where it is not said."""
        return self._effective("slot_context") or self.context

    def _effective(self, name: str) -> int | None:
        for setting in self.settings:
            if setting.name == name and isinstance(setting.effective, int):
                return setting.effective
        return None


_MOVED_BYTES = 1 << 20


def goes_on(before: Running, after: Running) -> bool:
    """Whether `after` shows that a load went on: another stage or step of it, more buffers, more memory. Pure."""
    if (before.state, before.stage, before.steps) != (after.state, after.stage, after.steps):
        return True
    if before.buffers != after.buffers:
        return True
    return abs((after.memory_bytes or 0) - (before.memory_bytes or 0)) >= _MOVED_BYTES
