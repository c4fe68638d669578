"""How models would be loaded: context length, type of the KV cache, slots, and what stays off the cards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QSizePolicy, QSlider, QSpinBox, QWidget

from weighbridge.base.words import text
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, label, row

LEAST_CONTEXT, MOST_CONTEXT = 256, 1 << 20
USUAL_CONTEXT = 1 << 17
"""Where no model says how long a context it was trained for."""
_STEP = 1024
KV_TYPES = ("f16", "q8_0", "q5_1", "q4_0")
_MOST_SLOTS, _MOST_LAYERS = 32, 512


class WhatIfBar(QWidget):
    """The controls, in as many rows as they need. `context_chosen` and `changed` are emitted for what the user does,
    not for `show_*`.
    """

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
        self._cards = self._lay_out()
        self.show_cards(False)
        self._connect()
        self.show_context(default_context)

    @property
    def what_if(self) -> WhatIf:
        """The controls as they stand, but the context."""
        kind = self._kv.currentText()
        with_cards = not self._cards[0].isHidden()
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
        for named in self._cards:
            named.setVisible(there)

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

    def _make_slider(self) -> QSlider:
        made = QSlider(Qt.Orientation.Horizontal)
        made.setRange(0, len(self._stops) - 1)
        made.setPageStep(1)
        made.setAccessibleName(text("Context length of loads, in steps"))
        made.setFixedWidth(made.fontMetrics().height() * 8)
        return made

    def _make_kv(self) -> QComboBox:
        made = QComboBox()
        made.addItems(list(KV_TYPES))
        made.setAccessibleName(text("Type of the KV cache"))
        made.setToolTip(text("A smaller type halves the cache, or quarters it, at some loss"))
        return made

    def _lay_out(self) -> list[QWidget]:
        """Each control with its name. Returns those that only make sense with a card."""
        cards = [_named(text("GPU layers"), self._layers), _named(text("Experts in RAM"), self._experts)]
        context = _named(text("Context"), self._slider, self._context)
        others = (_named(text("KV cache"), self._kv), _named(text("Slots"), self._slots))
        self.setLayout(Flow(context, *others, *cards, self._reset, gap=4, line_gap=2))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        return cards

    def _connect(self) -> None:
        self._slider.valueChanged.connect(lambda step: self._context.setValue(self._stops[step]))
        self._context.valueChanged.connect(self._context_changed)
        self._kv.currentIndexChanged.connect(self._tell)
        for control in (self._slots, self._layers, self._experts):
            control.valueChanged.connect(self._tell)

    def _context_changed(self, context: int) -> None:
        self.show_context(context)
        self.context_chosen.emit(context)

    def _tell(self) -> None:
        self._show_reset()
        self.changed.emit(self.what_if)

    def _show_reset(self) -> None:
        """Only where there is something to be put back."""
        self._reset.setVisible((self.what_if, self._context.value()) != (WhatIf(), self._default_context))

    def _to_defaults(self) -> None:
        self._context.setFocus()  # before the button goes
        self._kv.setCurrentIndex(0)
        self._slots.setValue(1)
        self._layers.setValue(-1)
        self._experts.setValue(0)
        self._context.setValue(self._default_context)


def _named(name: str, *controls: QWidget) -> QWidget:
    made, named = QWidget(), label(name, "dim")
    named.setBuddy(controls[-1])
    row(named, *controls, owner=made)
    return made


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
