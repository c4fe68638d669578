"""The running program: builds each part once, shows the window first, and ends everything in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

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
from weighbridge.ui.in_turns import InTurns
from weighbridge.ui.pages.page import Page
from weighbridge.ui.pulse import Pulse
from weighbridge.ui.sidebar import PAGES
from weighbridge.ui.speech import Speech
from weighbridge.ui.theme import Theme
from weighbridge.ui.window import Window

if TYPE_CHECKING:
    from weighbridge.ui.services import Services
    from weighbridge_engines.api import Engine

    Engines = Callable[[], Mapping[str, Engine]]

_FIRST_PAGE = "library"
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
    program.give_up()
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
        self._steps = InTurns(self)
        self.services: Services | None = None
        self._core: Core | None = None
        self._top_px = 0
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

            found = glimpse.read(self._paths.glimpse, self.settings.value.language)
            self._top_px = found.top_px
            if found.rows:
                self.window.show_glimpse(found)
            QTimer.singleShot(_FIRST_PAINT_MS if found.rows else 0, self, self._build)

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
        with self._ended():
            self.settings.change(window_geometry=self.window.geometry_text())
            self.window.hide()
            self.ways_out.leave_tray()

    def give_up(self) -> None:
        """The same where nothing can be shown any more: the display has gone, and Qt ends by itself. Without effect
        after `close`.
        """
        if not self._closing:
            self._closing = True
            with self._ended():
                pass

    @contextmanager
    def _ended(self) -> Iterator[None]:
        """Ends all, once the block is left: from the last to the first, and each one even where another failed."""
        with ExitStack() as steps:
            steps.callback(self._app.quit)
            steps.callback(self._close_core)
            steps.callback(self.background.close)
            steps.callback(self._close_port)
            steps.callback(self._close_downloads)
            steps.callback(self._network_pulse.stop)
            steps.callback(self.window.shut)
            steps.callback(self._steps.forget)
            yield

    def _close_port(self) -> None:
        if self.services is not None:
            self.services.port.shut()

    def _close_downloads(self) -> None:
        if self.services is not None:
            self.services.downloads.close()
            self.services.builds.close()
            self.services.endpoints.close()

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
            _import_first()
            core = build_core(self._paths, lambda: self.settings.value, self._engines, self._mark)
            self._core = core
            core.library.recall()  # so that the first page has its rows as it comes
            return core

        self.background.run(build, self._built, self.window.show_error)

    def _built(self, core: Core) -> None:
        """The rest step by step, so that the window never stands still: services, the first page, its sight."""
        from weighbridge.ui.assembly import Frame, make_services

        frame = Frame(self._paths, self.settings, self.background, self.theme, self.bus, self)
        self.services = services = make_services(core, frame)
        self._steps.ask(
            lambda: self._listen(core, services),
            lambda: self.window.take(services, _makers()),
            lambda: self.window.prepare(_FIRST_PAGE),
            lambda: self.window.put_in(_FIRST_PAGE),
            self._show_first,
            lambda: self._tell(core, services),
        )

    def _listen(self, core: Core, services: Services) -> None:
        core.supervisor.subscribe(self.bus.running_changed.emit)
        core.library.subscribe(lambda _model: self.bus.header_read.emit())
        self._network_pulse.beat.connect(self.bus.network_changed)
        services.network.subscribe(self._network_pulse.poke)
        core.recorders.speeds.subscribe(self.bus.speed_kept.emit)
        self.bus.speed_kept.connect(self._reread_speeds)
        self.bus.library_changed.connect(self._keep_glimpse)

    def _show_first(self) -> None:
        """The others follow once their code is there."""
        self.window.show_first(_FIRST_PAGE)
        self.background.run(
            lambda _task: _other_pages(), lambda _made: self.window.make_others(), self.window.show_error
        )

    def _tell(self, core: Core, services: Services) -> None:
        if (absent := core.absent()) is not None:
            self.window.show_absent_engine(absent)
        if core.database.notice is not None:
            self.window.show_error(core.database.notice)
        port = services.port
        port.changed.connect(lambda: self._tell_port(port.url))
        if self.settings.value.port_on:
            port.open()

    def _keep_glimpse(self) -> None:
        """What is listed now is what the next start shows first."""
        if self._core is None or self._closing:
            return
        from weighbridge.ui.pages.library import LibraryPage

        library, path, language = self._core.library, self._paths.glimpse, self.settings.value.language
        page = self.window.page
        top_px = self._top_px = page.table_top_px if isinstance(page, LibraryPage) else self._top_px

        def work(task: Task) -> None:
            from weighbridge.ui.glimpse import keep
            from weighbridge.ui.models.library_row import glimpses

            del task
            keep(path, language, glimpses(library.models), top_px)

        self.background.run(work, _ignore, _ignore)

    def _reread_speeds(self) -> None:
        """How fast an answer was is kept: it counts from now on."""
        if self.services is not None and not self._closing:
            self.services.weighing.sources.speeds.reread()

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
            self.window.fill(self.services, _makers(), page or _FIRST_PAGE)
        old.hide()
        old.deleteLater()


def _ignore(value: object) -> None:
    """A glimpse that is not kept costs time alone."""
    del value


def _import_first() -> None:
    """The code of what comes first: to import it takes longer than to make it, and needs no GUI thread."""
    import weighbridge.ui.assembly
    import weighbridge.ui.pages.library
    import weighbridge.ui.status  # noqa: F401


def _makers() -> Mapping[str, Callable[[Services], Page]]:
    return {page.name: partial(_make_page, page.name) for page in PAGES}


def _make_page(name: str, services: Services) -> Page:
    if name == _FIRST_PAGE:
        from weighbridge.ui.pages.library import LibraryPage

        return LibraryPage(services)
    return _other_pages()[name](services)


def _other_pages() -> Mapping[str, Callable[[Services], Page]]:
    """All but the first; where they are not imported yet, this takes a while."""
    from weighbridge.ui.advisor.page import AdvisorPage
    from weighbridge.ui.chat.page import ChatPage
    from weighbridge.ui.discover.page import DiscoverPage
    from weighbridge.ui.engines.page import EnginesPage
    from weighbridge.ui.pages.downloads import DownloadsPage
    from weighbridge.ui.pages.machine import MachinePage
    from weighbridge.ui.pages.network import NetworkPage
    from weighbridge.ui.pages.server import ServerPage
    from weighbridge.ui.pages.settings import SettingsPage

    return {
        "discover": DiscoverPage,
        "chat": ChatPage,
        "server": ServerPage,
        "engines": EnginesPage,
        "advisor": AdvisorPage,
        "machine": MachinePage,
        "downloads": DownloadsPage,
        "network": NetworkPage,
        "settings": SettingsPage,
    }
