"""A field for each kind of setting. All are reached by the keyboard, and named by the setting's title."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QLineEdit, QListWidget, QSizePolicy, QSpinBox, QWidget

from weighbridge.base.setting_kinds import Address, Choice, Folders, Kind, Number, Switch
from weighbridge.base.units import THIN
from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, row

_MOST = (1 << 31) - 1
_MOST_ROWS = 6


class ChoiceField(QComboBox):
    """One of a few values."""

    chosen = Signal(object)

    def __init__(self, kind: Choice) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for value, word in kind.words.items():
            self.addItem(text(word), value)
        self.activated.connect(lambda _place: self.chosen.emit(self.currentData()))

    def show_value(self, value: object) -> None:
        """Show `value`."""
        self.setCurrentIndex(self.findData(value))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page and changes nothing on its way."""
        event.ignore()


class NumberField(QSpinBox):
    """A whole number with its unit; below the least stands the word for None, where there is one."""

    chosen = Signal(object)

    def __init__(self, kind: Number) -> None:
        super().__init__()
        self._none_at = kind.low - 1 if kind.none else None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setRange(kind.low if self._none_at is None else self._none_at, min(kind.high, _MOST))
        self.setSingleStep(kind.step)
        self.setGroupSeparatorShown(bool(kind.unit))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        if kind.none:
            self.setSpecialValueText(text(kind.none))
        if kind.unit:
            self.setSuffix(f"{THIN}{text(kind.unit)}")
        self._shown: object = None
        self.editingFinished.connect(self._tell)

    def show_value(self, value: object) -> None:
        """Show `value`."""
        self._shown = value
        self.setValue(value if isinstance(value, int) else self.minimum())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page and changes nothing on its way."""
        event.ignore()

    def _tell(self) -> None:
        value = None if self.value() == self._none_at else self.value()
        if value != self._shown:
            self._shown = value
            self.chosen.emit(value)


class SwitchField(QCheckBox):
    """On or off."""

    chosen = Signal(object)

    def __init__(self, kind: Switch) -> None:
        super().__init__(text("Switched on"))
        del kind
        self.clicked.connect(self._tell)

    def show_value(self, value: object) -> None:
        """Show `value`."""
        self.setChecked(bool(value))

    def _tell(self, on: bool) -> None:
        self.chosen.emit(on)


class AddressField(QWidget):
    """A line for an address; empty for None. One that is refused stays to be mended, with why below it."""

    chosen = Signal(object)

    def __init__(self, kind: Address) -> None:
        super().__init__()
        self._kind = kind
        self._line = QLineEdit()
        self._line.setPlaceholderText(kind.none)
        self._why = label("", "bad", wrap=True)
        self._why.hide()
        column(self._line, self._why, owner=self, gap=1)
        self.setFocusProxy(self._line)
        self._shown: object = None
        self._line.editingFinished.connect(self._tell)

    def setAccessibleName(self, name: str) -> None:
        """Names the line, which has the focus."""
        super().setAccessibleName(name)
        self._line.setAccessibleName(name)

    def show_value(self, value: object) -> None:
        """Show `value`."""
        self._shown = value
        self._line.setText(value if isinstance(value, str) else "")
        self._why.hide()

    def _tell(self) -> None:
        value = self._line.text().strip() or None
        good = self._kind.accepts(value)
        self._why.setText("" if good else text("Only https addresses without a user's name, or http on this machine."))
        self._why.setVisible(not good)
        if good and value != self._shown:
            self._shown = value
            self.chosen.emit(value)


class FoldersField(QWidget):
    """A list of folders; they are added by the system's dialog, and taken away."""

    chosen = Signal(object)

    def __init__(self, kind: Folders) -> None:
        super().__init__()
        self._title = text(kind.title)
        self._list = QListWidget()
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.itemSelectionChanged.connect(self._allow)
        self._add = button(text("Add a folder…"), self._choose)
        self._remove = button(text("Remove"), self._take, name=text("Remove the chosen folder"))
        column(self._list, row(self._add, self._remove, None), owner=self, gap=2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_value(())

    def setAccessibleName(self, name: str) -> None:
        """Names the list, which has the focus."""
        super().setAccessibleName(name)
        self._list.setAccessibleName(name)

    def show_value(self, value: object) -> None:
        """Show `value`, a tuple of paths."""
        self._list.clear()
        for folder in value if isinstance(value, tuple) else ():
            self._list.addItem(folder)
            self._list.item(self._list.count() - 1).setToolTip(folder)
        self._list.setVisible(bool(self.folders))
        rows = min(_MOST_ROWS, self._list.count())
        self._list.setFixedHeight(rows * (self.fontMetrics().height() + 4 * STEP) + 2 * STEP)
        self._allow()

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders listed."""
        return tuple(self._list.item(place).text() for place in range(self._list.count()))

    def _choose(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self._title)
        if folder and folder not in self.folders:
            self.chosen.emit((*self.folders, folder))

    def _take(self) -> None:
        gone = {item.text() for item in self._list.selectedItems()}
        self.chosen.emit(tuple(folder for folder in self.folders if folder not in gone))

    def _allow(self) -> None:
        self._remove.setEnabled(bool(self._list.selectedItems()))


SettingField = ChoiceField | NumberField | SwitchField | AddressField | FoldersField
_FIELDS: Mapping[type[Kind], Callable[..., SettingField]] = {
    Choice: ChoiceField,
    Number: NumberField,
    Switch: SwitchField,
    Address: AddressField,
    Folders: FoldersField,
}


def field_of(kind: Kind) -> SettingField:
    """The field for a setting of this kind, named."""
    made = _FIELDS[type(kind)](kind)
    made.setAccessibleName(text(kind.title))
    made.setAccessibleDescription(text(kind.description))
    return made
