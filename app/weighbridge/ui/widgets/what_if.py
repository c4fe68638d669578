"""How models would be loaded: context length, type of the KV cache, slots, and what stays off the cards."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSlider, QSpinBox, QWidget

from weighbridge.base.words import text
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.parts import button, label, row

LEAST_CONTEXT, MOST_CONTEXT = 256, 1 << 20
_STEP = 1024
_STEPS_EACH_DOUBLING = 4
KV_TYPES = ("f16", "q8_0", "q5_1", "q4_0")
_MOST_SLOTS, _MOST_LAYERS = 32, 512


class WhatIfBar(QWidget):
    """The controls in a row. `context_chosen` and `changed` are emitted for what the user does, not for `show_*`."""

    context_chosen = Signal(int)
    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self._connect()

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
        """The same in steps, four for each doubling."""
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
        """Back to the defaults, but for the context."""
        return self._reset

    def show_context(self, context: int) -> None:
        """Show `context`, and tell nobody."""
        for control, value in ((self._context, context), (self._slider, _step_of(context))):
            blocked = control.blockSignals(True)
            control.setValue(value)
            control.blockSignals(blocked)

    def show_cards(self, there: bool) -> None:
        """Offer what only makes sense with a card that an engine here can use."""
        for control in self._cards:
            control.setVisible(there)
            buddy = self._labels[control]
            buddy.setVisible(there)

    def apply(self, what_if: WhatIf, context: int) -> None:
        """Set the controls, as if the user had."""
        self._kv.setCurrentText(what_if.key_type or KV_TYPES[0])
        self._slots.setValue(what_if.slots or 1)
        self._context.setValue(context)

    def _make_slider(self) -> QSlider:
        made = QSlider(Qt.Orientation.Horizontal)
        made.setRange(_step_of(1024), _step_of(MOST_CONTEXT))
        made.setPageStep(_STEPS_EACH_DOUBLING)
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
        layout = row(owner=self, gap=3)
        self._add(layout, text("Context"), self._slider, self._context)
        self._add(layout, text("KV cache"), self._kv)
        self._add(layout, text("Slots"), self._slots)
        self._add(layout, text("GPU layers"), self._layers)
        self._add(layout, text("Experts in RAM"), self._experts)
        layout.addWidget(self._reset)
        layout.addStretch(1)
        self.show_cards(False)

    def _add(self, layout: QHBoxLayout, name: str, *controls: QWidget) -> None:
        named = label(name, "dim")
        named.setBuddy(controls[-1])
        self._labels[controls[-1]] = named
        for each in (named, *controls):
            layout.addWidget(each)

    def _connect(self) -> None:
        self._slider.valueChanged.connect(lambda step: self._context.setValue(_context_of(step)))
        self._context.valueChanged.connect(self._context_changed)
        self._kv.currentIndexChanged.connect(self._tell)
        for control in (self._slots, *self._cards):
            control.valueChanged.connect(self._tell)

    def _context_changed(self, context: int) -> None:
        self.show_context(context)
        self.context_chosen.emit(context)

    def _tell(self) -> None:
        self.changed.emit(self.what_if)

    def _to_defaults(self) -> None:
        self._kv.setCurrentIndex(0)
        self._slots.setValue(1)
        self._layers.setValue(-1)
        self._experts.setValue(0)


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


def _step_of(context: int) -> int:
    return round(_STEPS_EACH_DOUBLING * math.log2(context))


def _context_of(step: int) -> int:
    """Whole steps of 256 tokens."""
    return min(
        MOST_CONTEXT, max(LEAST_CONTEXT, round(2 ** (step / _STEPS_EACH_DOUBLING) / LEAST_CONTEXT) * LEAST_CONTEXT)
    )
