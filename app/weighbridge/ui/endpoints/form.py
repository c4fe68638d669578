"""Adding a server by its address, changing one, giving one another key. A typed key stands here alone, briefly."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.choices.reach_words import known_by_in_words
from weighbridge.running.endpoints.endpoint import Endpoint
from weighbridge.running.endpoints.presets import OTHER, Key, presets
from weighbridge.ui.endpoints.driving import Wanted
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.borrowing import BorrowingFrame
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import button, column, label, row

_SECRET = Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText


class _Asks(Enum):
    """What is asked for: all of a new server, what it is and where, or its key."""

    ALL = "all"
    PLACE = "place"
    KEY = "key"


class EndpointForm(BorrowingFrame):
    """Hidden until it is opened. `wanted` tells a Wanted, `change_wanted` the id of an endpoint and a Wanted,
    `key_wanted` the id, its key, and whether it may go unprotected.
    """

    wanted = Signal(object)
    change_wanted = Signal(str, object)
    key_wanted = Signal(str, str, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._of: Endpoint | None = None
        self._asks = _Asks.ALL
        self._head = label("", "heading", wrap=True)
        self.preset = QComboBox()
        for preset in presets().values():
            self.preset.addItem(preset.title, preset.id)
        self.known = label("", "dim", wrap=True)
        self.address = _line(text("Address"), "http://127.0.0.1:11434")
        self.title = _line(text("Name"), text("as its kind"))
        self.key = _line(text("Key"), "")
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setInputMethodHints(_SECRET)
        self.agreed = QCheckBox(text("Send the key without encryption all the same"))
        self.errors = ErrorPanel(theme)
        self.go = button("", self._tell, "primary")
        self._rows: list[tuple[QWidget, QWidget]] = []
        self._lay_out()
        self.preset.activated.connect(lambda _place: self._preset_chosen())
        for each in (self.address, self.title, self.key):
            each.textChanged.connect(self._allow)
            each.returnPressed.connect(self._tell)
        self.hide()

    def open(self, preset_id: str = OTHER) -> None:
        """Have a server of this kind added."""
        self._of = None
        self._begin(
            text("Add a server that speaks as OpenAI's API does"), text("Add and ask what it serves"), _Asks.ALL
        )
        self.preset.setCurrentIndex(max(0, self.preset.findData(preset_id)))
        self.title.clear()
        self._preset_chosen()
        self.borrow_focus(self.address)

    def open_key(self, endpoint: Endpoint) -> None:
        """Have another key for `endpoint` given."""
        self._of = endpoint
        self._begin(text("The key for {endpoint}", endpoint=endpoint.title), text("Keep the key"), _Asks.KEY)
        self.borrow_focus(self.key)

    def open_change(self, endpoint: Endpoint) -> None:
        """Have another kind, address or name for `endpoint` given."""
        self._of = endpoint
        self._begin(
            text("Change {endpoint}", endpoint=endpoint.title), text("Change and ask what it serves"), _Asks.PLACE
        )
        self.preset.setCurrentIndex(max(0, self.preset.findData(endpoint.preset_id)))
        self._show_known()
        self.address.setText(endpoint.address)
        self.title.setText(endpoint.title)
        self.borrow_focus(self.address)

    def show_fault(self, error: BaseException) -> None:
        """Why it could not be; what was typed stays to be mended."""
        self.errors.show_error(error)
        self.agreed.setVisible(isinstance(error, WeighbridgeError) and error.code == "endpoint.plain_key")

    def close_it(self) -> None:
        """Forget what was typed."""
        self.key.clear()
        self.hide()

    def _begin(self, head: str, go: str, asks: _Asks) -> None:
        self._asks = asks
        self._head.setText(head)
        self.go.setText(go)
        self.go.setAccessibleName(go)
        self.key.clear()
        self.agreed.setChecked(False)
        self.agreed.hide()
        self.errors.hide()
        for name, field in self._rows:
            is_asked = asks is not (_Asks.PLACE if field is self.key else _Asks.KEY)
            name.setVisible(is_asked)
            field.setVisible(is_asked)
        self.known.setVisible(asks is not _Asks.KEY)
        self._note.setText(_key_stays_in_words() if asks is _Asks.PLACE else _key_kept_in_words())
        self._note.setVisible(asks is not _Asks.PLACE or (self._of is not None and self._of.keyed))
        self.show()
        self._allow()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * STEP)
        grid.setVerticalSpacing(STEP)
        grid.setColumnStretch(1, 1)
        named = ((text("Kind"), self.preset), (text("Address"), self.address), (text("Name"), self.title))
        for place, (words, field) in enumerate((*named, (text("Key"), self.key))):
            name = label(words, "dim")
            name.setBuddy(field)
            field.setAccessibleName(words)
            line = place if field is self.preset else place + 1
            grid.addWidget(name, line, 0)
            grid.addWidget(field, line, 1)
            self._rows.append((name, field))
        grid.addWidget(self.known, 1, 1)  # below the kind
        self._note = label("", "dim", wrap=True)
        foot = row(self.go, button(text("Close"), self.close_it), None)
        column(self._head, self.errors, grid, self.agreed, self._note, foot, owner=self, margin=3, gap=2)

    def _preset_chosen(self) -> None:
        preset = presets()[self.preset.currentData()]
        self._show_known()
        if self._asks is _Asks.PLACE:
            return  # what was set before stays
        self.address.setText(preset.address)
        hints = {
            Key.NEEDED: text("needed"),
            Key.OPTIONAL: text("only if it asks for one"),
            Key.NONE: text("it has none"),
        }
        self.key.setPlaceholderText(hints[preset.key])
        self.title.setPlaceholderText(preset.title)

    def _show_known(self) -> None:
        preset = presets()[self.preset.currentData()]
        self.known.setText(text("How it is spoken to: {known}.", known=known_by_in_words(preset.known_by)))

    def _allow(self) -> None:
        self.go.setEnabled(bool((self.key if self._asks is _Asks.KEY else self.address).text().strip()))

    def _tell(self) -> None:
        if not self.go.isEnabled():
            return
        key = self.key.text().strip()
        title, address = self.title.text().strip(), self.address.text().strip()
        wanted = Wanted(self.preset.currentData(), address, title, key or None, self.agreed.isChecked())
        if self._of is None:
            self.wanted.emit(wanted)
        elif self._asks is _Asks.KEY:
            self.key_wanted.emit(self._of.id, key, self.agreed.isChecked())
        else:
            self.change_wanted.emit(self._of.id, wanted)


def _key_kept_in_words() -> str:
    return text("The key is kept in the system's keyring, or in a file that you alone can read.")


def _key_stays_in_words() -> str:
    return text("A key stays only where the server does: at another host or port it is forgotten.")


def _line(name: str, hint: str) -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made
