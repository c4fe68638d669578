"""The settings: drawn from the fields of `Settings`, so that a new one shows by itself. Changes act at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import Field, fields
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from weighbridge.base.explain import explain_code
from weighbridge.base.setting_kinds import Address, Folders, Kind, kind_of
from weighbridge.base.settings import Settings
from weighbridge.base.words import text
from weighbridge.ui.folders import short
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import clear, column, label, panel, row, selectable
from weighbridge.ui.widgets.setting_fields import SettingField, field_of

_WIDEST_EMS = 56
_FIELD_EMS = 15


class SettingsPage(Page):
    """Shows `services.settings`, whoever changes them; what was wrong with their file stands at the top."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._settings = services.settings
        self._fields: dict[str, SettingField] = {}
        self._shown: Settings | None = None
        self._said: list[str] = []
        self._notices = column(gap=1)
        self._notices_panel = panel(label(text("About the settings' file"), "heading"), self._notices, margin=4)
        self._place = selectable(label("", "dim", wrap=True))
        self._place.setText(text("Kept in {path}", path=short(services.paths.settings, Path.home())))
        self._lay_out()
        services.theme.dress(self)
        self._leave = self._settings.subscribe(lambda _value: self._show())
        self._show()

    def entered(self) -> None:
        self._show()
        next(iter(self._fields.values())).setFocus()

    def shut(self) -> None:
        self._leave()

    def field(self, name: str) -> SettingField:
        """The field of a setting."""
        return self._fields[name]

    @property
    def notices(self) -> Sequence[str]:
        """What is said about the file, a sentence each."""
        return self._said

    def _lay_out(self) -> None:
        shown = [one for one in fields(Settings) if kind_of(one).title]
        groups = [self._group(group, found) for group, found in groupby(shown, key=lambda one: kind_of(one).group)]
        inner = QWidget()
        inner.setMaximumWidth(self.fontMetrics().height() * _WIDEST_EMS)
        column(self._notices_panel, *groups, self._place, None, owner=inner, gap=3)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        # Beside free room, not above it: a column would reckon the height of its sentences by a width it does not get.
        held = row(inner, None, owner=scrolled)
        held.setStretch(0, 1000)
        area = QScrollArea(widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(scrolled)
        area.setAccessibleName(text("Settings"))
        whole = column(label(text("Settings"), "title"), area, owner=self, margin=4, gap=3)
        whole.setStretch(1, 1)

    def _group(self, title: str, found: Iterable[Field[Any]]) -> QFrame:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6 * STEP)
        grid.setVerticalSpacing(4 * STEP)
        grid.setColumnStretch(0, 1)
        for place, one in enumerate(found):
            self._add(grid, place, one.name, kind_of(one))
        return panel(label(text(title), "heading"), grid, margin=4)

    def _add(self, grid: QGridLayout, place: int, name: str, kind: Kind) -> None:
        made = field_of(kind)
        made.chosen.connect(partial(self._change, name))
        self._fields[name] = made
        title = label(text(kind.title))
        title.setBuddy(made)
        words = column(title, label(text(kind.description), "dim", wrap=True), gap=0)
        if isinstance(kind, Folders | Address):  # paths and addresses are long
            words.addSpacing(2 * STEP)
            words.addWidget(made)
            grid.addLayout(words, place, 0, 1, 2)
            return
        made.setFixedWidth(self.fontMetrics().height() * _FIELD_EMS)
        grid.addLayout(words, place, 0)
        grid.addWidget(made, place, 1, Qt.AlignmentFlag.AlignVCenter)

    def _change(self, name: str, value: object) -> None:
        self._settings.change(**{name: value})

    def _show(self) -> None:
        value = self._settings.value
        for name, made in self._fields.items():
            if self._shown is None or getattr(self._shown, name) != getattr(value, name):
                made.show_value(getattr(value, name))
        self._shown = value
        self._show_notices()

    def _show_notices(self) -> None:
        said = [str(explain_code(cause.code, cause.values)) for cause in self._settings.notices]
        self._notices_panel.setVisible(bool(said))
        if said != self._said:
            self._said = said
            clear(self._notices)
            for sentence in said:
                self._notices.addWidget(selectable(label(sentence, wrap=True)))
