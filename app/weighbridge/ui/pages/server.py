"""The port: open or closed, its address, what it serves, the last requests, and an example to copy."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from weighbridge.base.words import plural, text
from weighbridge.library.model import Model
from weighbridge.ui.clipboard import copy
from weighbridge.ui.elsewhere_words import leaving_in_words
from weighbridge.ui.examples import EXAMPLES, example
from weighbridge.ui.models.requests_model import RequestsModel
from weighbridge.ui.pages.page import Page
from weighbridge.ui.port_control import PortState
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.cells import CellDelegate
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import (
    action,
    button,
    clear,
    column,
    fixed_font,
    give_role,
    label,
    panel,
    row,
    selectable,
)
from weighbridge.ui.widgets.tables import Table

_EXAMPLE_LINES = 11
_LEAST_LINES = 4

_MOST_SERVED = 100
"""So many names are listed, the loaded ones first; the rest is counted."""


class ServerPage(Page):
    """Drives `services.port`."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._port = services.port
        self._badge = Badge(services.theme, "unknown", "")
        self._toggle = button("", self._switch, "primary")
        self._address = button("", self._copy_address, "address")
        self._moved = label("", "dim", wrap=True)
        self._number = self._make_number()
        self._errors = ErrorPanel(services.theme)
        self._served = column(gap=1)
        self._served_lines: list[str] = []
        self._no_requests = label(text("No request has come since the start."), "dim")
        self._requests = RequestsModel(self)
        self._table = self._make_table()
        self._which = self._make_which()
        self._example = self._make_example()
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        self._port.changed.connect(self._show_port)
        self._port.request_added.connect(self._show_requests)
        services.bus.library_changed.connect(self._served_changed)
        services.bus.running_changed.connect(self._served_changed)
        self._show_port()
        self._show_requests()

    def entered(self) -> None:
        self._number.setValue(self._services.settings.value.port)
        self._show_port()
        self._show_served()
        self._show_requests()
        self._toggle.setFocus()

    def _make_number(self) -> QSpinBox:
        made = QSpinBox()
        made.setRange(1, 65_535)
        made.setGroupSeparatorShown(False)
        made.setAlignment(Qt.AlignmentFlag.AlignRight)
        made.setValue(self._services.settings.value.port)
        made.setAccessibleName(text("Port"))
        made.editingFinished.connect(self._number_chosen)
        return made

    def _make_table(self) -> Table:
        made = Table(self._requests, text("Recent requests"), RequestsModel.STRETCHED, RequestsModel.GIVEN_UP)
        made.setItemDelegate(CellDelegate(self._services.theme, made))
        return made

    def _make_which(self) -> QComboBox:
        made = QComboBox()
        for name in EXAMPLES:
            made.addItem(name)
        made.setAccessibleName(text("Language of the example"))
        made.currentTextChanged.connect(self._show_example)
        return made

    def _make_example(self) -> QPlainTextEdit:
        made = QPlainTextEdit(readOnly=True)
        made.setFont(fixed_font())
        made.setAccessibleName(text("Example"))
        made.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        made.setTabChangesFocus(True)
        return made

    def _lay_out(self) -> None:
        number = label(text("Port"), "dim")
        number.setBuddy(self._number)
        head = row(label(text("Server"), "title"), self._badge, None, number, self._number, self._toggle, gap=3)
        safe = text("Only programs on this computer can reach it. Any key, or none, will do.")
        state = panel(row(self._address, None), self._moved, label(safe, "dim", wrap=True), margin=4)
        served_head = row(label(text("Models it answers for"), "heading"))
        served_head.addStrut(self.fontMetrics().height() + 3 * STEP)  # as high as the other panel's, which has buttons
        served = panel(served_head, self._served_area(), margin=4)
        middle = QWidget()
        beside = row(served, self._sample_panel(), owner=middle, gap=3)
        beside.setStretch(0, 2)
        beside.setStretch(1, 3)
        lines = self._example.fontMetrics().lineSpacing()
        self._example.setMinimumHeight(lines * _LEAST_LINES)
        middle.setMaximumHeight(lines * (_EXAMPLE_LINES + _LEAST_LINES) + 8 * STEP)
        whole = column(head, self._errors, state, middle, self._requests_panel(), owner=self, margin=4, gap=3)
        whole.setStretch(3, 3)
        whole.setStretch(4, 2)

    def _served_area(self) -> QScrollArea:
        inner = QWidget()
        inner.setObjectName("scrolled")
        column(self._served, None, owner=inner)
        made = QScrollArea(widgetResizable=True)
        made.setWidget(inner)
        made.setAccessibleName(text("Models it answers for"))
        return made

    def _sample_panel(self) -> QFrame:
        take = button(text("Copy"), self._copy_example, name=text("Copy the example"))
        head = row(label(text("Try it"), "heading"), None, self._which, take)
        return panel(head, self._example, margin=4)

    def _requests_panel(self) -> QFrame:
        title = label(text("Recent requests"), "heading")
        title.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 0)
        self._no_requests.setContentsMargins(4 * STEP, 0, 4 * STEP, 0)
        made = panel(title, self._no_requests, self._table, None, margin=0)
        made.setContentsMargins(1, 1, 1, 1)
        inner = made.layout()
        assert isinstance(inner, QVBoxLayout)
        inner.setStretch(2, 1000)
        return made

    def _add_actions(self) -> None:
        action(self, text("Open or close the port"), self._switch, "Ctrl+O")
        action(self, text("Copy the example"), self._copy_example, "Ctrl+Shift+E")

    def _switch(self) -> None:
        if self._port.state in (PortState.OFF, PortState.CLOSING):
            self._port.open()
        else:
            self._port.close()

    def _number_chosen(self) -> None:
        if self._number.value() != self._services.settings.value.port:
            self._port.choose_port(self._number.value())
            self._show_port()

    def _show_port(self) -> None:
        kind, word, glyph, does = {
            PortState.OFF: ("unknown", text("Off"), "ring", text("Open the port")),
            PortState.OPENING: ("tight", text("Opening"), "", text("Close the port")),
            PortState.ON: ("fits", text("On"), "dot", text("Close the port")),
            PortState.CLOSING: ("tight", text("Closing"), "", text("Open the port")),
        }[self._port.state]
        self._badge.say(kind, word, glyph)
        self._toggle.setText(does)
        self._toggle.setAccessibleName(does)
        give_role(self._toggle, "" if self._port.state is PortState.ON else "primary")
        self._show_address()
        if self._port.error is not None:
            self._errors.show_error(self._port.error, ((text("Try again"), self._port.open),))
        elif self._port.state is not PortState.OFF:
            self._errors.hide()
        self._show_example()

    def _show_address(self) -> None:
        url = self._port.url
        wanted = self._services.settings.value.port
        self._address.setEnabled(url is not None)
        self._address.setText(f"{url}/v1" if url else text("Off: nothing listens on port {port}.", port=wanted))
        self._address.setToolTip(text("Click to copy"))
        self._address.setAccessibleName(text("Address {address}; press to copy", address=self._address.text()))
        self._moved.setVisible(self._port.moved)
        if self._port.moved:
            words = text("Port {wanted} is taken by another program, so the next free one is used.", wanted=wanted)
            self._moved.setText(words)

    def _served_changed(self) -> None:
        """Shown where somebody sees it, else as the page is entered: there may be thousands of models."""
        if self.isVisible():
            self._show_served()

    def _show_served(self) -> None:
        models = [model for model in self._services.library.models if model.problem is None]
        loaded = {one.model_id for one in self._services.supervisor.running() if one.url is not None}
        shown = sorted(models, key=lambda model: model.id not in loaded)[:_MOST_SERVED]
        lines = [_served_line(model, loaded=model.id in loaded) for model in shown]
        left = len(models) - len(shown)
        lines += [plural("and {count} more", "and {count} more", left)] if left else []
        lines = lines or [text("None yet: the Library is empty.")]
        if lines != self._served_lines:
            self._served_lines = lines
            clear(self._served)
            for line in lines:
                self._served.addWidget(selectable(label(line, wrap=True)))
        self._show_example()

    def _show_requests(self) -> None:
        if not self.isVisible() and self._requests.rowCount():
            return
        rows = self._port.records.rows()
        self._requests.show_rows(rows)
        self._table.setVisible(bool(rows))
        self._no_requests.setVisible(not rows)

    def _show_example(self) -> None:
        base = self._port.url or f"http://127.0.0.1:{self._services.settings.value.port}"
        shown = example(self._which.currentText(), base, self._asked_model())
        if shown != self._example.toPlainText():
            self._example.setPlainText(shown)

    def _asked_model(self) -> str | None:
        """The model of the example: a loaded one, else the last one used, else the first, of those that stay here."""
        whole = [model for model in self._services.library.models if model.problem is None]
        served = [model.id for model in sorted(whole, key=lambda model: model.leaves)]
        loaded = [one.model_id for one in self._services.supervisor.running() if one.url is not None]
        wished = [*loaded, self._services.settings.value.last_model, *served]
        return next((model_id for model_id in wished if model_id in served), None)

    def _copy_address(self) -> None:
        if self._port.url:
            copy(f"{self._port.url}/v1", self._address)

    def _copy_example(self) -> None:
        copy(self._example.toPlainText(), self._example)


def _served_line(model: Model, *, loaded: bool) -> str:
    """Its name, whether it is loaded, and whether what is asked of it leaves this computer."""
    held = text("loaded") if model.remote is None else text("connected")
    return " · ".join(filter(None, (model.id, leaving_in_words(model), held if loaded else "")))
