"""A load that failed, in the page: what happened with its numbers, and a line for each thing that can be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.choices.finding import Finding
from weighbridge.choices.finding_words import figures_in_words, fix_in_words, numbers_in_words
from weighbridge.choices.fixes import Fix, FixKind
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.error_panel import ErrorPanel, Report
from weighbridge.ui.widgets.parts import button, label, row, selectable

MOST = 5
"""So many lines at most: who has read five has not read a sixth."""


class FindingPanel(ErrorPanel):
    """An `ErrorPanel` that goes on to say what can be done, once that is known. `fix_wanted` tells the Fix whose button
    was pressed.
    """

    fix_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._of: BaseException | None = None
        self._closed = False
        self._again = False
        self._copied = ""
        self._lines: list[QWidget] = []
        self._fixes: list[QPushButton] = []
        self._close.clicked.connect(self._dismiss)

    @property
    def error(self) -> BaseException | None:
        """The error that is shown, or was last."""
        return self._of

    @property
    def fixes(self) -> list[QPushButton]:
        """The buttons of what can be done."""
        return list(self._fixes)

    def show_error(self, error: BaseException, actions: tuple[tuple[str, Callable[[], object]], ...] = ()) -> None:
        """Show `error`, with a button for each of `actions`, the first of which is another try.

        Where it is the one that is shown, what was found of it stays, and where it was closed, it stays so.
        """
        if error is self._of:
            self.setVisible(not self._closed)
            return
        self._of, self._closed = error, False
        self._again = bool(actions)
        super().show_error(error, actions)

    def show_report(self, shown: Report, actions: tuple[tuple[str, Callable[[], object]], ...] = ()) -> None:
        """Show a report, of which nothing has been found yet."""
        self._copied = ""
        self._clear()
        super().show_report(shown, actions)

    def show_finding(self, error: WeighbridgeError, finding: Finding, report: str) -> None:
        """What was found of `error`, and the report to copy. Without effect once another error is shown."""
        if error is not self._of:
            return
        self._copied = report
        self._clear()
        for words in numbers_in_words(finding):
            self._add(selectable(label(words, "dim", wrap=True)))
        offered = [fix for fix in finding.fixes if not (self._again and fix.kind is FixKind.AGAIN)]
        for fix in offered[:MOST]:
            self._add_fix(fix, finding)

    def copy_report(self) -> None:
        """Put the report on the clipboard: the one for strangers, once there is one."""
        if self._copied:
            QApplication.clipboard().setText(self._copied)
        else:
            super().copy_report()

    def _add_fix(self, fix: Fix, finding: Finding) -> None:
        words, figures = fix_in_words(fix, finding), figures_in_words(fix, finding)
        made = button(words, partial(self.fix_wanted.emit, fix), name=", ".join(filter(None, (words, figures))))
        self._fixes.append(made)
        line = QWidget()
        inside = row(made, label(figures, "dim", wrap=True), owner=line)
        inside.setStretch(1, 1)
        self._add(line)

    def _add(self, line: QWidget) -> None:
        self._lines.append(line)
        self._between.addWidget(line)

    def _dismiss(self) -> None:
        self._closed = True

    def _clear(self) -> None:
        for line in self._lines:
            line.hide()
            self._between.removeWidget(line)
            line.deleteLater()
        self._lines, self._fixes = [], []
