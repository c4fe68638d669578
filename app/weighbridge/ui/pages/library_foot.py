"""The foot of the Library: a quiet line on folders, doubles and what is off the list; each part opens its panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from weighbridge.ui.icons import icon
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.lines_panel import Line, LinesPanel
from weighbridge.ui.widgets.parts import button

Acts = Sequence[tuple[str, Callable[[], object]]]


class LibraryFoot(QWidget):
    """The line. One panel, which whoever holds this puts into its page, is open at a time; `opened` tells which part of
    the line it belongs to, "" for none.
    """

    opened = Signal(str)

    def __init__(self, theme: Theme, parts: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._open = ""
        self._held: dict[str, tuple[str, Sequence[Line], Acts]] = {}
        self._act: dict[str, Callable[[], object] | None] = {}
        self.panel = LinesPanel(self.close_panel)
        self.panel.hide()
        self._parts = {name: button("", partial(self._toggle, name), "line") for name in parts}
        for each in self._parts.values():
            each.hide()
        self.setLayout(Flow(*self._parts.values(), gap=3))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._tint)

    @property
    def open_part(self) -> str:
        """The part of which the panel is open; "" for none."""
        return self._open

    def part(self, name: str) -> QPushButton:
        """A part of the line."""
        return self._parts[name]

    def offer(self, name: str, words: str, act: Callable[[], object]) -> None:
        """Show `words` for a part that has no panel, but does something."""
        self.say(name, words)
        self._act[name] = act
        self._parts[name].setEnabled(True)
        self._tint()

    def say(self, name: str, words: str, head: str = "", lines: Sequence[Line] = (), acts: Acts = ()) -> None:
        """Show `words` for a part, and the rest in its panel; "" hides it. Without lines there is nothing to open."""
        self._act[name] = None
        made = self._parts[name]
        made.setText(words)
        made.setAccessibleName(words)
        made.setVisible(bool(words))
        made.setEnabled(bool(lines))
        self._held[name] = (head, lines, acts)
        if self._open == name:
            if words and lines:
                self.panel.show_lines(head, lines, acts)
            else:
                self.close_panel()
        self._tint()

    def open_panel(self, name: str) -> None:
        """Show what belongs to a part."""
        self._open = name
        self.panel.show_lines(*self._held[name])
        self.panel.show()
        self._tint()
        self.opened.emit(name)

    def close_panel(self) -> None:
        """Show no panel; the focus goes back to the line."""
        if not self._open:
            return
        name, self._open = self._open, ""
        self.panel.hide()
        self._tint()
        self._parts[name].setFocus()
        self.opened.emit("")

    def _toggle(self, name: str) -> None:
        act = self._act.get(name)
        if act is not None:
            act()
        elif self._open == name:
            self.close_panel()
        else:
            self.open_panel(name)

    def _tint(self) -> None:
        for name, each in self._parts.items():
            glyph = "search" if self._act.get(name) else "down" if name == self._open else "right"
            each.setIcon(icon(glyph, self._theme.tokens.dim))
