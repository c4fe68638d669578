"""What if the machine were another: its card, how many of it, its memory; and that nothing here is for this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QSpinBox, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.units import GIB, THIN, bandwidth
from weighbridge.base.words import text
from weighbridge.choices.other_machine import OtherMachine, machine_in_words
from weighbridge.hardware.cards import Card
from weighbridge.hardware.machine import Machine, MemoryKind
from weighbridge.hardware.memory_types import MemoryType
from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.card_box import CardBox
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, fill, give_way, label, row

MOST_CARDS = 8
_MOST_GIB, _STEP_GIB = 4096, 8
_LETTERS = 14
_CHOSEN_HERE = ("machine.card_near", "machine.card_unknown")
"""Errors whose next step is another in the window: to choose from the list that stands there."""


class MachineStrip(QFrame):
    """Hidden until it is opened. `chosen` tells an OtherMachine, `left` that this machine is meant again.

    `find` gives the card that a typed name means, or raises Refused.
    """

    chosen = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, find: Callable[[str], Card], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._theme = theme
        self._types: tuple[MemoryType, ...] = ()
        self._card: Card | None = None
        self._glyph = QLabel()
        self._said = label("", "heading", wrap=True)
        self._wrong = label("", "bad", wrap=True)
        self._wrong.hide()
        self._back = button(text("Back to this machine"), self.leave)
        self._names = CardBox(find)
        self._count = self._make_count()
        self._ram = self._make_ram()
        self._type = self._make_types()
        self._lay_out()
        self._connect()
        self.hide()

    @property
    def names(self) -> CardBox:
        """The card, chosen or typed."""
        return self._names

    @property
    def count(self) -> QSpinBox:
        """How many of the card."""
        return self._count

    @property
    def ram(self) -> QSpinBox:
        """The system's memory in GiB; 0: as here."""
        return self._ram

    @property
    def memory_type(self) -> QComboBox:
        """The kind of the system's memory; the first: as here."""
        return self._type

    @property
    def back(self) -> QPushButton:
        """Leads back to this machine."""
        return self._back

    @property
    def said(self) -> str:
        """What the banner says."""
        return self._said.text()

    @property
    def wrong(self) -> str:
        """What cannot be; "" where all can."""
        return "" if self._wrong.isHidden() else self._wrong.text()

    @property
    def other(self) -> OtherMachine:
        """The machine as the controls describe it."""
        place = self._type.currentIndex()
        return OtherMachine(
            self._card,
            self._count.value(),
            self._ram.value() * GIB or None,
            self._types[place - 1] if place > 0 else None,
        )

    def open(self) -> None:
        """Show it, to choose a machine."""
        self.show()
        self._names.begin()

    def leave(self) -> None:
        """This machine again; the controls are put back and hidden."""
        self.apply(OtherMachine())
        self.hide()
        self.left.emit()

    def offer(self, cards: Mapping[str, Card], types: Sequence[MemoryType]) -> None:
        """What there is to choose from."""
        self._types = tuple(types)
        self._names.offer(cards)
        fill(self._type, [text("kind as here"), *(one.name for one in types)])
        for place, one in enumerate(types, start=1):
            self._type.setItemData(place, bandwidth(one.bandwidth.low_gbs), Qt.ItemDataRole.ToolTipRole)
        self._type.view().setMinimumWidth(self._type.view().sizeHintForColumn(0) + 4 * STEP)

    def apply(self, other: OtherMachine) -> None:
        """Set the controls, and tell nobody."""
        self._card = other.card
        self._names.show_name(other.card.name if other.card else None)
        place = self._types.index(other.memory_type) + 1 if other.memory_type in self._types else 0
        settings = ((self._count, other.cards), (self._ram, (other.ram_bytes or 0) // GIB))
        for control, value in settings:
            blocked = control.blockSignals(True)
            control.setValue(value)
            control.blockSignals(blocked)
        self._type.setCurrentIndex(place)
        self._allow()

    def show_machine(self, machine: Machine | None) -> None:
        """Say which machine models are weighed for; None: for this one, as nothing else is chosen yet."""
        self._wrong.hide()
        if machine is None:
            said = text("Choose a card, or other memory. Until then all is weighed for this machine.")
        else:
            said = text(
                "Weighed for a machine with {parts}, not for this one. Load still loads on this machine.",
                parts=machine_in_words(machine),
            )
        self._said.setText(said)
        self.setAccessibleName(said)

    def show_error(self, error: WeighbridgeError) -> None:
        """Say why such a machine cannot be."""
        said = explain(error)
        self._wrong.setText(said.what if error.code in _CHOSEN_HERE else str(said))
        self._wrong.show()

    def tint(self) -> None:
        """Draw the glyph in the colours in use."""
        side = self.fontMetrics().height() + STEP
        self._glyph.setPixmap(pixmap("machine", self._theme.tokens.accent, side, self.devicePixelRatioF()))
        self._glyph.setFixedSize(QSize(side, side))

    def _make_count(self) -> QSpinBox:
        made = QSpinBox()
        made.setRange(1, MOST_CARDS)
        made.setAlignment(Qt.AlignmentFlag.AlignRight)
        made.setAccessibleName(text("How many of the card"))
        return made

    def _make_ram(self) -> QSpinBox:
        made = QSpinBox()
        made.setRange(0, _MOST_GIB)
        made.setSingleStep(_STEP_GIB)
        made.setSpecialValueText(text("as here"))
        made.setSuffix(f"{THIN}GiB")
        made.setKeyboardTracking(False)
        made.setGroupSeparatorShown(True)
        made.setAlignment(Qt.AlignmentFlag.AlignRight)
        made.setAccessibleName(text("System memory in GiB"))
        return made

    def _make_types(self) -> QComboBox:
        made = QComboBox()
        made.setAccessibleName(text("Kind of system memory"))
        made.setToolTip(text("How fast the memory is decides how fast layers outside of cards are"))
        give_way(made, _LETTERS)
        return made

    def _lay_out(self) -> None:
        pairs = (
            (text("Card"), self._names),
            (text("How many"), self._count),
            (text("Memory"), self._ram),
        )
        controls = Flow(*(_named(name, control) for name, control in pairs), self._type, gap=2)
        head = row(self._glyph, self._said, self._back, gap=3)
        head.setStretch(1, 1)
        outer = column(head, controls, self._wrong, owner=self, gap=2)
        outer.setContentsMargins(4 * STEP, 2 * STEP, 3 * STEP, 2 * STEP)
        fill(self._type, [text("kind as here")])
        self.show_machine(None)
        self.tint()

    def _connect(self) -> None:
        self._theme.changed.connect(self.tint)
        self._names.chosen.connect(self._take)
        self._names.unknown.connect(self.show_error)
        self._type.activated.connect(lambda _place: self._tell())
        for control in (self._count, self._ram):
            control.valueChanged.connect(lambda _value: self._tell())

    def _take(self, card: Card | None) -> None:
        self._card = card
        self._allow()
        self._tell()

    def _allow(self) -> None:
        """A chip with its own memory is alone."""
        alone = self._card is None or self._card.kind is MemoryKind.UNIFIED
        if alone:
            blocked = self._count.blockSignals(True)
            self._count.setValue(1)
            self._count.blockSignals(blocked)
        self._count.setEnabled(not alone)

    def _tell(self) -> None:
        self.chosen.emit(self.other)


def _named(name: str, control: QWidget) -> QWidget:
    """A control with its name, which stay together."""
    made, said = QWidget(), label(name, "dim")
    said.setBuddy(control)
    row(said, control, owner=made, gap=2)
    return made
