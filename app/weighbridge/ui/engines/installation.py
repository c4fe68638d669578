"""An installation that goes on, and what is said of what is done. No Qt here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from weighbridge.base.task import Progress, Task


@dataclass
class Installation:
    """One that goes on, since `since_s` of the monotonic clock. `lines` grows, from another thread."""

    build_id: str
    task: Task | None = None
    lines: list[str] = field(default_factory=list)
    since_s: float = field(default_factory=time.monotonic)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self.task.progress if self.task is not None else Progress()

    def cancel(self) -> None:
        """Give it up; what was in use stays so."""
        if self.task is not None:
            self.task.cancel()


@dataclass(frozen=True)
class Said:
    """A sentence about what was done or is being done, and what can be done about it; "" takes back what was said."""

    sentence: str
    answers: tuple[tuple[str, Callable[[], object]], ...] = ()
