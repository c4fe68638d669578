"""One build of an engine: how it stands, what it sees, what can be done with it, and how its installation goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import mark, text
from weighbridge.ui.engines.installation import Installation
from weighbridge.ui.engines.installing_view import InstallingView
from weighbridge.ui.engines.log_view import LogView
from weighbridge.ui.engines.looks import Act, BuildLook, BuildState
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, label, row, selectable

_BADGES: Mapping[BuildState, tuple[str, str, str]] = {
    BuildState.IN_USE: ("fits", mark("In use"), ""),
    BuildState.HERE: ("unknown", mark("Installed"), "check"),
    BuildState.BROKEN: ("no", mark("Cannot be used"), ""),
    BuildState.ABSENT: ("unknown", mark("Not installed"), "ring"),
    BuildState.CAN_BE: ("unknown", mark("Can be installed"), "downloads"),
    BuildState.CANNOT_BE: ("unknown", mark("Cannot be here"), "stop"),
}
_TITLES: Mapping[Act, str] = {
    Act.INSTALL: mark("Install"),
    Act.OWN: mark("Add it…"),
    Act.USE: mark("Use"),
    Act.NEWER: mark("Look for a newer one"),
    Act.UPDATE: mark("Update (install anew)"),
    Act.WHEELS: mark("Install from wheels…"),
    Act.PROBE: mark("Ask what it sees"),
    Act.LOG: mark("Log of its installation"),
    Act.COPY: mark("Copy the command"),
    Act.REMOVE: mark("Remove…"),
    Act.FORGET: mark("Take off the list"),
}
_DOING: Mapping[Act, str] = {
    Act.USE: mark("Taking it into use…"),
    Act.NEWER: mark("Asking the package index for a newer one…"),
    Act.PROBE: mark("Asking what it sees…"),
    Act.LOG: mark("Reading its log…"),
    Act.REMOVE: mark("Removing it…"),
    Act.FORGET: mark("Taking it off the list…"),
}
_FIRST = (Act.INSTALL, Act.OWN, Act.USE)
"""What has a button of its own; the rest is in the menu."""
FETCHING = (Act.INSTALL, Act.UPDATE, Act.NEWER)
"""What asks the network."""
INSTALLING = (Act.INSTALL, Act.UPDATE, Act.WHEELS)
"""What one installation leaves no room for."""
Remedies = tuple[tuple[str, Callable[[], object]], ...]
"""Words of a button, and what it does."""


class BuildRow(QFrame):
    """Shows a `BuildLook`. `wanted` tells an Act and the build's id; the page acts."""

    wanted = Signal(object, str)

    def __init__(self, theme: Theme, build_id: str, engine_title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.build_id = build_id
        self._engine_title = engine_title
        self._look: BuildLook | None = None
        self._closed: frozenset[Act] = frozenset()
        self._why_closed = ""
        self._title = selectable(label("", "figure"))
        self._badge = Badge(theme, "unknown", "")
        self._untried = label(text("not tried by us"), "tag")
        self._untried.setToolTip(
            text(
                "Nobody has run this very build for us. It is tried as it is installed, and removed again if it fails."
            )
        )
        self._about = selectable(label("", "dim", wrap=True))
        self._sees = selectable(label("", wrap=True))
        self._needs = selectable(label("", "dim", wrap=True))
        self._said = selectable(label("", wrap=True))
        self._doing = label("", "dim")
        self._first = button("", self._do_first)
        self._more = QPushButton(text("More"))
        self._more.setAutoDefault(False)
        self._menu = QMenu(self._more)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._more.setMenu(self._menu)
        self._installing = InstallingView(theme)
        self._errors = ErrorPanel(theme)
        self._shown_error: BaseException | None = None
        self._log = LogView(theme, text("Log of its installation"))
        self._lay_out()

    @property
    def first(self) -> QPushButton:
        """Install or Use."""
        return self._first

    @property
    def more(self) -> QPushButton:
        """Opens the menu of what else can be done."""
        return self._more

    @property
    def badge(self) -> Badge:
        """How it stands."""
        return self._badge

    @property
    def installing(self) -> InstallingView:
        """How its installation goes."""
        return self._installing

    @property
    def errors(self) -> ErrorPanel:
        """What went wrong with it."""
        return self._errors

    @property
    def log(self) -> LogView:
        """The log of its last installation."""
        return self._log

    @property
    def shown(self) -> list[str]:
        """The texts in sight, from the top."""
        texts = (self._title, self._about, self._sees, self._needs, self._said, self._doing)
        return [one.text() for one in texts if not one.isHidden()]

    def acts(self) -> dict[Act, bool]:
        """What can be done, and whether now."""
        listed = self._look.acts if self._look is not None else ()
        return {act: act not in self._closed for act in listed}

    def title_of(self, act: Act) -> str:
        """What an act is called."""
        return text(_TITLES[act])

    def show_look(self, look: BuildLook, closed: frozenset[Act], why_closed: str) -> None:
        """Show `look`; what is `closed` cannot be done now."""
        self._look, self._closed, self._why_closed = look, closed, why_closed
        self.setAccessibleName(f"{self._engine_title}, {look.title}")
        kind, words, glyph = _BADGES[look.state]
        self._title.setText(look.title)
        self._badge.say(kind, text(words), glyph)
        self._untried.setVisible(look.untried)
        told = (self._about, look.about), (self._sees, look.sees), (self._needs, look.needs), (self._said, look.said)
        for made, words in told:
            if made.text() != words:
                made.setText(words)
            made.setVisible(bool(words))
        self._show_buttons(look)

    def show_doing(self, act: Act | None, installation: Installation | None) -> None:
        """What goes on with it."""
        self._installing.show_installation(installation)
        if installation is not None:
            self._badge.say("unknown", text("Being installed"), "downloads")
        self._doing.setText(text(_DOING[act]) if act is not None and act in _DOING else "")
        self._doing.setVisible(bool(self._doing.text()))
        busy = act is not None or installation is not None
        self._more.setVisible(not busy and self._has_more())
        self._first.setVisible(not busy and self._first_act() is not None)

    def show_error(self, error: BaseException | None, remedies: Remedies = ()) -> None:
        """What went wrong with it last, once for each time, with a button for each of `remedies`; an installation can
        be tried again.
        """
        if error is None:
            self._errors.hide()
        elif self._shown_error is not error:
            again = self._first_act() is Act.INSTALL
            acts = ((text("Try again"), partial(self.wanted.emit, Act.INSTALL, self.build_id)),) if again else ()
            self._errors.show_error(error, (*acts, *remedies))
        self._shown_error = error

    def show_log(self, lines: Sequence[str] | None) -> None:
        """The log of its last installation, unfolded at first; None: it is not read."""
        is_new = lines is not None and self._log.isHidden()
        self._log.show_lines(lines)
        if is_new:
            self._log.fold.show_open(True)

    def _lay_out(self) -> None:
        head = QWidget()
        head.setLayout(Flow(self._title, self._badge, self._untried))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        head.setSizePolicy(policy)
        told = column(head, self._about, self._sees, self._needs, self._said, self._doing, gap=1)
        buttons = column(row(self._first, self._more), None)
        top = row(told, buttons, gap=3)
        top.setStretch(0, 1)
        column(top, self._installing, self._errors, self._log, owner=self, gap=2)

    def _show_buttons(self, look: BuildLook) -> None:
        named = f"{self._engine_title}, {look.title}"
        first = self._first_act()
        self._first.setVisible(first is not None)
        if first is not None:
            self._first.setText(self.title_of(first))
            self._first.setAccessibleName(text("{act}: {name}", act=self.title_of(first), name=named))
            self._first.setEnabled(first not in self._closed)
            self._first.setToolTip(self._why_closed if first in self._closed else "")
        self._more.setAccessibleName(text("More to do with {name}", name=named))
        self._more.setVisible(self._has_more())

    def _first_act(self) -> Act | None:
        acts = self._look.acts if self._look is not None else ()
        return next((act for act in acts if act in _FIRST), None)

    def _has_more(self) -> bool:
        return self._look is not None and any(act not in _FIRST for act in self._look.acts)

    def _do_first(self) -> None:
        act = self._first_act()
        if act is not None:
            self.wanted.emit(act, self.build_id)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for act, open_now in self.acts().items():
            if act in _FIRST:
                continue
            if act in (Act.REMOVE, Act.FORGET):
                self._menu.addSeparator()
            entry = self._menu.addAction(self.title_of(act))
            entry.setEnabled(open_now)
            entry.triggered.connect(partial(self._chosen, act))

    def _chosen(self, act: Act, _checked: bool = False) -> None:
        self.wanted.emit(act, self.build_id)
