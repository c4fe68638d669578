"""Keeps the top bar and the sidebar's notes true: the loaded model and its speed, the port, the memories."""

from __future__ import annotations

from PySide6.QtCore import QObject

from weighbridge.base.words import text
from weighbridge.library.model import ENDPOINT, Remote
from weighbridge.running.state import Running, State
from weighbridge.ui.download_words import note_of
from weighbridge.ui.elsewhere_words import where_it_goes
from weighbridge.ui.network_words import hosts_in_words
from weighbridge.ui.running_words import badge_of, in_front
from weighbridge.ui.services import Services
from weighbridge.ui.sidebar import Sidebar
from weighbridge.ui.topbar import TopBar


class Status(QObject):
    """Listens to the bus and writes to the bars."""

    def __init__(self, services: Services, topbar: TopBar, sidebar: Sidebar) -> None:
        super().__init__(topbar)
        self._services = services
        self._topbar = topbar
        self._sidebar = sidebar
        self._memories = services.memories
        self._tps: dict[str, tuple[float, bool]] = {}
        bus = services.bus
        bus.running_changed.connect(self._running_changed)
        bus.speed_told.connect(self._speed_told)
        bus.library_changed.connect(self._library_changed)
        bus.downloads_changed.connect(self._downloads_changed)
        bus.network_changed.connect(self._network_changed)
        services.port.changed.connect(self._port_changed)
        self._memories.changed.connect(self._memories_changed)
        self._running_changed()
        self._library_changed()
        self._port_changed()
        self._downloads_changed()
        self._network_changed()
        self._memories_changed()

    def _running_changed(self) -> None:
        self._show_model()
        self._memories.sample()

    def _show_model(self) -> None:
        running = self._services.supervisor.running()
        answering = [one for one in running if one.model_id in self._tps]
        front = in_front(answering or running)
        if front is None:
            self._topbar.show_model(None, None)
            return
        remote = self._remote_of(front)
        title, said = (front.title, "") if remote is None else (remote.name, remote.endpoint)
        state = "" if front.state is State.READY else badge_of(front)[1].lower()
        note = " · ".join(filter(None, (said, state)))
        about = "" if remote is None else where_it_goes(remote)
        tps, counted = self._tps.get(front.model_id, (None, False))
        self._topbar.show_model(title, tps, note, about, counted=counted)

    def _remote_of(self, front: Running) -> Remote | None:
        """Where the model in front is served, if not here."""
        if front.engine_id != ENDPOINT:
            return None
        models = self._services.library.models
        return next((model.remote for model in models if model.id == front.model_id), None)

    def _speed_told(self, model_id: str, tps: float | None, counted: bool) -> None:
        if tps is None:
            self._tps.pop(model_id, None)
        else:
            self._tps[model_id] = tps, counted
        self._show_model()

    def _library_changed(self) -> None:
        count = len(self._services.library.models)
        self._sidebar.note("library", str(count) if count else "")

    def _port_changed(self) -> None:
        address = self._services.port.address
        self._topbar.show_port(address)
        self._sidebar.note("server", text("on") if address else "")

    def _downloads_changed(self) -> None:
        self._sidebar.note("downloads", note_of(self._services.downloads.snapshot))

    def _network_changed(self) -> None:
        offline = self._services.access.offline()
        self._sidebar.note("network", text("offline") if offline else hosts_in_words(self._services.network.requests))

    def _memories_changed(self) -> None:
        self._topbar.show_memories(self._memories.memories)
