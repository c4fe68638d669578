"""From what a person pastes to a job: the field, what was found, and why nothing was."""

from __future__ import annotations

import os

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.hub.offers import Found, find
from weighbridge.hub.reference import HOSTS, Reference, parse
from weighbridge.hub.space import volume_of
from weighbridge.hub.wanted import Wanted
from weighbridge.library.places import downloads_folder
from weighbridge.ui.hub_parts import job_for
from weighbridge.ui.remedies import remedies
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.offers_panel import OffersPanel
from weighbridge.ui.widgets.parts import button, column, give_role, label, row


class FindPanel(QWidget):
    """`job_wanted` tells the job that the user chose."""

    job_wanted = Signal(object)

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._task: Task | None = None
        self._reference: Reference | None = None
        self._field = self._make_field()
        self._find = button(text("Find"), self.look, "primary")
        self._looking = label(text("Asking the Hub…"), "dim")
        self._errors = ErrorPanel(services.theme)
        self._offers = OffersPanel(services.theme)
        self._lay_out()
        self._offers.chosen.connect(self._chosen)
        self._offers.branch_chosen.connect(self._look_at_branch)
        self._offers.closed.connect(self._field.setFocus)

    @property
    def field(self) -> QLineEdit:
        """Where a reference is pasted."""
        return self._field

    @property
    def offers(self) -> OffersPanel:
        """What was found."""
        return self._offers

    @property
    def errors(self) -> ErrorPanel:
        """Why nothing was."""
        return self._errors

    def look(self) -> None:
        """Look for what is in the field; stop where that is under way."""
        if self._task is not None:
            self._task.cancel()
            return
        try:
            self._ask(parse(self._field.text(), HOSTS | {self._services.access.origin().host}))
        except WeighbridgeError as error:
            self._show_error(error)

    def escape(self) -> bool:
        """Stop looking, or close what is open. False where there is nothing."""
        if self._task is not None:
            self._task.cancel()
        elif not self._errors.isHidden():
            self._errors.hide()
        elif not self._offers.isHidden():
            self._offers.close_it()
        else:
            return False
        return True

    def shut(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()

    def _make_field(self) -> QLineEdit:
        made = QLineEdit()
        made.setPlaceholderText(text("owner/name, owner/name:Q4_K_M, or an address of huggingface.co"))
        made.setAccessibleName(text("Model on the Hub: {example}", example=made.placeholderText()))
        made.setClearButtonEnabled(True)
        made.returnPressed.connect(self.look)
        return made

    def _lay_out(self) -> None:
        self._find.setMinimumWidth(self.fontMetrics().height() * 6)
        self._looking.hide()
        line = row(self._field, self._looking, self._find, gap=2)
        line.setStretch(0, 1)
        column(line, self._errors, self._offers, owner=self, gap=3)

    def _ask(self, reference: Reference) -> None:
        services = self._services
        folder = downloads_folder(services.paths, services.settings.value, os.environ)

        def work(task: Task) -> tuple[Found, int | None]:
            return find(services.hub, reference, task), volume_of(folder).free_bytes

        self._reference = reference
        self._errors.hide()
        self._offers.hide()
        self._task = services.background.stream(work, self._show_found, self._failed, name="find")
        self._show_looking()

    def _look_at_branch(self, branch: str) -> None:
        if self._reference is not None and self._task is None:
            self._ask(Reference(self._reference.repo_id, branch))

    def _show_found(self, found: tuple[Found, int | None]) -> None:
        self._task = None
        self._show_looking()
        self._offers.show_found(*found)

    def _failed(self, error: BaseException) -> None:
        self._task = None
        self._show_looking()
        if not isinstance(error, Cancelled):
            self._show_error(error)

    def _show_looking(self) -> None:
        under_way = self._task is not None
        self._looking.setVisible(under_way)
        self._find.setText(text("Stop") if under_way else text("Find"))
        self._find.setAccessibleName(self._find.text())
        give_role(self._find, "" if under_way else "primary")

    def _show_error(self, error: BaseException) -> None:
        self._errors.show_error(error, remedies(error, self._services, self.look))

    def _chosen(self, wanted: Wanted) -> None:
        services = self._services
        self._field.clear()
        try:
            self.job_wanted.emit(job_for(wanted, services.paths, services.settings.value, os.environ))
        except WeighbridgeError as error:
            self._show_error(error)
