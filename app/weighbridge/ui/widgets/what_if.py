"""How models would be loaded: context length, type of the KV cache, slots, and what stays off the cards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QLayout, QPushButton, QSlider, QSpinBox, QWidget

from weighbridge.base.words import text
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.parts import button, label, row

LEAST_CONTEXT, MOST_CONTEXT = 256, 1 << 20
USUAL_CONTEXT = 1 << 17
"""Where no model says how long a context it was trained for."""
_STEP = 1024
KV_TYPES = ("f16", "q8_0", "q5_1", "q4_0")
_MOST_SLOTS, _MOST_LAYERS = 32, 512


class WhatIfBar(QWidget):
    """The controls in a row. `context_chosen` and `changed` are emitted for what the user does, not for `show_*`."""

    context_chosen = Signal(int)
    changed = Signal(object)

    def __init__(self, default_context: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._default_context = default_context
        self._stops = stops_to(USUAL_CONTEXT)
        self._slider = self._make_slider()
        self._context = _spin(LEAST_CONTEXT, MOST_CONTEXT, text("Context length of loads, in tokens"))
        self._context.setSingleStep(_STEP)
        self._context.setToolTip(text("Context length of the next loads, in tokens; each model is weighed at it"))
        self._kv = self._make_kv()
        self._slots = _spin(1, _MOST_SLOTS, text("Answers at the same time"))
        self._layers = _spin(-1, _MOST_LAYERS, text("Layers on cards"), text("all that fit"))
        self._experts = _spin(0, _MOST_LAYERS, text("Layers whose experts stay in RAM"), text("as few as fit"))
        self._reset = button(text("Reset"), self._to_defaults)
        self._cards = [self._layers, self._experts]
        self._lay_out()
        self.show_cards(False)
        self._connect()
        self.show_context(default_context)

    @property
    def what_if(self) -> WhatIf:
        """The controls as they stand, but the context."""
        kind = self._kv.currentText()
        with_cards = not self._layers.isHidden()
        return WhatIf(
            key_type=None if kind == KV_TYPES[0] else kind,
            slots=None if self._slots.value() == 1 else self._slots.value(),
            gpu_layers=self._layers.value() if with_cards and self._layers.value() >= 0 else None,
            cpu_experts=self._experts.value() if with_cards and self._experts.value() else None,
        )

    @property
    def context(self) -> QSpinBox:
        """The exact context length."""
        return self._context

    @property
    def slider(self) -> QSlider:
        """The same in steps, each twice the one before."""
        return self._slider

    @property
    def kv(self) -> QComboBox:
        """The type of the KV cache."""
        return self._kv

    @property
    def slots(self) -> QSpinBox:
        """How many answers are written at a time."""
        return self._slots

    @property
    def reset(self) -> QPushButton:
        """Back to the defaults."""
        return self._reset

    def show_context(self, context: int) -> None:
        """Show `context`, and tell nobody."""
        for control, value in ((self._context, context), (self._slider, _nearest(self._stops, context))):
            blocked = control.blockSignals(True)
            control.setValue(value)
            control.blockSignals(blocked)
        self._show_reset()

    def show_longest(self, longest: int | None) -> None:
        """Let the slider go up to `longest` tokens; None: as far as models usually go."""
        stops = stops_to(longest or USUAL_CONTEXT)
        if stops == self._stops:
            return
        self._stops = stops
        blocked = self._slider.blockSignals(True)
        self._slider.setMaximum(len(stops) - 1)
        self._slider.blockSignals(blocked)
        self.show_context(self._context.value())

    def show_cards(self, there: bool) -> None:
        """Offer what only makes sense with a card that an engine here can use."""
        for control in self._cards:
            control.setVisible(there)
            buddy = self._labels[control]
            buddy.setVisible(there)
        self._turn()

    def apply(self, what_if: WhatIf, context: int) -> None:
        """Set the controls, as if the user had."""
        self._kv.setCurrentText(what_if.key_type or KV_TYPES[0])
        self._slots.setValue(what_if.slots or 1)
        self._layers.setValue(-1 if what_if.gpu_layers is None else what_if.gpu_layers)
        self._experts.setValue(what_if.cpu_experts or 0)
        self._context.setValue(context)

    def show_settings(self, what_if: WhatIf, context: int) -> None:
        """Show what stands elsewhere, and tell nobody."""
        controls = (self._kv, self._slots, self._layers, self._experts, self._context)
        blocked = [control.blockSignals(True) for control in controls]
        self.apply(what_if, context)
        for control, was in zip(controls, blocked, strict=True):
            control.blockSignals(was)
        self.show_context(context)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._wide(self._first), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _make_slider(self) -> QSlider:
        made = QSlider(Qt.Orientation.Horizontal)
        made.setRange(0, len(self._stops) - 1)
        made.setPageStep(1)
        made.setAccessibleName(text("Context length of loads, in steps"))
        made.setMinimumWidth(made.fontMetrics().height() * 8)
        made.setMaximumWidth(made.fontMetrics().height() * 18)
        return made

    def _make_kv(self) -> QComboBox:
        made = QComboBox()
        made.addItems(list(KV_TYPES))
        made.setAccessibleName(text("Type of the KV cache"))
        made.setToolTip(text("A smaller type halves the cache, or quarters it, at some loss"))
        return made

    def _lay_out(self) -> None:
        self._labels: dict[QWidget, QWidget] = {}
        self._first, self._second = QWidget(), QWidget()
        first, second = row(owner=self._first, gap=3), row(owner=self._second, gap=3)
        self._add(first, text("Context"), self._slider, self._context)
        self._add(first, text("KV cache"), self._kv)
        self._add(first, text("Slots"), self._slots)
        self._add(second, text("GPU layers"), self._layers)
        self._add(second, text("Experts in RAM"), self._experts)
        second.addWidget(self._reset)
        self._rows = row(self._first, self._second, None, owner=self, gap=3)
        for part in (self._first, self._second):
            self._rows.setAlignment(part, Qt.AlignmentFlag.AlignLeft)
        self._rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # it gives way by turning

    def _turn(self) -> None:
        """Two rows where one has no room."""
        room = self._wide(self._first) + self._wide(self._second) + self._rows.spacing()
        wanted = QBoxLayout.Direction.LeftToRight if room <= self.width() else QBoxLayout.Direction.TopToBottom
        if wanted != self._rows.direction():
            self._rows.setDirection(wanted)

    def _wide(self, part: QWidget) -> int:
        return part.sizeHint().width()

    def _add(self, layout: QHBoxLayout, name: str, *controls: QWidget) -> None:
        named = label(name, "dim")
        named.setBuddy(controls[-1])
        self._labels[controls[-1]] = named
        for each in (named, *controls):
            layout.addWidget(each)

    def _connect(self) -> None:
        self._slider.valueChanged.connect(lambda step: self._context.setValue(self._stops[step]))
        self._context.valueChanged.connect(self._context_changed)
        self._kv.currentIndexChanged.connect(self._tell)
        for control in (self._slots, *self._cards):
            control.valueChanged.connect(self._tell)

    def _context_changed(self, context: int) -> None:
        self.show_context(context)
        self.context_chosen.emit(context)

    def _tell(self) -> None:
        self._show_reset()
        self.changed.emit(self.what_if)

    def _show_reset(self) -> None:
        """Only where there is something to be put back."""
        self._reset.setEnabled((self.what_if, self._context.value()) != (WhatIf(), self._default_context))

    def _to_defaults(self) -> None:
        self._kv.setCurrentIndex(0)
        self._slots.setValue(1)
        self._layers.setValue(-1)
        self._experts.setValue(0)
        self._context.setValue(self._default_context)


def stops_to(longest: int) -> list[int]:
    """The steps of the slider: 1,024, twice that, and so on, and at the end `longest` itself."""
    most = min(max(longest, LEAST_CONTEXT), MOST_CONTEXT)
    doubled = [_STEP << power for power in range(MOST_CONTEXT.bit_length()) if _STEP << power < most]
    return [*doubled, most]


def _nearest(stops: Sequence[int], context: int) -> int:
    """The place of the step that is nearest in proportion."""
    return min(range(len(stops)), key=lambda place: abs(math.log2(stops[place] / context)))


def _spin(least: int, most: int, name: str, special: str = "") -> QSpinBox:
    made = QSpinBox()
    made.setRange(least, most)
    made.setGroupSeparatorShown(True)
    made.setAlignment(Qt.AlignmentFlag.AlignRight)
    made.setKeyboardTracking(False)
    made.setAccessibleName(name)
    made.setSpecialValueText(special)
    if special:
        made.setValue(least)
    return made
