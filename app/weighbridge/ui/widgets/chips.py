"""Chips: buttons that stay down, beside each other, to choose among what is shown; as a menu where there is no room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import text
from weighbridge.ui.widgets.flow import Flow


class Chip(NamedTuple):
    """What can be chosen: `id` tells it from the others."""

    id: str
    title: str


class Chips(QWidget):
    """Some of `Chip` are chosen, in any number; `changed` when the user chose. The first button chooses none.

    `menu_button`, for another place, offers the same.
    """

    changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self._name = name
        self._chips: tuple[Chip, ...] = ()
        self._chosen: frozenset[str] = frozenset()
        self._buttons: dict[str, QPushButton] = {}
        self._flow = Flow()
        self.setLayout(self._flow)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.menu_button = QPushButton()
        self.menu_button.setAutoDefault(False)
        self._menu = QMenu(self.menu_button)
        self.menu_button.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.show_chips(())

    @property
    def chosen(self) -> frozenset[str]:
        """The ids of those that are chosen."""
        return self._chosen

    @property
    def buttons(self) -> dict[str, QPushButton]:
        """The buttons by id; "" chooses none."""
        return self._buttons

    def show_chips(self, chips: Sequence[Chip]) -> None:
        """Offer these; what was chosen stays so where it is still offered. Tells nobody: look at `chosen`."""
        self._chosen &= {chip.id for chip in chips}
        if tuple(chips) != self._chips or not self._buttons:
            self._chips = tuple(chips)
            self._make_buttons()
        self._show_chosen()

    def choose(self, chosen: Iterable[str]) -> None:
        """Choose these of what is offered, as if the user had."""
        self._choose(frozenset(chosen) & {chip.id for chip in self._chips})

    def clear(self) -> None:
        """Choose none, as if the user had."""
        self._choose(frozenset())

    def _make_buttons(self) -> None:
        focused = next((known for known, each in self._buttons.items() if each.hasFocus()), None)
        for old in self._buttons.values():
            self._flow.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._buttons = {}
        for chip in (Chip("", text("All")), *self._chips):
            self._buttons[chip.id] = made = self._make(chip)
            self._flow.addWidget(made)
        if focused in self._buttons:
            self._buttons[focused].setFocus()

    def _make(self, chip: Chip) -> QPushButton:
        made = QPushButton(chip.title, self)
        made.setAutoDefault(False)
        made.setCheckable(True)
        made.setProperty("role", "chip")
        made.setAccessibleName(chip.title)
        made.clicked.connect(lambda _checked: self._toggle(chip.id))
        made.show()
        return made

    def _toggle(self, chip_id: str) -> None:
        self._choose(self._chosen ^ {chip_id} if chip_id else frozenset())

    def _choose(self, chosen: frozenset[str]) -> None:
        is_new, self._chosen = chosen != self._chosen, chosen
        self._show_chosen()
        if is_new:
            self.changed.emit()

    def _show_chosen(self) -> None:
        for chip_id, each in self._buttons.items():
            each.setChecked(chip_id in self._chosen if chip_id else not self._chosen)
        titles = ", ".join(chip.title for chip in self._chips if chip.id in self._chosen)
        shown = text("{name}: {chosen}", name=self._name, chosen=titles) if titles else self._name
        self.menu_button.setAccessibleName(shown)
        room = self.menu_button.fontMetrics()
        self.menu_button.setText(room.elidedText(shown, Qt.TextElideMode.ElideRight, room.height() * 9))

    def _fill_menu(self) -> None:
        self._menu.clear()
        for chip in (Chip("", text("All")), *self._chips):
            entry = self._menu.addAction(chip.title)
            entry.setCheckable(True)
            entry.setChecked(chip.id in self._chosen if chip.id else not self._chosen)
            entry.triggered.connect(lambda _checked, chip_id=chip.id: self._toggle(chip_id))
