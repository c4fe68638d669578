"""What can be done with a job, by its state. No Qt here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from weighbridge.base.words import mark, text
from weighbridge.hub.jobs import State
from weighbridge.hub.snapshot import JobView


class Command(StrEnum):
    """What the user may want done with one job, in the order in which it is offered."""

    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    SHOW = "show"
    REVEAL = "reveal"
    UP = "up"
    DOWN = "down"
    CANCEL = "cancel"
    FORGET = "forget"


_TITLES: Mapping[Command, str] = {
    Command.PAUSE: mark("Pause"),
    Command.RESUME: mark("Resume"),
    Command.RETRY: mark("Try again now"),
    Command.SHOW: mark("Show in Library"),
    Command.REVEAL: mark("Reveal folder"),
    Command.UP: mark("Move up"),
    Command.DOWN: mark("Move down"),
    Command.CANCEL: mark("Cancel download"),
    Command.FORGET: mark("Remove from list"),
}

_ORDER = (Command.UP, Command.DOWN)
_COMMANDS: Mapping[State, tuple[Command, ...]] = {
    State.QUEUED: (Command.PAUSE, *_ORDER, Command.CANCEL),
    State.RUNNING: (Command.PAUSE, *_ORDER, Command.CANCEL),
    State.RETRYING: (Command.PAUSE, Command.RETRY, *_ORDER, Command.CANCEL),
    State.VERIFYING: (Command.PAUSE, *_ORDER, Command.CANCEL),
    State.PAUSED: (Command.RESUME, *_ORDER, Command.CANCEL),
    State.DONE: (Command.SHOW, Command.REVEAL, Command.FORGET),
    State.FAILED: (Command.RETRY, *_ORDER, Command.FORGET),
    State.CANCELLED: (Command.RETRY, Command.FORGET),
}


def title_of(command: Command) -> str:
    """The words of a command."""
    return text(_TITLES[command])


def commands_of(job: JobView) -> tuple[Command, ...]:
    """What can be done with `job` now."""
    return _COMMANDS[job.state]
