"""One heading of the sheet with its settings: a line each, with what a change comes to beside it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import plural, text
from weighbridge.choices.setting_words import refusal_in_words, setting_hint, setting_name, unit_in_words
from weighbridge.running.load_settings import Control
from weighbridge.ui.load.draft import Draft, Group
from weighbridge.ui.load.fields import ControlField, FileField, LineField, TextField, field_of
from weighbridge.ui.load.looks import beside_in_words, left_in_words, option_in_words
from weighbridge.ui.load.reckoning import Reckoned
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import button, column, label
from weighbridge_engines.api import Cause

_NAME_EMS, _FIELD_EMS, _WIDE_EMS, _EFFECT_EMS = 11, 9, 15, 9
_NARROW_EFFECT_EMS, _UNIT_EMS = 5, 3


class SettingLine(QObject):
    """The widgets of one setting. `chosen` and `put_back` tell its name; `hinted` what it does, while it is looked at.

    `refused` tells its name and why what was typed cannot be, None once it can.
    """

    chosen = Signal(str, object)
    put_back = Signal(str)
    refused = Signal(str, object)
    hinted = Signal(str)

    def __init__(self, control: Control, parent: QWidget) -> None:
        super().__init__(parent)
        self.control = control
        title = setting_name(control.name)
        self.name = ElidedLabel(at_left=True)
        self.name.setProperty("role", "")
        self.name.setText(title)
        self.field: ControlField = field_of(control)
        self.name.setBuddy(self.field)
        self.field.setAccessibleName(title)
        self.field.setAccessibleDescription(setting_hint(control.name))
        self.unit = label(unit_in_words(control.unit), "dim")
        self.effect = ElidedLabel(at_left=True)
        self.hint = label(setting_hint(control.name), "dim", wrap=True)
        self.back = button(text("Reset"), partial(self.put_back.emit, control.name), "quiet")
        self.back.setAccessibleName(text("Reset: {setting}", setting=title))
        self.why = label("", "bad", wrap=True)
        for part in (self.name, self.field, self.unit, self.effect, self.hint, self.back, self.why):
            part.setParent(parent)  # what has none is a window of its own as soon as it is shown
        self.field.chosen.connect(self._chosen)
        self.field.refused.connect(self._refused)
        for each in (self.name, self.field, self.field.focusProxy() or self.field):
            each.setToolTip(setting_hint(control.name))
            each.installEventFilter(self)

    def show_draft(self, draft: Draft, reckoned: Reckoned | None) -> None:
        """Show what is asked for, and what that comes to."""
        control = self.control
        value, changed = draft.value(control.name), control.name in draft.changed
        left = left_in_words(control, draft.load, reckoned.choice if reckoned else None)
        self.field.show_value(value, left, lambda one: option_in_words(control, one, reckoned))
        self.effect.setText(beside_in_words(control, reckoned, changed=changed))
        self.back.setVisible(changed)

    def say(self, words: str, role: str = "dim") -> None:
        """A warning below it; "" for none."""
        if self.why.property("role") != role:
            self.why.setProperty("role", role)
            self.why.style().unpolish(self.why)
            self.why.style().polish(self.why)
        self.why.setText(words)
        self.why.setVisible(bool(words))

    def forget(self) -> None:
        """What is being typed, or was typed wrong, counts no more."""
        if isinstance(self.field, LineField | TextField):
            self.field.forget()
        self.say("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.Enter):
            self.hinted.emit(setting_hint(self.control.name))
        return super().eventFilter(watched, event)

    def _chosen(self, value: object) -> None:
        self.say("")
        self.refused.emit(self.control.name, None)
        self.chosen.emit(self.control.name, value)

    def _refused(self, cause: Cause) -> None:
        self.say(str(refusal_in_words(cause)), "bad")
        self.refused.emit(self.control.name, cause)


class Section(QWidget):
    """A heading that unfolds its settings; they are made as it is unfolded first."""

    chosen = Signal(str, object)
    put_back = Signal(str)
    refused = Signal(str, object)
    hinted = Signal(str)

    def __init__(self, theme: Theme, group: Group, head: QWidget | None = None) -> None:
        super().__init__()
        self.group = group
        self._draft: Draft | None = None
        self._reckoned: Reckoned | None = None
        self._said: Mapping[str, tuple[str, str]] = {}
        self._lines: dict[str, SettingLine] = {}
        self._inner = QWidget()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * STEP)
        self._grid.setVerticalSpacing(STEP)
        self._grid.setColumnStretch(5, 1)
        self._wide = True
        held = column(owner=self._inner, gap=2)
        if head is not None:
            held.addWidget(head)
        held.addLayout(self._grid)
        self._fold = Fold(theme, self._inner)
        self._fold.unfolded.connect(self._unfolded)
        column(self._fold, owner=self)
        self._fold.say(text(group.title))
        if group.is_open:
            self._fold.show_open(True)

    @property
    def fold(self) -> Fold:
        """Its heading."""
        return self._fold

    @property
    def lines(self) -> Mapping[str, SettingLine]:
        """Its settings by name; none before it was unfolded."""
        return self._lines

    def show_draft(self, draft: Draft, reckoned: Reckoned | None) -> None:
        """Show what is asked for, and what that comes to."""
        self._draft, self._reckoned = draft, reckoned
        changed = sum(control.name in draft.asked for control in self.group.controls)
        title = text(self.group.title)
        told = plural("{title} · {count} set", "{title} · {count} set", changed, title=title, count=changed)
        self._fold.say(told if changed else title)
        if self._fold.is_open:
            for line in self._lines.values():
                line.show_draft(draft, reckoned)

    def say(self, said: Mapping[str, tuple[str, str]]) -> None:
        """Warnings below settings: words and role by name. What was typed wrong stays told."""
        self._said = said
        for name, line in self._lines.items():
            if line.why.property("role") != "bad" or line.why.isHidden() or name in said:
                line.say(*said.get(name, ("", "dim")))

    def use_wide(self, wide: bool) -> None:
        """Whether there is room for units and for what each does; the sentence at the foot tells that too."""
        if wide != self._wide:
            self._wide = wide
            for line in self._lines.values():
                self._measure(line)

    def forget(self) -> None:
        """What is being typed, or was typed wrong, counts no more; call `show_draft` after it."""
        for line in self._lines.values():
            line.forget()

    def _unfolded(self, is_open: bool) -> None:
        if not is_open:
            return
        for control in self.group.controls if not self._lines else ():
            self._add(SettingLine(control, self._inner))
        if self._draft is not None:
            self.show_draft(self._draft, self._reckoned)
            self.say(self._said)

    def _add(self, line: SettingLine) -> None:
        place, wide = self._grid.rowCount(), _is_wide(line)
        self._measure(line)
        for at, widget in enumerate((line.name, line.field, line.unit, line.effect, line.back, line.hint)):
            self._grid.addWidget(widget, place, at, Qt.AlignmentFlag.AlignVCenter)
        if wide:
            self._grid.addWidget(line.field, place, 1, 1, 2)
        self._grid.addWidget(line.why, place + 1, 0, 1, 6)
        _keep_room(line.back)
        line.why.hide()
        line.chosen.connect(self.chosen)
        line.put_back.connect(self.put_back)
        line.refused.connect(self.refused)
        line.hinted.connect(self.hinted)
        self._lines[line.control.name] = line

    def _measure(self, line: SettingLine) -> None:
        em, wide = self.fontMetrics().height(), _is_wide(line)
        line.name.setFixedWidth(em * _NAME_EMS)
        line.field.setFixedWidth(em * (_WIDE_EMS if wide and self._wide else _FIELD_EMS))
        line.effect.setMinimumWidth(em * (_EFFECT_EMS if self._wide else _NARROW_EFFECT_EMS))
        line.unit.setMinimumWidth(em * _UNIT_EMS)  # as wide in all sections, so that what follows stands in columns
        line.unit.setVisible(self._wide and not wide)
        line.hint.setVisible(self._wide)


def _is_wide(line: SettingLine) -> bool:
    """Whether its values are long."""
    return isinstance(line.field, TextField | FileField) or line.control.name == "engine"


def _keep_room(each: QPushButton | QLabel) -> None:
    """Hidden, it keeps its place, so that nothing moves as it comes."""
    policy = each.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    policy.setHorizontalPolicy(QSizePolicy.Policy.Fixed)
    each.setSizePolicy(policy)
