"""What was asked for against what the engine really uses. A difference carries a mark and its reason."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from weighbridge.base.explain import explain_code
from weighbridge.base.words import text
from weighbridge.choices.setting_words import setting_in_words, setting_name
from weighbridge.running.state import Setting
from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import clear, label


def difference_in_words(setting: Setting) -> str:
    """Why the two values differ, or why the engine chose so; empty where there is nothing to say."""
    if not setting.differs and setting.reason is None:
        return ""
    values = {"name": setting_name(setting.name), "requested": setting.requested, "effective": setting.effective}
    if setting.reason is None:
        return text("The engine uses another value and does not say why.")
    return str(explain_code(setting.reason, values))


class SettingsTable(QWidget):
    """Two columns of values, "requested" and "effective"; where it is `roomy`, with lines between the settings."""

    def __init__(self, theme: Theme, roomy: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._roomy = roomy
        self._names: list[QLabel] = []
        self._settings: tuple[Setting, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(3 * STEP)
        self._grid.setVerticalSpacing((3 if roomy else 1) * STEP)
        self._grid.setColumnStretch(0, 1)
        theme.changed.connect(self._draw)
        self._draw()

    def show_settings(self, settings: Sequence[Setting]) -> None:
        """Show these."""
        if tuple(settings) != self._settings:
            self._settings = tuple(settings)
            self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._roomy:
            painter = QPainter(self)
            painter.setPen(QColor(self._theme.tokens.line))
            for name in self._names:
                y = name.geometry().top() - self._grid.verticalSpacing() // 2 - 1
                painter.drawLine(0, y, self.width(), y)
            painter.end()

    def _draw(self) -> None:
        clear(self._grid)
        self._names = []
        self.setAccessibleName(text("Requested and effective settings"))
        self.setAccessibleDescription(". ".join(_spoken(setting) for setting in self._settings))
        for place, words in enumerate((text("Requested"), text("Effective")), start=1):
            self._grid.addWidget(label(words, "dim"), 0, place, _RIGHT)
        line = 1
        for setting in self._settings:
            line = self._draw_setting(setting, line)

    def _draw_setting(self, setting: Setting, line: int) -> int:
        self._names.append(label(setting_name(setting.name)))
        self._grid.addWidget(self._names[-1], line, 0)
        self._grid.addWidget(label(setting_in_words(setting.name, setting.requested, text("auto"))), line, 1, _RIGHT)
        role = "figure" if setting.differs else ""
        self._grid.addWidget(label(_effective(setting), role), line, 2, _RIGHT)
        if setting.differs:
            self._grid.addWidget(self._mark(), line, 3)
        if not (words := difference_in_words(setting)):
            return line + 1
        self._grid.addWidget(label(words, "dim", wrap=True), line + 1, 0, 1, 4)
        return line + 2

    def _mark(self) -> QLabel:
        made = QLabel()
        side = self.fontMetrics().height()
        made.setPixmap(pixmap("warning", self._theme.tokens.tight, side, self.devicePixelRatioF()))
        made.setAccessibleName(text("differs"))
        return made


def _effective(setting: Setting) -> str:
    return setting_in_words(setting.name, setting.effective, text("not used") if setting.unused else text("unknown"))


def _spoken(setting: Setting) -> str:
    said = text(
        "{name}: requested {requested}, effective {effective}",
        name=setting_name(setting.name),
        requested=setting_in_words(setting.name, setting.requested, text("auto")),
        effective=_effective(setting),
    )
    return f"{said} {difference_in_words(setting)}".strip()


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
