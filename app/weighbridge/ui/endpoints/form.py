"""Adding a server by its address, or giving one another key. What is typed of a key stands here alone, not for long."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.running.endpoints.endpoint import Endpoint
from weighbridge.running.endpoints.presets import OTHER, Key, presets
from weighbridge.ui.endpoints.driving import Wanted
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.borrowing import BorrowingFrame
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import button, column, label, row

_SECRET = Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText


class EndpointForm(BorrowingFrame):
    """Hidden until it is opened. `wanted` tells a Wanted, `key_wanted` the id of an endpoint, its key, and whether it
    may go unprotected.
    """

    wanted = Signal(object)
    key_wanted = Signal(str, str, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._of: Endpoint | None = None
        self._head = label("", "heading", wrap=True)
        self.preset = QComboBox()
        for preset in presets().values():
            self.preset.addItem(preset.title, preset.id)
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
        self._begin(text("Add a server that speaks as OpenAI's API does"), text("Add and ask what it serves"))
        self.preset.setCurrentIndex(max(0, self.preset.findData(preset_id)))
        self.title.clear()
        self._preset_chosen()
        self.borrow_focus(self.address)

    def open_key(self, endpoint: Endpoint) -> None:
        """Have another key for `endpoint` given."""
        self._of = endpoint
        self._begin(text("The key for {endpoint}", endpoint=endpoint.title), text("Keep the key"))
        self.borrow_focus(self.key)

    def show_fault(self, error: BaseException) -> None:
        """Why it could not be; what was typed stays to be mended."""
        self.errors.show_error(error)
        self.agreed.setVisible(isinstance(error, WeighbridgeError) and error.code == "endpoint.plain_key")

    def close_it(self) -> None:
        """Forget what was typed."""
        self.key.clear()
        self.hide()

    def _begin(self, head: str, go: str) -> None:
        self._head.setText(head)
        self.go.setText(go)
        self.go.setAccessibleName(go)
        self.key.clear()
        self.agreed.setChecked(False)
        self.agreed.hide()
        self.errors.hide()
        for place, pair in enumerate(self._rows):
            for each in pair:
                each.setVisible(self._of is None or place == len(self._rows) - 1)
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
            grid.addWidget(name, place, 0)
            grid.addWidget(field, place, 1)
            self._rows.append((name, field))
        note = label(
            text("The key is kept in the system's keyring, or in a file that you alone can read."), "dim", wrap=True
        )
        foot = row(self.go, button(text("Close"), self.close_it), None)
        column(self._head, self.errors, grid, self.agreed, note, foot, owner=self, margin=3, gap=2)

    def _preset_chosen(self) -> None:
        preset = presets()[self.preset.currentData()]
        self.address.setText(preset.address)
        hints = {
            Key.NEEDED: text("needed"),
            Key.OPTIONAL: text("only if it asks for one"),
            Key.NONE: text("it has none"),
        }
        self.key.setPlaceholderText(hints[preset.key])
        self.title.setPlaceholderText(preset.title)

    def _allow(self) -> None:
        self.go.setEnabled(bool(self.key.text().strip() if self._of is not None else self.address.text().strip()))

    def _tell(self) -> None:
        if not self.go.isEnabled():
            return
        key = self.key.text().strip()
        if self._of is not None:
            self.key_wanted.emit(self._of.id, key, self.agreed.isChecked())
            return
        title, address = self.title.text().strip(), self.address.text().strip()
        self.wanted.emit(Wanted(self.preset.currentData(), address, title, key or None, self.agreed.isChecked()))


def _line(name: str, hint: str) -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made
