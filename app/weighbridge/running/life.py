"""What is known of one engine while it lives. Written by one thread at a time, read by any."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.library.model import Model
from weighbridge.running.effective import Told, settings
from weighbridge.running.log import LogRing
from weighbridge.running.sight import sees_alone
from weighbridge.running.state import Running, State, goes_on
from weighbridge_engines.api import Engine, Load

if TYPE_CHECKING:
    from weighbridge.running.endpoints.way import Way

_log = logging.getLogger(__name__)
_NOTED_S = 1.0
"""How exactly it is kept when something was heard last."""
GONE: Mapping[str, None] = {"url": None, "memory_bytes": None, "private_bytes": None}
"""What is no more once the engine has ended."""


class Living(Protocol):
    """An engine that was started, wherever its library is: what the supervisor sees of it."""

    key: str

    @property
    def way(self) -> Way | None:
        """How requests travel to one that is no child of ours; None for all others."""

    @property
    def engine(self) -> Engine:
        """What was started."""

    @property
    def log(self) -> LogRing:
        """Its last lines."""

    @property
    def running(self) -> Running:
        """All that is known of it, as it stands now."""

    @property
    def lives(self) -> bool:
        """False once it is gone, also where that has not been told yet."""

    def stop(self) -> None:
        """Ask for the end, in any state. Returns at once."""

    def join(self) -> None:
        """Wait for the end."""


class Life:
    """The state, the log and the reports of an engine from its start on; `changed` is called after each change."""

    def __init__(self, engine: Engine, model: Model, load: Load, changed: Callable[[], None]) -> None:
        self.log = LogRing()
        self._engine = engine
        self._changed = changed
        self._told = Told()
        self._known = frozenset(control.name for control in engine.controls)
        self.running = Running(
            model.id,
            model.title,
            engine.id,
            State.LOADING,
            load,
            settings(load, Told(), self._known),
            since_s=time.monotonic(),
            moved_s=time.monotonic(),
            build=engine.build,
            sees_alone=sees_alone(engine),
        )

    @property
    def port(self) -> int | None:
        """The port that the engine says it listens on; None where it says nothing of that."""
        told = self._told.values.get("port")
        return told if isinstance(told, int) else None

    def begin_anew(self) -> None:
        """What was told so far was told by an attempt that has ended."""
        self._told = Told()

    def hear(self, lines: Iterable[str]) -> None:
        """Lines of the engine's output."""
        told, heard = self._told, False
        for line in lines:
            heard = True
            self.log.add(line)
            told = told.with_line(self._engine.report(line))
        if told is not self._told:
            self._told = told
            is_ready = self.running.state is State.READY
            stage, steps = (self.running.stage, None) if is_ready else (told.stage, told.steps)
            shown = settings(self.running.load, told, self._known)
            self.publish(stage=stage, steps=steps, buffers=told.buffers, held=told.held, settings=shown)
        if heard and time.monotonic() - self.running.moved_s > _NOTED_S:
            self.publish(moved_s=time.monotonic())

    def become(self, state: State, **changes: object) -> None:
        """Enter `state`, with other changes of `running`, by its fields."""
        since_s = self.running.since_s if state is self.running.state else time.monotonic()
        self.publish(state=state, since_s=since_s, steps=None, **changes)

    def fail(self, error: Exception) -> None:
        """Become failed: by a refusal, by a system that starts nothing, or by a fault of the engine's own code."""
        self.become(State.FAILED, error=_fault(error), **GONE)

    def publish(self, **changes: object) -> None:
        """Changes of `running`, by its fields."""
        changed = replace(self.running, **changes)  # type: ignore[arg-type] # fields by name
        if goes_on(self.running, changed):
            changed = replace(changed, moved_s=time.monotonic())
        if changed != self.running:
            self.running = changed
            self._changed()


def _fault(error: Exception) -> WeighbridgeError:
    if isinstance(error, WeighbridgeError):
        return error
    if isinstance(error, OSError):
        return EngineFailed("engine.cannot_start", detail=str(error))
    _log.error("following an engine failed", exc_info=error)
    return WeighbridgeError("internal", kind=type(error).__name__)
