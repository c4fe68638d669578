"""The frame: top bar, sidebar, pages, palette, and the errors that belong to no page.

It stands before anything else of the program does; `fill` puts the pages in once the core is there. The palette, and
the panels of errors and questions, are made when they are first wanted: each would hold up the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QCursor, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QToolTip, QWidget

from weighbridge.base.settings import SettingsStore
from weighbridge.base.words import text
from weighbridge.ui.bus import Bus
from weighbridge.ui.dropping import Dropping
from weighbridge.ui.icons import icon
from weighbridge.ui.in_turns import InTurns
from weighbridge.ui.pages.page import Page
from weighbridge.ui.sidebar import PAGES, Sidebar
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.topbar import TopBar
from weighbridge.ui.widgets.parts import column, label, row

if TYPE_CHECKING:
    from weighbridge.ui.asking import Unmet
    from weighbridge.ui.glimpse import Glimpse
    from weighbridge.ui.load.sheet import LoadSheet
    from weighbridge.ui.palette import Palette
    from weighbridge.ui.services import Services
    from weighbridge.ui.unmet_panel import UnmetPanel
    from weighbridge.ui.widgets.error_panel import ErrorPanel
    from weighbridge.ui.widgets.question import Question
    from weighbridge_engines.api import Cause, Load

MINIMUM = (1000, 640)
_FIRST = (1200, 760)
_NARROW_EMS = 50


class Window(QMainWindow):
    """The one window. `closing` is emitted when the user closes it, `quitting` where the end of all is asked for;
    whoever listens acts.
    """

    closing = Signal()
    quitting = Signal()

    def __init__(self, theme: Theme, settings: SettingsStore, bus: Bus) -> None:
        super().__init__()
        self.setWindowTitle("Weighbridge")
        self.setMinimumSize(*MINIMUM)
        self._theme = theme
        self._settings = settings
        self._bus = bus
        self._services: Services | None = None
        self._page_of: dict[str, Page] = {}
        self._unmade: dict[str, Callable[[Services], Page]] = {}
        self._steps = InTurns(self, lambda: self.page is not None and self.page.busy)
        self._sheet: LoadSheet | None = None
        self._beneath: Page | None = None
        self._topbar = TopBar(theme)
        self._sidebar = Sidebar(theme)
        self._errors: ErrorPanel | None = None
        self._question: Question | None = None
        self._palette: Palette | None = None
        self._unmet: UnmetPanel | None = None
        self._stack = QStackedWidget()
        self._waiting = _waiting()
        self._stack.addWidget(self._waiting)
        self._stack.setMinimumSize(1, 1)  # a page that collapses its panes does so by the width it is given
        self._lay_out()
        theme.dress(self._topbar, self._sidebar)
        self._connect()
        self._add_shortcuts()
        self._tint()
        self._restore_geometry()

    @property
    def page(self) -> Page | None:
        """The page shown, or None before `fill`."""
        current = self._stack.currentWidget()
        return current if isinstance(current, Page) else None

    @property
    def page_name(self) -> str:
        """The name of the page shown; "" before `fill`."""
        shown = self._beneath if self.page is self._sheet else self.page
        return next((name for name, page in self._page_of.items() if page is shown), "")

    @property
    def pages(self) -> Mapping[str, Page]:
        """All pages by name; those that are still to come are made now."""
        for page in PAGES:
            self._make(page.name)
        return self._page_of

    @property
    def question(self) -> Question:
        """What is asked above the page."""
        if self._question is None:
            from weighbridge.ui.widgets.question import Question

            self._question = Question()
            self._put_above(self._question)
        return self._question

    @property
    def errors(self) -> ErrorPanel:
        """What went wrong that belongs to no page."""
        if self._errors is None:
            from weighbridge.ui.widgets.error_panel import ErrorPanel

            self._errors = ErrorPanel(self._theme)
            self._put_above(self._errors)
        return self._errors

    @property
    def unmet(self) -> UnmetPanel | None:
        """What to choose between before a load that will not fit; None until that was asked once."""
        return self._unmet

    @property
    def palette_box(self) -> Palette:
        """The palette, shown or hidden."""
        if self._palette is None:
            from weighbridge.ui.palette import Palette

            self._palette = Palette(self._theme, self)
            self._theme.dress(self._palette)
        return self._palette

    def show_glimpse(self, glimpse: Glimpse) -> None:
        """Show what the Library held at the last look, until its page is there."""
        from weighbridge.ui.widgets.first_sight import FirstSight  # what draws tables: not before the window shows

        if self.page is None:
            self._wait_with(FirstSight(self._theme, glimpse))
            self._sidebar.show_page("library")

    def fill(self, services: Services, makers: Mapping[str, Callable[[Services], Page]], first: str) -> None:
        """Take all that pages need, show the page called `first`, and make the others after it, one by one."""
        self.take(services, makers)
        self.show_first(first)
        self.make_others()

    def take(self, services: Services, makers: Mapping[str, Callable[[Services], Page]]) -> None:
        """What pages are given, and who makes them. No page is made yet."""
        from weighbridge.ui.status import Status  # with all that it tells of: not before the window shows

        if self._services is None:
            self._services = services
            self._status = Status(services, self._topbar, self._sidebar)
            self._unmade = {page.name: makers[page.name] for page in PAGES}
            services.memories.start()

    def prepare(self, name: str) -> None:
        """Make a page, where it is not there yet; it is not shown."""
        if name in self._unmade:
            assert self._services is not None
            self._page_of[name] = self._unmade.pop(name)(self._services)

    def put_in(self, name: str) -> None:
        """Put a page where it shows, which styles all of it; it is not shown."""
        page = self._page_of.get(name)
        if page is not None and page.parent() is None:
            self._stack.addWidget(page)

    def show_first(self, name: str) -> None:
        """Show a page in place of the glimpse, unless somebody has chosen another one meanwhile."""
        if self.page is None:
            self.show_page(name)
        self._wait_with(QWidget())  # a glimpse holds many rows, and is seen no more
        self._tell_notices()

    def make_others(self) -> None:
        """Make the pages that are still to come, one by one, so that what a person does comes in between."""
        for name in tuple(self._unmade):
            self._steps.ask(partial(self.prepare, name), partial(self.put_in, name))

    def show_page(self, name: str) -> None:
        """Show a page by its name."""
        self._make(name)
        page = self._page_of.get(name)
        if page is not None and page is not self.page:
            self._sidebar.show_page(name)
            self._show(page)

    def show_sheet(self, model_id: str, load: Load | None) -> None:
        """Let the user set how a model is loaded, over the page that is shown; it returns afterwards. There is nothing
        to set of what an endpoint serves.
        """
        from weighbridge.ui.load.sheet import LoadSheet  # with all that it shows: not before it is asked for

        services = self._services
        models = services.library.models if services is not None else ()
        model = next((one for one in models if one.id == model_id and one.problem is None), None)
        if services is None or model is None or model.remote is not None:
            return
        if self._sheet is None:
            self._sheet = LoadSheet(services)
            self._sheet.closed.connect(self._leave_sheet)
            self._stack.addWidget(self._sheet)
        if self.page is not self._sheet:
            self._beneath = self.page
        self._sheet.show_model(model, load)
        self._show(self._sheet)

    def show_error(self, error: BaseException) -> None:
        """Show an error that belongs to no page."""
        self.errors.show_error(error)

    def show_absent_engine(self, absent: Cause) -> None:
        """Say that no engine is installed, with the way to install one here, and the command that does it elsewhere."""
        from weighbridge.base.errors import WeighbridgeError
        from weighbridge.ui.clipboard import copy

        command = str(absent.values["install"])
        go = (text("Install it here"), self._show_engines)
        copy_it = (text("Copy the command"), lambda: copy(command, self.errors))
        self.errors.show_error(WeighbridgeError(absent.code, **absent.values), (go, copy_it))

    def rest(self) -> None:
        """Hide, and stop what only serves to be looked at. Answers and loads go on."""
        if self.page is not None:
            self.page.left()
        if self._services is not None:
            self._services.memories.stop()
        self.hide()

    def wake(self) -> None:
        """Show it again after `rest`."""
        self.show()
        if self._services is not None:
            self._services.memories.start()
        if self.page is not None:
            self.page.entered()

    def shut(self) -> None:
        """Stop all that the window drives. It may be deleted after this."""
        self._steps.forget()
        self._unmade = {}
        if self.page is not None:
            self.page.left()
        for page in (*self._page_of.values(), *([self._sheet] if self._sheet is not None else [])):
            page.shut()
        if self._services is not None:
            self._services.memories.stop()

    def geometry_text(self) -> str:
        """Size and place, as `SettingsStore` keeps them."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()  # whoever listens closes when all is ended
        self.closing.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._palette is not None:
            self._palette.hide()
        narrow = self.width() < self.fontMetrics().height() * _NARROW_EMS
        self._sidebar.use_narrow(narrow)
        self._topbar.begin_at(0 if narrow else self._sidebar.width() + 4 * STEP)

    def _show(self, page: Page) -> None:
        if self.page is not None and self.page is not page:
            self._ask_about(None)  # what was asked there is not asked here
            self.page.left()
        self._stack.setCurrentWidget(page)
        page.entered()

    def _wait_with(self, shown: QWidget) -> None:
        """Have `shown` stand where the pages will be."""
        gone, self._waiting = self._waiting, shown
        self._stack.addWidget(shown)
        if self._stack.currentWidget() is gone:
            self._stack.setCurrentWidget(shown)
        gone.deleteLater()

    def _ask_about(self, unmet: Unmet | None) -> None:
        """Ask what to do about a load that will not fit; None: that is not asked any more."""
        if self._unmet is None and unmet is not None and self._services is not None:
            from weighbridge.ui.fixing import Fixing  # with all that weighs: not before it is asked for
            from weighbridge.ui.unmet_panel import UnmetPanel

            self._unmet = UnmetPanel(self._theme, Fixing(self._services))
            self._put_above(self._unmet)
        if self._unmet is not None:
            self._unmet.ask(unmet)

    def _put_above(self, panel: QWidget) -> None:
        """Have a panel stand above the pages."""
        self._theme.dress(panel)
        self._inner.insertWidget(self._inner.indexOf(self._stack), panel)

    def _leave_sheet(self) -> None:
        if self._beneath is not None and self.page is self._sheet:
            self._show(self._beneath)

    def _make(self, name: str) -> None:
        self.prepare(name)
        self.put_in(name)

    def _lay_out(self) -> None:
        pages = QWidget()
        self._inner = column(self._stack, owner=pages, gap=0)
        self._inner.setStretchFactor(self._stack, 1)
        body = row(self._sidebar, pages, gap=0)
        body.setStretch(1, 1)
        whole = QWidget()
        outer = column(self._topbar, body, owner=whole, gap=0)
        outer.setStretch(1, 1)
        self.setCentralWidget(whole)

    def _connect(self) -> None:
        self._sidebar.chosen.connect(self.show_page)
        self._topbar.model_clicked.connect(self._open_models)
        self._topbar.port_clicked.connect(self._copy_address)
        self._theme.changed.connect(self._tint)
        self._bus.page_wanted.connect(self.show_page)
        self._bus.place_wanted.connect(lambda _place: self.show_page("library"))
        self._bus.add_wanted.connect(lambda _paths: self.show_page("library"))
        Dropping(self).dropped.connect(self._bus.add_wanted)
        self._bus.chat_wanted.connect(self._show_chat)
        self._bus.load_wanted.connect(self.show_sheet)
        self._bus.switch_wanted.connect(self._open_models)
        self._bus.sign_in_wanted.connect(lambda: self.show_page("network"))
        self._bus.build_wanted.connect(lambda _build: self.show_page("engines"))
        self._bus.endpoint_wanted.connect(lambda _preset: self.show_page("engines"))
        self._bus.endpoint_shown.connect(lambda _endpoint: self.show_page("engines"))
        self._bus.find_wanted.connect(lambda _query: self.show_page("discover"))
        self._bus.failed.connect(self.show_error)
        self._bus.unmet_found.connect(self._ask_about)

    def _add_shortcuts(self) -> None:
        for page in PAGES:
            self._action(text(page.title), page.keys, partial(self.show_page, page.name))
        self._action(text("Find an action, page or model"), "Ctrl+K", self._open_palette)
        self._action(text("Switch the model"), "Ctrl+L", self._open_models)
        self._action(text("Copy the port's address"), "Ctrl+Shift+C", self._copy_address)
        self._action(text("Quit"), "Ctrl+Q", self.quitting.emit)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.activated.connect(self._escape)

    def _action(self, words: str, keys: str, act: Callable[[], object]) -> None:
        made = QAction(words, self)
        made.setShortcut(keys)
        made.triggered.connect(lambda _checked: act())
        self.addAction(made)

    def _show_engines(self) -> None:
        self.errors.hide()
        self.show_page("engines")

    def _open_palette(self) -> None:
        if self._services is None or self.page is None:
            return
        from weighbridge.ui.commands import all_entries

        own = self.actions()[len(PAGES) + 1 :]  # pages are offered by name, and this list itself is not
        entries = all_entries(self._services, [*self.page.actions(), *own], self.show_page, self._theme.choose)
        self.palette_box.open(entries, text("Find an action, page or model"))

    def _open_models(self) -> None:
        if self._services is not None:
            from weighbridge.ui.commands import model_entries

            self.palette_box.open(model_entries(self._services), text("Switch the model"))

    def _copy_address(self) -> None:
        url = self._services.port.url if self._services else None
        if url is None:
            self.show_page("server")
            return
        QApplication.clipboard().setText(url)
        QToolTip.showText(QCursor.pos() + QPoint(0, 4 * STEP), text("Copied: {address}", address=url))

    def _show_chat(self, model_id: str) -> None:
        del model_id  # the chat page hears it too
        self.show_page("chat")

    def _escape(self) -> None:
        if self._palette is not None and not self._palette.isHidden():
            self._palette.dismiss()
            return
        for asked in (self._question, self._unmet):
            if asked is not None and not asked.isHidden():
                asked.hide()
                return
        if not (self.page is not None and self.page.escape()) and self._errors is not None:
            self._errors.hide()

    def _tell_notices(self) -> None:
        notices = self._settings.notices
        if notices:
            from weighbridge.ui.widgets.error_panel import report_of_causes

            self.errors.show_report(report_of_causes(notices))

    def _tint(self) -> None:
        self.setWindowIcon(icon("weighbridge", self._theme.tokens.accent, size=64))

    def _restore_geometry(self) -> None:
        kept = self._settings.value.window_geometry
        if kept is None or not self.restoreGeometry(QByteArray.fromBase64(kept.encode("ascii", "replace"))):
            self.resize(*_FIRST)


def _waiting() -> QWidget:
    """What stands where the pages will be, for the moment until they are there."""
    made = QWidget()
    column(None, row(None, label(text("Opening…"), "dim"), None), None, owner=made)
    return made
