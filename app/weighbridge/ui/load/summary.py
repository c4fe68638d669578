"""What a load comes to: a bar for each place, what would have to go, ways out, the command line, what is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from weighbridge.base.units import duration
from weighbridge.base.words import text
from weighbridge.choices.way_words import way_in_words
from weighbridge.choices.ways import Way
from weighbridge.running.state import Running, State
from weighbridge.ui import weight
from weighbridge.ui.clipboard import copy
from weighbridge.ui.load.reckoning import Reckoned
from weighbridge.ui.running_words import word_of
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, clear, column, fixed_font, label, row, selectable
from weighbridge.ui.widgets.place_bars import PlaceBars
from weighbridge.ui.widgets.settings_table import SettingsTable

_COMMAND_LINES = 4


class WaysPanel(QWidget):
    """What can be given up so that it fits; hidden where it does. `taken` tells the way, `left` that none is."""

    taken = Signal(object)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._ways: tuple[Way, ...] = ()
        self._head = label("", "heading", wrap=True)
        self._lines = column(gap=1)
        self._buttons: list[QPushButton] = []
        column(self._head, self._lines, owner=self, gap=1)
        self.hide()

    @property
    def buttons(self) -> Sequence[QPushButton]:
        """One for each way, and the one that leaves it."""
        return self._buttons

    def show_ways(self, ways: tuple[Way, ...], *, needed: bool) -> None:
        """Show `ways`; `needed`: it does not fit as it is."""
        self.setVisible(needed)
        if not needed or (ways == self._ways and self._buttons):
            return
        self._ways, self._buttons = ways, []
        clear(self._lines)
        self._head.setText(text("This does not fit. Give something up, or leave it:"))
        for way in ways:
            self._add(way_in_words(way), text("Take"), lambda way=way: self.taken.emit(way))
        self._add(text("Nothing: it is not loaded."), text("Leave it"), self.left.emit)

    def _add(self, said: str, act: str, do: object) -> None:
        assert callable(do)
        pressed = button(act, do, name=f"{act}: {said}")
        self._buttons.append(pressed)
        line = row(selectable(label(said, wrap=True)), pressed, gap=2)
        line.setStretch(0, 1)
        self._lines.addLayout(line)


class Summary(QWidget):
    """Shows what was reckoned. It acts on nothing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.bars = PlaceBars(theme)
        self.ways = WaysPanel()
        self._ends = label("", wrap=True)
        self._company = label("", "dim", wrap=True)
        self._basis = selectable(label("", "dim", wrap=True))
        self._loaded_head = label(text("As it is loaded now"), "heading")
        self._loaded = SettingsTable(theme)
        self._command = _command_view()
        self._copy = button(text("Copy the command"), lambda: copy(self._command.toPlainText(), self._copy))
        self._command_head = label(text("The same with llama-server"), "heading")
        parts = (self.ways, self.bars, self._ends, self._company, self._basis, self._loaded_head, self._loaded)
        command = (self._command_head, self._command, row(self._copy, None))
        self._lines = column(*parts, *command, None, owner=self, gap=3)

    @property
    def ends(self) -> str:
        """What loading would end, as it is said."""
        return self._ends.text()

    @property
    def command(self) -> str:
        """The command line."""
        return self._command.toPlainText() if not self._command.isHidden() else ""

    @property
    def copy_button(self) -> QPushButton:
        """Copies the command line."""
        return self._copy

    @property
    def company(self) -> str:
        """What else is loaded, as it is said."""
        return self._company.text()

    def take_ways(self) -> None:
        """Ways out stand at the top again, after they stood elsewhere."""
        self._lines.insertWidget(0, self.ways)

    def show_reckoned(self, reckoned: Reckoned | None, *, needed: bool) -> None:
        """Show bars, where they come from, and ways out where those are `needed`."""
        found = () if reckoned is None else weight.memories(reckoned.choice)
        self.bars.setVisible(bool(found))
        self.bars.show_memories(found)
        self._basis.setText("" if reckoned is None else weight.basis(reckoned.choice))
        self.ways.show_ways(() if reckoned is None else reckoned.ways, needed=needed)

    def show_ends(self, words: str) -> None:
        """What loading would end; "" for nothing."""
        self._ends.setText(words)
        self._ends.setVisible(bool(words))

    def show_running(self, running: Running | None, others: Sequence[Running], idle_s: float | None) -> None:
        """The values that are requested and effective of what is loaded, and what else is loaded."""
        ready = running is not None and running.state is State.READY
        self._loaded_head.setVisible(ready)
        self._loaded.setVisible(ready)
        if running is not None and ready:
            self._loaded.show_settings(running.settings)
        self._company.setText(company_in_words(others, idle_s))
        self._company.setVisible(bool(others))

    def show_command(self, words: str | None) -> None:
        """The command line that would do the same; None where there is none."""
        for each in (self._command_head, self._command, self._copy):
            each.setVisible(words is not None)
        if words is not None and words != self._command.toPlainText():
            self._command.setPlainText(words)


def company_in_words(others: Sequence[Running], idle_s: float | None) -> str:
    """ "Loaded now: SmolLM2 · Loaded · pinned. What nobody uses for 10 min is ended."."""
    if not others:
        return ""
    listed = ", ".join(f"{one.title} ({word_of(one)})" for one in others)
    told = text("Beside it: {models}.", models=listed)
    if idle_s is None:
        return told
    limit = text("What is not pinned and not used for {time} is ended.", time=duration(idle_s))
    return f"{told} {limit}"


def _command_view() -> QPlainTextEdit:
    made = QPlainTextEdit()
    made.setReadOnly(True)
    made.setTabChangesFocus(True)
    made.setFont(fixed_font())
    made.setAccessibleName(text("Command line of llama-server"))
    made.setFixedHeight(made.fontMetrics().lineSpacing() * _COMMAND_LINES + 16)
    return made
