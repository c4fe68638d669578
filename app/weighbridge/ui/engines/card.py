"""One engine: its name, what it reads and cannot do, its builds; folded, what to know of it and other builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from weighbridge.base.words import plural, text
from weighbridge.choices.engine_words import format_in_words
from weighbridge.ui.engines.build_row import BuildRow
from weighbridge.ui.engines.looks import BuildLook, EngineLook
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import column, label, selectable


class EngineCard(QFrame):
    """Shows an `EngineLook`. Rows stay while their builds do, so that focus and what is unfolded stay."""

    def __init__(
        self, theme: Theme, title: str, make_row: Callable[[str, str], BuildRow], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName(title)
        self._title = title
        self._make_row = make_row
        self._rows: dict[str, BuildRow] = {}
        self._order: tuple[list[str], list[str]] = ([], [])
        self._rules: list[QFrame] = []
        self._head = Flow(label(title, "heading"), gap=2)
        self._tags: tuple[tuple[str, ...], bool] = ((), False)
        self._cannot = selectable(label("", "dim", wrap=True))
        self._notes = selectable(label("", "dim", wrap=True))
        self._notes.setContentsMargins(6 * STEP, 0, 0, STEP)
        self._known = Fold(theme, self._notes)
        self._builds = column(gap=3)
        inner = QWidget()
        self._others = column(owner=inner, gap=3)
        self._others.setContentsMargins(0, 2 * STEP, 0, 0)
        self._fold = Fold(theme, inner)
        head = QWidget()
        head.setLayout(self._head)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        head.setSizePolicy(policy)
        held = column(head, self._cannot, self._known, self._builds, self._fold, owner=self, gap=1)
        held.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        held.insertSpacing(3, 2 * STEP)
        held.insertSpacing(5, STEP)

    @property
    def rows(self) -> dict[str, BuildRow]:
        """The rows by the ids of their builds."""
        return dict(self._rows)

    @property
    def fold(self) -> Fold:
        """What unfolds the builds that could be had besides."""
        return self._fold

    @property
    def known(self) -> Fold:
        """What unfolds that which should be known before it is used."""
        return self._known

    @property
    def notes(self) -> str:
        """That, a line each."""
        return self._notes.text()

    def show_look(self, look: EngineLook, show: Callable[[BuildRow, BuildLook], object]) -> None:
        """Show `look`; `show` fills a row."""
        self._show_tags(look)
        self._show_notes(look.notes)
        self._cannot.setText(look.cannot)
        self._cannot.setVisible(bool(look.cannot))
        self._arrange([one.id for one in look.builds], [one.id for one in look.others])
        for one in (*look.builds, *look.others):
            show(self._rows[one.id], one)
        self._fold.setVisible(bool(look.others))
        self._say(self._fold, _others_in_words(look))

    def unfold_for(self, build_id: str) -> None:
        """Have the row of a build in sight."""
        if build_id in self._order[1]:
            self._fold.show_open(True)

    def _show_notes(self, notes: tuple[str, ...]) -> None:
        self._notes.setText("\n".join(notes))
        self._known.setVisible(bool(notes))
        count = len(notes)
        self._say(self._known, plural("{count} thing to know", "{count} things to know", count))

    def _say(self, fold: Fold, words: str) -> None:
        """Other cards have such words too: whose they are is seen, and has to be heard."""
        fold.say(words)
        fold.line.setAccessibleName(f"{words}: {self._title}")

    def _show_tags(self, look: EngineLook) -> None:
        if (look.formats, look.archived) == self._tags:
            return
        self._tags = (look.formats, look.archived)
        while (item := self._head.takeAt(1)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        if look.archived:
            self._head.addWidget(label(text("Archived"), "tag"))
        for one in look.formats:
            made = label(format_in_words(one), "tag")
            made.setAccessibleName(text("Reads {format}", format=made.text()))
            self._head.addWidget(made)

    def _arrange(self, builds: list[str], others: list[str]) -> None:
        if (builds, others) == self._order:
            return
        self._order = (builds, others)
        for gone in set(self._rows) - {*builds, *others}:
            old = self._rows.pop(gone)
            old.hide()
            old.deleteLater()
        for rule in self._rules:
            rule.hide()
            rule.deleteLater()
        self._rules = []
        for build_id in (*builds, *others):
            if build_id not in self._rows:
                self._rows[build_id] = self._make_row(build_id, self._title)
        self._fill(self._builds, builds)
        self._fill(self._others, others)

    def _fill(self, layout: QVBoxLayout, ids: Sequence[str]) -> None:
        for place, build_id in enumerate(ids):
            if place:
                self._rules.append(_rule())
                layout.addWidget(self._rules[-1])
            made = self._rows[build_id]
            layout.removeWidget(made)
            layout.addWidget(made)
            made.show()


def _others_in_words(look: EngineLook) -> str:
    count = len(look.others)
    if look.suited:
        return plural("{count} more build", "{count} more builds", count)
    return plural("{count} build for other machines", "{count} builds for other machines", count)


def _rule() -> QFrame:
    made = QFrame()
    made.setProperty("role", "rule")
    made.setFixedHeight(1)
    return made
