"""What went wrong, in the page: what happened with its numbers, what to do, details folded, and a report to copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QWidget

from weighbridge import __version__
from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.explain import explain, explain_code
from weighbridge.base.words import text
from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.borrowing import BorrowingFrame
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, fixed_font, label, row, selectable
from weighbridge_engines.api import Cause


@dataclass(frozen=True)
class Report:
    """An error as a person reads it, and the details for whoever mends it."""

    what: str
    next_step: str
    details: str

    @property
    def whole(self) -> str:
        """All of it, with the versions, to be copied."""
        import platform

        head = f"Weighbridge {__version__} · Python {platform.python_version()} · {platform.platform()}"
        return "\n".join(part for part in (self.what, self.next_step, head, self.details) if part)


def report(error: BaseException) -> Report:
    """The report of `error`: explained by its code, or, where it is a fault of the program, by its own words."""
    if isinstance(error, WeighbridgeError):
        said = explain(error)
        log = "\n".join(error.log) if isinstance(error, EngineFailed) else ""
        return Report(said.what, said.next_step, f"{error}\n{log}".strip())
    import traceback

    trace = "".join(traceback.format_exception(error)).strip()
    what = text("Something in Weighbridge failed: {error}", error=str(error) or type(error).__name__)
    return Report(what, text("Copy the report and tell us; the window goes on."), trace)


def report_of_causes(causes: Iterable[Cause]) -> Report:
    """One report of several causes, each a sentence."""
    said = [str(explain_code(cause.code, cause.values)) for cause in causes]
    return Report(said[0], "\n".join(said[1:]), "")


class ErrorPanel(BorrowingFrame):
    """Hidden until it has something to say. Buttons for what to do come from the page."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._theme = theme
        self._report = Report("", "", "")
        self._glyph = QLabel()
        self._what = selectable(label("", "bad", wrap=True))
        self._next = selectable(label("", wrap=True))
        self._buttons: list[QPushButton] = []
        self._fold = button(text("Show details"), self._unfold, "quiet")
        self._copy = button(text("Copy report"), self.copy_report, "quiet")
        self._close = button(text("Close"), self.hide, "quiet", text("Close this message"))
        self._details = QPlainTextEdit(readOnly=True)
        self._details.setFont(fixed_font())
        self._details.setAccessibleName(text("Details"))
        self._details.setMaximumHeight(self.fontMetrics().height() * 10)
        self._foot = Flow(self._fold, self._copy)
        self._between = column(gap=1)
        said = column(self._what, self._next, self._between, self._foot, self._details, gap=1)
        outer = row(self._glyph, said, self._close, owner=self, margin=3, gap=3)
        for corner in (self._glyph, self._close):
            outer.setAlignment(corner, Qt.AlignmentFlag.AlignTop)
        outer.setStretch(1, 1)
        outer.setContentsMargins(4 * STEP, 3 * STEP, 3 * STEP, 2 * STEP)
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    @property
    def shown_report(self) -> Report:
        """What is shown, or was last."""
        return self._report

    def show_error(self, error: BaseException, actions: tuple[tuple[str, Callable[[], object]], ...] = ()) -> None:
        """Show `error`, with a button for each of `actions`."""
        self.show_report(report(error), actions)

    def show_report(self, shown: Report, actions: tuple[tuple[str, Callable[[], object]], ...] = ()) -> None:
        """Show a report."""
        self._report = shown
        self._what.setText(shown.what)
        self._next.setText(shown.next_step)
        self._next.setVisible(bool(shown.next_step))
        self._details.setPlainText(shown.details)
        self._details.hide()
        self._fold.setText(text("Show details"))
        self._fold.setVisible(bool(shown.details))
        self._offer([button(words, act) for words, act in actions])
        self.setAccessibleName(shown.what)
        self.show()

    def copy_report(self) -> None:
        """Put the whole report on the clipboard."""
        QApplication.clipboard().setText(self._report.whole)

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons of what to do."""
        return list(self._buttons)

    def _offer(self, buttons: list[QPushButton]) -> None:
        """Have these stand, and be come to by Tab, before the others."""
        for old in self._buttons:
            old.hide()
            old.deleteLater()
        for known in (*self._buttons, self._fold, self._copy):
            self._foot.removeWidget(known)
        for each in (*buttons, self._fold, self._copy):
            self._foot.addWidget(each)
        for before, after in zip((self._what, *buttons), buttons, strict=False):
            self.setTabOrder(before, after)
        self._buttons = buttons

    def _unfold(self) -> None:
        folded = self._details.isHidden()
        self._details.setVisible(folded)
        self._fold.setText(text("Hide details") if folded else text("Show details"))

    def _tint(self) -> None:
        side = self.fontMetrics().height() + STEP
        self._glyph.setPixmap(pixmap("warning", self._theme.tokens.no, side, self.devicePixelRatioF()))
        self._glyph.setFixedSize(QSize(side, side))
