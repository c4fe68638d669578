"""The port as the window drives it: open, closed, or on its way, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from weighbridge.base.settings import SettingsStore
from weighbridge.base.task import Task
from weighbridge.server.requests import RequestRecords
from weighbridge.ui.background import Background


class OpenPort(Protocol):
    """What is needed of `server.serving.Port`."""

    def start(self, port: int, *, next_free: bool) -> str:
        """Listen; with `next_free`, on a later port where the wanted one is taken. Returns the URL."""

    def stop(self) -> None:
        """Stop listening and end what is being answered."""


class PortState(StrEnum):
    """Where the port is."""

    OFF = "off"
    OPENING = "opening"
    ON = "on"
    CLOSING = "closing"


class PortControl(QObject):
    """One owner of the port, for the window. `changed` is emitted in the GUI thread after each step.

    `make()` builds a port that is not open yet, in another thread. What the user chose is kept in the settings.
    """

    changed = Signal()
    request_added = Signal()
    """A request to the port is over; read `records` anew."""

    def __init__(
        self,
        make: Callable[[], OpenPort],
        records: RequestRecords,
        settings: SettingsStore,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._settings = settings
        self._background = background
        self._port: OpenPort | None = None
        self._wanted_on = False
        self.records = records
        self.state = PortState.OFF
        self.url: str | None = None
        self.error: BaseException | None = None
        self.asked_port = settings.value.port
        self._leave = records.subscribe(lambda row: self.request_added.emit())

    @property
    def address(self) -> str | None:
        """Host and port ("127.0.0.1:2412") while open."""
        return urlsplit(self.url).netloc if self.url else None

    @property
    def moved(self) -> bool:
        """True where the wanted port was taken, and the next free one is in use."""
        return self.url is not None and urlsplit(self.url).port != self.asked_port

    def open(self) -> None:
        """Open the port of the settings; remember that it shall be open."""
        self._settings.change(port_on=True)
        self.follow_settings()

    def close(self) -> None:
        """Close it; remember that it shall be closed."""
        self._settings.change(port_on=False)
        self.follow_settings()

    def choose_port(self, port: int) -> None:
        """Use another port, at once where it is open."""
        self._settings.change(port=port)
        self._follow()

    def follow_settings(self) -> None:
        """Become what the settings say: open or closed, and on their port."""
        self._wanted_on = self._settings.value.port_on
        self._follow()

    def shut(self) -> None:
        """The program ends: close the port and wait for it. Blocks for as long as that takes; nothing is remembered."""
        self._leave()
        if self._port is not None:
            self._port.stop()
            self._port = None

    def _follow(self) -> None:
        """Take the next step towards what is wanted; nothing where one is being taken."""
        if self.state is PortState.ON and not (self._wanted_on and self.asked_port == self._settings.value.port):
            self._stop()
        elif self.state is PortState.OFF and self._wanted_on:
            self._start()

    def _start(self) -> None:
        self.asked_port = self._settings.value.port
        self.error = None
        self._become(PortState.OPENING)
        asked = self.asked_port

        def start(task: Task) -> str:
            del task
            port = self._make()
            self._port = port
            return port.start(asked, next_free=True)

        self._background.run(start, self._started, self._start_failed)

    def _started(self, url: str) -> None:
        self.url = url
        self._become(PortState.ON)
        self._follow()

    def _start_failed(self, error: BaseException) -> None:
        self._port = None
        self._wanted_on = False
        self.error = error
        self._become(PortState.OFF)

    def _stop(self) -> None:
        port = self._port
        self._become(PortState.CLOSING)
        self._background.run(lambda task: port.stop() if port else None, self._stopped, self._stop_failed)

    def _stopped(self, nothing: None) -> None:
        del nothing
        self._port = None
        self.url = None
        self._become(PortState.OFF)
        self._follow()

    def _stop_failed(self, error: BaseException) -> None:
        self.error = error
        self._stopped(None)

    def _become(self, state: PortState) -> None:
        self.state = state
        self.changed.emit()
