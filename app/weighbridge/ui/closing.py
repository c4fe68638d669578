"""What closing the window does: end everything, go on in the tray, or ask first."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from weighbridge.base.settings import SettingsStore
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.running.state import Running
    from weighbridge.ui.services import Services
    from weighbridge.ui.tray import Tray
    from weighbridge.ui.window import Window


class Step(Enum):
    """What comes next."""

    STOP = auto()
    REST = auto()
    ASK = auto()


def next_step(closing: str, tray: bool, busy: bool) -> Step:
    """What closing does where the setting is `closing`, a tray is there or not, and something is going on."""
    if not tray:
        return Step.STOP
    if closing == "tray":
        return Step.REST
    return Step.ASK if busy else Step.STOP


def is_busy(running: Sequence[Running]) -> bool:
    """Whether an engine answers, or somebody waits for one."""
    return any(one.in_flight or one.waiting for one in running)


def is_fetching(services: Services) -> bool:
    """Whether models are being fetched; offline, none is."""
    return services.downloads.busy and not services.access.offline()


def what_is_going_on(answering: bool, fetching: bool) -> str:
    """What closing would end or hold up."""
    said = (
        (answering, text("A model is answering. Closing ends it and breaks off the answer.")),
        (fetching, text("Models are being fetched. Closing pauses that until the next start; what came is kept.")),
    )
    return " ".join(words for true, words in said if true)


class Closing(QObject):
    """Owner of the icon in the tray. `ended`: end everything; `opened`: show the window again."""

    ended = Signal()
    opened = Signal()

    def __init__(self, settings: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._tray: Tray | None = None

    @property
    def tray(self) -> Tray | None:
        """The icon, while the window rests."""
        return self._tray

    def close(self, window: Window, services: Services | None, to_quit: bool) -> None:
        """The window was closed, or (`to_quit`) the end asked for. Before there are services nothing goes on."""
        if services is None or window.question.isVisible():  # asked once
            self.ended.emit()
            return
        from weighbridge.ui.tray import tray_there

        closing = "stop" if to_quit else self._settings.value.closing
        answering, fetching = is_busy(services.supervisor.running()), is_fetching(services)
        step = next_step(closing, tray_there(), answering or fetching)
        if step is Step.REST:
            self.rest(window, services)
        elif step is Step.ASK:
            answers = (
                (text("Keep it in the tray"), lambda: self.rest(window, services)),
                (text("End everything"), self.ended.emit),
            )
            window.question.ask(what_is_going_on(answering, fetching), answers)
        else:
            self.ended.emit()

    def rest(self, window: Window, services: Services) -> None:
        """Hide the window and go on in the tray; the first time, say so."""
        window.rest()
        if self._tray is not None:
            return
        from weighbridge.ui.tray import Tray  # with all that it tells of: not before the window shows

        self._tray = Tray(services.theme, services.port, services.downloads, self)
        self._tray.opened.connect(self.opened)
        self._tray.quitted.connect(self.ended)
        if not self._settings.value.tray_told:
            self._tray.tell()
            self._settings.change(tray_told=True)

    def leave_tray(self) -> None:
        """The window is there again, or everything ends: no icon any more."""
        if self._tray is not None:
            self._tray.close()
            self._tray = None
