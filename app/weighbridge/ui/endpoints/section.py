"""The endpoints on the page Engines: a row for each, and a form that adds one."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from weighbridge.base.words import text
from weighbridge.running.endpoints.endpoint import Endpoint
from weighbridge.ui.endpoints.driving import EndpointsDriving, Wanted
from weighbridge.ui.endpoints.form import EndpointForm
from weighbridge.ui.endpoints.row import EndpointRow
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, column, label, row
from weighbridge.ui.widgets.question import Question


class EndpointsSection(QWidget):
    """Over `driving`; call `show_all` when it comes into sight. Nothing is asked of a server but at a press."""

    def __init__(self, theme: Theme, driving: EndpointsDriving) -> None:
        super().__init__()
        self._theme, self._driving = theme, driving
        self._rows: dict[str, EndpointRow] = {}
        self.add = button(text("Add a server…"), self.open)
        self.form = EndpointForm(theme)
        self.question = Question()
        self._none = label(
            text("Ollama, LM Studio, vLLM on another machine, or a service: its models stand beside yours."),
            "dim",
            wrap=True,
        )
        self._listed = column(gap=2)
        head = row(label(text("Servers that someone else runs"), "heading"), None, self.add)
        column(head, self._none, self.form, self.question, self._listed, owner=self, gap=2)
        self.form.wanted.connect(self._add)
        self.form.key_wanted.connect(lambda name, key, plain: driving.use_key(name, key, plain_key=plain))
        self.form.change_wanted.connect(driving.change)
        driving.kept.connect(self.form.close_it)
        driving.added.connect(self._added)
        driving.failed.connect(self.form.show_fault)
        driving.changed.connect(self._changed)

    @property
    def rows(self) -> dict[str, EndpointRow]:
        """The rows by the ids of their endpoints."""
        return dict(self._rows)

    def open(self, preset_id: str = "other") -> None:
        """Have a server added, of this kind."""
        self.form.open(preset_id)

    def escape(self) -> bool:
        """Close what is open. False where nothing is."""
        for each, leave in ((self.question, self.question.hide), (self.form, self.form.close_it)):
            if not each.isHidden():
                leave()
                return True
        return False

    def show_all(self) -> None:
        """Show each as it stands."""
        endpoints = self._driving.endpoints.all
        for gone in self._rows.keys() - {one.id for one in endpoints}:
            made = self._rows.pop(gone)
            made.hide()
            made.deleteLater()
        for one in endpoints:
            self._show(one)
        self._none.setVisible(not endpoints)

    def _show(self, endpoint: Endpoint) -> None:
        driving = self._driving
        if endpoint.id not in self._rows:
            self._rows[endpoint.id] = made = self._make(endpoint.id)
            self._listed.addWidget(made)
        reached, asks = driving.endpoints.reached(endpoint.id), driving.asks(endpoint.id)
        self._rows[endpoint.id].show_endpoint(endpoint, reached, asks=asks, error=driving.error(endpoint.id))

    def _make(self, endpoint_id: str) -> EndpointRow:
        made = EndpointRow(self._theme, endpoint_id)
        made.look_wanted.connect(self._driving.look)
        made.key_wanted.connect(lambda name: self.form.open_key(self._driving.endpoints.get(name)))
        made.path_wanted.connect(self._driving.use_path)
        made.change_wanted.connect(lambda name: self.form.open_change(self._driving.endpoints.get(name)))
        made.no_key_wanted.connect(lambda name: self._driving.use_key(name, None))
        made.remove_wanted.connect(self._ask_to_remove)
        return made

    def _changed(self) -> None:
        if self.isVisible():
            self.show_all()

    def _add(self, wanted: Wanted) -> None:
        self.form.errors.hide()
        self._driving.add(wanted)

    def _added(self, endpoint: Endpoint) -> None:
        self.form.close_it()
        self.show_all()
        self._rows[endpoint.id].more.setFocus()

    def _ask_to_remove(self, endpoint_id: str) -> None:
        endpoint = self._driving.endpoints.get(endpoint_id)
        what = text(
            "Remove {endpoint}? Its models leave the list, and its key is forgotten. Nothing changes there.",
            endpoint=endpoint.title,
        )
        answers = (
            (text("Remove"), partial(self._driving.remove, endpoint_id)),
            (text("Keep it"), None),
        )
        self.question.ask(what, answers, focus=1)
