"""A load that will not fit, above the page: what it lacks, a button for each way out, and loading it anyway."""

from __future__ import annotations

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.choices.fixes import Fix
from weighbridge.ui.asking import Unmet
from weighbridge.ui.fixing import Fixing
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.finding_panel import FindingPanel


class UnmetPanel(FindingPanel):
    """Hidden until something is asked; `fixing` does what is chosen. Leaving it loads nothing, and changes nothing."""

    def __init__(self, theme: Theme, fixing: Fixing) -> None:
        super().__init__(theme)
        self._unmet: Unmet | None = None
        self._fixing = fixing
        self.fix_wanted.connect(self._take)

    def ask(self, unmet: Unmet | None) -> None:
        """Ask; None: nobody waits for the answer any more."""
        self._unmet = unmet
        if unmet is None:
            self.hide()
            return
        finding = unmet.finding
        error = WeighbridgeError(finding.code, **finding.values)
        self.show_error(error, ((text("Load anyway"), self._load_anyway),))
        self.show_finding(error, finding, "")
        self.borrow_focus((self.fixes or self.buttons)[0])

    def _load_anyway(self) -> None:
        unmet = self._unmet
        self.hide()
        if unmet is not None:
            unmet.go(unmet.finding.model, unmet.finding.load)

    def _take(self, fix: Fix) -> None:
        unmet = self._unmet
        self.hide()
        if unmet is not None:
            self._fixing.do(fix, unmet.go)
