"""What stands above the engines: cards that nothing uses, or no engine at all, each with the button that mends it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.engines.hints import Hint
from weighbridge.ui.engines.looks import Act
from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import button, clear, column, label, row, selectable


class Banner(QFrame):
    """Shows a `Hint`. `wanted` tells an Act and the build's id."""

    wanted = Signal(object, str)

    def __init__(self, theme: Theme, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self.setAccessibleName(hint.said)
        self.hint = hint
        self._theme = theme
        self._glyph = label("")
        said = selectable(label(hint.said, wrap=True))
        about = selectable(label(hint.about, "dim", wrap=True))
        name = text("{act}: {name}", act=hint.title, name=hint.said)
        self._act = button(hint.title, partial(self.wanted.emit, hint.act, hint.build_id), "primary", name)
        held = row(self._glyph, column(said, about, gap=1), self._act, owner=self, gap=3)
        self._act.setVisible(bool(hint.build_id))
        about.setVisible(bool(hint.about))
        held.setStretch(1, 1)
        held.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def button(self) -> QPushButton:
        """The one thing to do."""
        return self._act

    def close_for(self, why: str) -> None:
        """It cannot be done now, for this reason; "": it can."""
        self._act.setEnabled(not why)
        self._act.setToolTip(why)

    def _tint(self) -> None:
        side = self.fontMetrics().height()
        self._glyph.setPixmap(pixmap("warning", self._theme.tokens.accent, side, self.devicePixelRatioF()))


class Banners(QWidget):
    """One banner a hint; those that stay the same keep the focus. `wanted` is that of each."""

    wanted = Signal(object, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hints: tuple[Hint, ...] = ()
        self._banners: list[Banner] = []
        self._column = column(owner=self, gap=2)
        self.hide()

    @property
    def shown(self) -> list[Banner]:
        """From the top."""
        return list(self._banners)

    def show_hints(self, hints: tuple[Hint, ...], why_closed: str) -> None:
        """Show these; where nothing can be installed now, `why_closed` says why."""
        if hints != self._hints:
            self._hints = hints
            clear(self._column)
            self._banners = [Banner(self._theme, hint) for hint in hints]
            for made in self._banners:
                made.wanted.connect(self.wanted)
                self._column.addWidget(made)
        for made in self._banners:
            made.close_for(why_closed if made.hint.act is Act.INSTALL else "")
        self.setVisible(bool(hints))

    def do_first(self) -> None:
        """Do the first that can be done now."""
        for made in self._banners:
            if made.hint.build_id and made.button.isEnabled():
                made.button.click()
                return
