"""The running program: builds each part once, shows the window first, and ends everything in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.locks import OwnerLock
from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings, SettingsStore
from weighbridge.base.task import Task
from weighbridge.ui.acting import act
from weighbridge.ui.background import Background
from weighbridge.ui.bus import Bus
from weighbridge.ui.closing import Closing
from weighbridge.ui.core import Core, build_core
from weighbridge.ui.ending import Ending
from weighbridge.ui.faults import catch_faults, log_to
from weighbridge.ui.garbage import Garbage
from weighbridge.ui.pages.page import Page
from weighbridge.ui.pulse import Pulse
from weighbridge.ui.services import Services
from weighbridge.ui.speech import Speech
from weighbridge.ui.theme import Theme
from weighbridge.ui.window import Window
from weighbridge_engines.api import Engine

if TYPE_CHECKING:
    from weighbridge.ui.downloads import Downloads
    from weighbridge.ui.engines.driving import EngineBuilds
    from weighbridge.ui.machine_facts import MachineFacts
    from weighbridge.ui.memory_watch import MemoryWatch
    from weighbridge.ui.speedometers import Speedometers
    from weighbridge.ui.weighing import Weighing

Engines = Callable[[], Mapping[str, Engine]]

_FIRST_PAINT_MS = 20
"""So long nothing else is begun, for it would share the processor with what paints the first rows."""


def run(argv: Sequence[str], engines: Engines, paths: Paths, lock: OwnerLock) -> int:
    """Open the window and stay until it is closed. Returns the exit code.

    `lock` is the ownership of the data folder of `paths`; where it is not held, nobody is told of the window.
    """
    app = QApplication(["weighbridge", *argv])
    app.setApplicationName("weighbridge")
    app.setDesktopFileName("weighbridge")
    app.setQuitOnLastWindowClosed(False)
    program = Program(app, paths, engines, lambda url: lock.tell("window", url), lock.mark)
    catch_faults(program.bus.failed.emit)
    garbage = Garbage(app)
    ending = Ending(app)
    ending.asked.connect(program.close)
    program.open()
    if lock.held:
        QTimer.singleShot(0, program, lambda: _listen(program, paths.data))
    code = app.exec()
    ending.close()
    garbage.close()
    sys.excepthook = sys.__excepthook__
    return code


def _listen(program: Program, data: Path) -> None:
    """Come to the front when a second start asks; once the window stands, for Qt's network part is dear."""
    from weighbridge.ui.raising import Raising

    Raising(data, program).asked.connect(program.come_to_front)


