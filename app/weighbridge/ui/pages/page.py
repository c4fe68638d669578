"""What the window asks of a page."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


class Page(QWidget):
    """A page of the window. Its QActions (added by `addAction`) appear in the palette of `Ctrl+K`.

    Timers of a page run only between `entered` and `left`.
    """

    @property
    def busy(self) -> bool:
        """Whether it has work for the next turns of the event loop, to which what can wait gives way."""
        return False

    def entered(self) -> None:
        """The page is now the one shown: take the focus where there is a natural place for it."""

    def left(self) -> None:
        """Another page is shown now, or the window closes."""

    def escape(self) -> bool:
        """Esc was pressed: stop or close what is going on. False where there is nothing."""
        return False

    def shut(self) -> None:
        """The window closes: cancel tasks and stop timers. Nothing is called after this."""
