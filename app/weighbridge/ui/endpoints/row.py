"""One endpoint: where it is, how far what is sent there goes, what it serves, and what can be done with it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QMenu, QPushButton

from weighbridge.base.words import text
from weighbridge.running.endpoints.endpoint import Endpoint, Reached
from weighbridge.ui.elsewhere_words import reach_badge
from weighbridge.ui.endpoints.words import known_in_words, names_in_words, reached_in_words, warning_in_words
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, give_role, label, row, selectable


class EndpointRow(QFrame):
    """Shows one `Endpoint`. Each signal tells its id, `path_wanted` also where its routes are to begin."""

    look_wanted = Signal(str)
    path_wanted = Signal(str, str)
    change_wanted = Signal(str)
    key_wanted = Signal(str)
    no_key_wanted = Signal(str)
    remove_wanted = Signal(str)

    def __init__(self, theme: Theme, endpoint_id: str) -> None:
        super().__init__()
        self.endpoint_id = endpoint_id
        self.setProperty("role", "panel")
        self._title = selectable(label("", "heading"))
        self._kind = label("", "tag")
        self._reach = Badge(theme, "unknown", "")
        self._address = selectable(label("", "dim", wrap=True))
        self._warning = label("", "warning", wrap=True)
        self.said = selectable(label("", wrap=True))
        self._known = label("", "dim", wrap=True)
        self._names = selectable(label("", "dim", wrap=True))
        self._key = label("", "dim")
        self._found = ""
        self.use_found = button("", lambda: self.path_wanted.emit(endpoint_id, self._found))
        self.look = button(text("Ask again"), lambda: self.look_wanted.emit(endpoint_id))
        self.more = QPushButton(text("More"))
        self.more.setAutoDefault(False)
        self._menu = QMenu(self.more)
        self.more.setMenu(self._menu)
        self.errors = ErrorPanel(theme)
        self.errors.hide()
        heads = Flow(self._title, self._kind, self._reach, gap=2)
        top = row(heads, self._key, self.look, self.more, gap=2)
        top.setStretch(0, 1)
        told = (self._address, self._warning, self.said, self._known, row(self.use_found, None), self._names)
        column(top, *told, self.errors, owner=self, margin=3, gap=1)

    def show_endpoint(
        self, endpoint: Endpoint, reached: Reached | None, *, asks: bool, error: BaseException | None
    ) -> None:
        """Show it as it stands."""
        self._title.setText(endpoint.title)
        self._kind.setText(endpoint.preset.title)
        self._kind.setVisible(endpoint.preset.title != endpoint.title)
        self._reach.say(*reach_badge(endpoint.reach))
        self._address.setText(endpoint.address)
        warning = warning_in_words(endpoint)
        self._warning.setText(f"⚠ {warning}")
        self._warning.setVisible(bool(warning))
        self.said.setText(reached_in_words(reached, asks=asks))
        give_role(self.said, "bad" if reached is not None and not reached.reachable and not asks else "")
        self._show_found(None if reached is None or asks else reached.found_path)
        known = known_in_words(endpoint, reached)
        self._known.setText(known)
        self._known.setVisible(bool(known) and not asks)
        names = names_in_words(reached)
        self._names.setText(names)
        self._names.setVisible(bool(names))
        self._key.setText(text("with a key") if endpoint.keyed else text("without a key"))
        self.look.setEnabled(not asks)
        self.look.setAccessibleName(text("Ask {endpoint} what it serves", endpoint=endpoint.title))
        self.more.setAccessibleName(text("More about {endpoint}", endpoint=endpoint.title))
        self._fill(endpoint)
        if error is None:
            self.errors.hide()
        else:
            self.errors.show_error(error)

    def _show_found(self, found: str | None) -> None:
        self._found = found or ""
        self.use_found.setText(text("Use {path}", path=found or "/"))
        self.use_found.setVisible(found is not None)

    def _fill(self, endpoint: Endpoint) -> None:
        self._menu.clear()
        entries = [
            (text("Change…"), self.change_wanted),
            (text("Another key…") if endpoint.keyed else text("Add a key…"), self.key_wanted),
        ]
        if endpoint.keyed:
            entries.append((text("Forget the key"), self.no_key_wanted))
        entries.append((text("Remove…"), self.remove_wanted))
        for words, signal in entries:
            self._menu.addAction(words).triggered.connect(partial(_tell, signal, self.endpoint_id))


def _tell(signal: object, endpoint_id: str, _checked: bool = False) -> None:
    signal.emit(endpoint_id)  # type: ignore[attr-defined] # a bound signal, for which Qt has no public type
