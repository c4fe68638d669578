"""An installation that goes on: what it does, how much has come, its log folded, and Cancel."""

from __future__ import annotations

import time

from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from weighbridge.base.units import duration, size
from weighbridge.base.words import text
from weighbridge.ui.engines.installation import Installation
from weighbridge.ui.engines.log_view import LogView
from weighbridge.ui.engines.words import stage_in_words
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, column, label, row


class InstallingView(QWidget):
    """Hidden until there is one. `look` reads how far it is; whoever holds this calls it while it is in sight.

    How much is to come is not known: what has come is unpacked already.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._installation: Installation | None = None
        self._stage = label("", wrap=True)
        self._bar = QProgressBar(textVisible=False)
        self._bar.setRange(0, 0)
        self._bar.setAccessibleName(text("Installing"))
        self._cancel = button(text("Cancel"), self._cancelled, name=text("Cancel the installation"))
        self._log = LogView(theme, text("Log"))
        line = row(self._stage, self._cancel)
        line.setStretch(0, 1)
        column(line, self._bar, self._log, owner=self, gap=1)
        self.hide()

    @property
    def cancel(self) -> QPushButton:
        """Gives it up."""
        return self._cancel

    @property
    def log(self) -> LogView:
        """Its lines so far."""
        return self._log

    @property
    def stage(self) -> str:
        """What it does, in words."""
        return self._stage.text()

    def show_installation(self, installation: Installation | None) -> None:
        """Show this one; None: there is none."""
        if installation is not self._installation:
            self._installation = installation
            self._cancel.setEnabled(True)
            self._log.show_lines(None)
        self.setVisible(installation is not None)
        self.look()

    def look(self) -> None:
        """How far it is now."""
        made = self._installation
        if made is None:
            return
        if made.task is not None and made.task.cancelled:
            self._stage.setText(text("Giving it up…"))
            return
        progress = made.progress
        said = [stage_in_words(progress.note)]
        said += [text("{size} so far", size=size(progress.done))] if progress.done else []
        said.append(duration(time.monotonic() - made.since_s))
        self._stage.setText(" · ".join(said))
        self._log.show_lines(made.lines)

    def _cancelled(self) -> None:
        if self._installation is not None:
            self._installation.cancel()
            self._cancel.setEnabled(False)
            self.look()
