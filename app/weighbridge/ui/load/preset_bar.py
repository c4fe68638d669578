"""Presets of the model that is to be loaded: taken, saved, renamed, removed, made its default."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.running.presets import LONGEST_NAME, Preset
from weighbridge.ui.widgets.parts import button, row

_NAME_EMS = 14


class PresetBar(QWidget):
    """A button with a menu, and a line for a name while one is asked for. It only asks; the sheet acts.

    `saved` tells a name, `renamed` the old and the new one, `made_default` a name or None.
    """

    taken = Signal(object)
    saved = Signal(str)
    renamed = Signal(str, str)
    removed = Signal(str)
    made_default = Signal(object)
    reset = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._presets: tuple[Preset, ...] = ()
        self._chosen = ""
        self._old: str | None = None
        self._button = QPushButton(text("Presets"))
        self._button.setAutoDefault(False)
        self._menu = QMenu(self._button)
        self._menu.aboutToShow.connect(self._fill)
        self._button.setMenu(self._menu)
        self._name = QLineEdit()
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setFixedWidth(self.fontMetrics().height() * _NAME_EMS)
        self._name.setPlaceholderText(text("Name of the preset"))
        self._name.setAccessibleName(text("Name of the preset"))
        self._name.returnPressed.connect(self._take_name)
        self._keep = button(text("Save"), self._take_name)
        row(self._button, self._name, self._keep, owner=self, gap=2)
        self.leave()

    @property
    def menu(self) -> QMenu:
        """The menu, as it was shown last."""
        return self._menu

    @property
    def name(self) -> QLineEdit:
        """Where a name is typed."""
        return self._name

    @property
    def asks(self) -> bool:
        """Whether a name is asked for."""
        return not self._name.isHidden()

    def show_presets(self, presets: Sequence[Preset], chosen: str) -> None:
        """Offer `presets`; `chosen` is the name of the one that was taken last, "" for none."""
        self._presets, self._chosen = tuple(presets), chosen
        words = text("Preset: {name}", name=chosen) if chosen else text("Presets")
        self._button.setText(words.replace("&", "&&"))
        self._button.setAccessibleName(words)

    def ask_name(self, old: str | None = None) -> None:
        """Ask for the name of a new preset, or for another one of `old`."""
        self._old = old
        self._keep.setText(text("Save") if old is None else text("Rename"))
        self._name.setText(old or self._chosen)
        self._name.show()
        self._keep.show()
        self._name.selectAll()
        self._name.setFocus()

    def leave(self) -> None:
        """Ask for no name any more."""
        self._name.hide()
        self._keep.hide()

    def _take_name(self) -> None:
        name = self._name.text()
        self.leave()
        self._button.setFocus()
        if self._old is None:
            self.saved.emit(name)
        else:
            self.renamed.emit(self._old, name)

    def _fill(self) -> None:
        self._menu.clear()
        for preset in self._presets:
            words = text("{preset} (default)", preset=preset.name) if preset.is_default else preset.name
            made = self._add(words, partial(self.taken.emit, preset))
            made.setCheckable(True)
            made.setChecked(preset.name == self._chosen)
        self._menu.addSeparator()
        self._add(text("Save these settings as…"), self.ask_name)
        chosen = next((one for one in self._presets if one.name == self._chosen), None)
        if chosen is not None:
            self._fill_for(chosen)
        self._menu.addSeparator()
        self._add(text("Back to what the program would do"), self.reset.emit)

    def _fill_for(self, chosen: Preset) -> None:
        self._add(text("Save these settings into {preset}", preset=chosen.name), partial(self.saved.emit, chosen.name))
        default = self._add(text("Take it where nothing else is asked"), partial(self._tell_default, chosen))
        default.setCheckable(True)
        default.setChecked(chosen.is_default)
        self._add(text("Rename {preset}…", preset=chosen.name), partial(self.ask_name, chosen.name))
        self._add(text("Remove {preset}", preset=chosen.name), partial(self.removed.emit, chosen.name))

    def _tell_default(self, chosen: Preset) -> None:
        self.made_default.emit(None if chosen.is_default else chosen.name)

    def _add(self, words: str, act: object) -> QAction:
        assert callable(act)
        made = QAction(words.replace("&", "&&"), self._menu)
        made.triggered.connect(lambda _checked: act())
        self._menu.addAction(made)
        return made