class Program(QObject):
    """Owner of all parts. `close` ends them, in order, and quits. `mark` is that of the data folder's lock, if held."""

    def __init__(
        self,
        app: QApplication,
        paths: Paths,
        engines: Engines,
        tell_port: Callable[[str | None], object] = lambda url: None,
        mark: str | None = None,
    ) -> None:
        super().__init__(app)
        self._app = app
        self._paths = paths
        self._engines = engines
        self._tell_port = tell_port
        self._mark = mark
        self.settings = SettingsStore(paths.settings)
        self.speech = Speech(app)
        self.speech.use(self.settings.value.language)
        self.bus = Bus(self)
        self.theme = Theme(app, self.settings, paths.data / "glyphs")
        self.background = Background(self)
        self._network_pulse = Pulse(self)
        self.services: Services | None = None
        self._core: Core | None = None
        self._speeds: Speedometers | None = None
        self._closing = False
        self.ways_out = Closing(self.settings, self)
        self.ways_out.ended.connect(self.close)
        self.ways_out.opened.connect(self.come_to_front)
        self._acted = self.settings.value
        self.settings.subscribe(self._settings_changed)
        self.window = self._new_window()

    def open(self) -> None:
        """Show the window, then what the Library held at the last look; fill it as soon as both stand."""
        self.window.show()
        QTimer.singleShot(0, self, self._show_glimpse)

    def _show_glimpse(self) -> None:
        if not self._closing:
            from weighbridge.ui import glimpse

            rows = glimpse.read(self._paths.glimpse, self.settings.value.language)
            if rows:
                self.window.show_glimpse(rows)
            QTimer.singleShot(_FIRST_PAINT_MS if rows else 0, self, self._build)

    def come_to_front(self) -> None:
        """Show the window before all others; not where it is closing."""
        if self._closing:
            return
        self.ways_out.leave_tray()
        if self.window.isHidden():
            self.window.wake()
        if self.window.isMinimized():
            self.window.showNormal()
        self.window.raise_()
        self.window.activateWindow()

    def close(self) -> None:
        """Stop timers and tasks, close the port, end the engines, quit."""
        if self._closing:
            return
        self._closing = True
        with ExitStack() as steps:  # from the last to the first, and each one even where another failed
            steps.callback(self._app.quit)
            steps.callback(self._close_core)
            steps.callback(self.background.close)
            steps.callback(self._close_port)
            steps.callback(self._close_downloads)
            steps.callback(self._network_pulse.stop)
            steps.callback(self.window.shut)
            self.settings.change(window_geometry=self.window.geometry_text())
            self.window.hide()
            self.ways_out.leave_tray()

    def _close_port(self) -> None:
        if self.services is not None:
            self.services.port.shut()

    def _close_downloads(self) -> None:
        if self.services is not None:
            self.services.downloads.close()
            self.services.builds.close()

    def _close_core(self) -> None:
        """Also a core that was built while the window closed."""
        if self._core is not None:
            self._core.close()

    def _new_window(self) -> Window:
        made = Window(self.theme, self.settings, self.bus)
        made.closing.connect(lambda: self.ways_out.close(made, self.services, to_quit=False))
        made.quitting.connect(lambda: self.ways_out.close(made, self.services, to_quit=True))
        return made

    def _build(self) -> None:
        if self._closing:
            return
        log_to(self._paths.log)

        def build(task: Task) -> Core:
            del task
            _makers()  # the pages' imports take longer than making them, and need no GUI thread
            core = build_core(self._paths, lambda: self.settings.value, self._engines, self._mark)
            self._core = core
            core.library.recall()  # so that the first page has its rows as it comes
            return core

        self.background.run(build, self._built, self.window.show_error)

    def _built(self, core: Core) -> None:
        self.services = self._make_services(core)
        core.supervisor.subscribe(self.bus.running_changed.emit)
        core.library.subscribe(lambda _model: self.bus.header_read.emit())
        self._network_pulse.beat.connect(self.bus.network_changed)
        self.services.network.subscribe(self._network_pulse.poke)
        core.recorders.speeds.subscribe(self.bus.speed_kept.emit)
        self.bus.speed_kept.connect(self._reread_speeds)
        self._fill(self.window, "library")
        if (absent := core.absent()) is not None:
            self.window.show_absent_engine(absent)
        if core.database.notice is not None:
            self.window.show_error(core.database.notice)
        self.bus.library_changed.connect(self._keep_glimpse)
        port = self.services.port
        port.changed.connect(lambda: self._tell_port(port.url))
        if self.settings.value.port_on:
            port.open()

    def _keep_glimpse(self) -> None:
        """What is listed now is what the next start shows first."""
        if self._core is None or self._closing:
            return
        library, path, language = self._core.library, self._paths.glimpse, self.settings.value.language

        def work(task: Task) -> None:
            from weighbridge.ui.glimpse import keep
            from weighbridge.ui.models.library_row import glimpses

            del task
            keep(path, language, glimpses(library.models))

        self.background.run(work, _ignore, _ignore)

    def _make_services(self, core: Core) -> Services:
        from weighbridge.chat.speeds import AnswerSpeeds
        from weighbridge.hardware.again import look_again
        from weighbridge.hardware.detect import detect
        from weighbridge.hardware.load import ProcessorLoad
        from weighbridge.hardware.measured import Measurements
        from weighbridge.running.whole import cards_of
        from weighbridge.server.requests import RequestRecords
        from weighbridge.ui.machine_facts import MachineFacts
        from weighbridge.ui.memory_watch import MemoryWatch, Sampler
        from weighbridge.ui.port_control import OpenPort, PortControl

        records = RequestRecords()

        def make_port() -> OpenPort:
            from weighbridge.server.gateway import gateway
            from weighbridge.server.serving import Port

            return Port(gateway(core.library, core.supervisor, records))

        measurements = Measurements.within(self._paths.data)
        sampler = Sampler(
            lambda: measurements.apply(detect()), lambda machine, cards: look_again(machine, with_cards=cards)
        )
        facts = MachineFacts(core.engine_devices, measurements, self.background, self, absent=core.absent)
        memories = MemoryWatch(
            sampler, core.supervisor.running, self.background, self, ProcessorLoad().now, facts.complete
        )
        core.supervisor.use_cards(cards_of(lambda: memories.machine, core.engines, core.blueprints.of))
        return Services(
            paths=self._paths,
            settings=self.settings,
            library=core.library,
            marks=core.marks,
            presets=core.presets,
            hashes=core.hashes,
            supervisor=core.supervisor,
            store=core.store,
            answer_speeds=AnswerSpeeds(core.supervisor, core.recorders.speeds),
            port=PortControl(make_port, records, self.settings, self.background, self),
            memories=memories,
            facts=facts,
            weighing=self._make_weighing(core, memories, facts),
            builds=self._make_builds(core, memories, facts),
            access=core.hub.access,
            tokens=core.tokens,
            token=core.hub.token,
            network=core.hub.network,
            hub=core.hub.hub,
            searches=core.hub.searches,
            looker=core.hub.looker,
            downloads=self._make_downloads(core),
            background=self.background,
            theme=self.theme,
            bus=self.bus,
        )

    def _make_builds(self, core: Core, memories: MemoryWatch, facts: MachineFacts) -> EngineBuilds:
        from weighbridge.ui.engines.driving import EngineBuilds

        return EngineBuilds(
            core.engines,
            core.installer,
            core.engine_devices,
            facts,
            lambda: memories.machine,
            lambda: core.library.models,
            self.background,
            self,
        )

    def _make_downloads(self, core: Core) -> Downloads:
        from weighbridge.ui.downloads import Downloads

        made = Downloads(core.hub.queue, self.background, self)
        made.changed.connect(self.bus.downloads_changed)
        made.done.connect(lambda job: self._came(core, job.place))
        return made

    def _came(self, core: Core, place: Path) -> None:
        """A model has been fetched: it is shown, though it was once taken off the list."""
        with suppress(WeighbridgeError):
            core.marks.put_back_below(place)
        self.bus.scan_wanted.emit()

    def _make_weighing(self, core: Core, memories: MemoryWatch, facts: MachineFacts) -> Weighing:
        from weighbridge.running.observations import Observations
        from weighbridge.running.paces import speed_tables
        from weighbridge.running.scales import available_bytes
        from weighbridge.running.sizing import Sizing
        from weighbridge.running.speed_observations import SpeedObservations
        from weighbridge.ui.speedometers import Speedometers
        from weighbridge.ui.weighing import Weighing
        from weighbridge.ui.weighing_sources import Sources

        speeds = Speedometers(speed_tables(), SpeedObservations(core.database).all, self.background, self)
        self._speeds = speeds
        self._reread_speeds()
        sources = Sources(
            blueprints=core.blueprints,
            engines=core.engines,
            machine=lambda: memories.machine,
            told=lambda: facts.told if facts.answered else None,
            running=core.supervisor.running,
            default_load=core.supervisor.default_load,
            context=lambda: self.settings.value.context,
            past=Observations(core.database).all,
            speeds=speeds,
            sizing=Sizing(core.engines, self._paths.data / "sizing", available_bytes),
            parts=core.parts,
        )
        return Weighing(sources, self.background, self)

    def _reread_speeds(self) -> None:
        """How fast an answer was is kept: it counts from now on."""
        if self._speeds is not None and not self._closing:
            self._speeds.reread()

    def _fill(self, window: Window, first: str) -> None:
        assert self.services is not None
        window.fill(self.services, _makers(), first)

    def _settings_changed(self, new: Settings) -> None:
        old, self._acted = self._acted, new
        if new.language != old.language:
            QTimer.singleShot(0, self, self._use_language)  # the window that goes may be asking
        if self.services is not None:
            act(old, new, self.services)

    def _use_language(self) -> None:
        """Texts are made with their widgets, so another language is another window in the same place."""
        if self._closing:
            return
        self.settings.change(window_geometry=self.window.geometry_text())
        self.speech.use(self.settings.value.language)
        old, page = self.window, self.window.page_name
        self.window = self._new_window()
        self.window.show()
        if self.services is not None:
            old.shut()
            self._fill(self.window, page)
        old.hide()
        old.deleteLater()


def _ignore(value: object) -> None:
    """A glimpse that is not kept costs time alone."""
    del value


def _makers() -> Mapping[str, Callable[[Services], Page]]:
    from weighbridge.ui.chat.page import ChatPage
    from weighbridge.ui.discover.page import DiscoverPage
    from weighbridge.ui.engines.page import EnginesPage
    from weighbridge.ui.pages.downloads import DownloadsPage
    from weighbridge.ui.pages.library import LibraryPage
    from weighbridge.ui.pages.machine import MachinePage
    from weighbridge.ui.pages.network import NetworkPage
    from weighbridge.ui.pages.server import ServerPage
    from weighbridge.ui.pages.settings import SettingsPage

    return {
        "discover": DiscoverPage,
        "library": LibraryPage,
        "chat": ChatPage,
        "server": ServerPage,
        "engines": EnginesPage,
        "machine": MachinePage,
        "downloads": DownloadsPage,
        "network": NetworkPage,
        "settings": SettingsPage,
    }
