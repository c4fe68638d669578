"""Colours and style: the tokens of each scheme, the palette and the thin style sheet made of them.

Widgets take colours from `Theme.tokens` when they paint, or carry an object name or a property that the style sheet
of the part they stand in knows: `dress` puts it on. No page holds a literal colour. Fusion is the style everywhere, so
that the window looks the same on each system.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from weighbridge.base.settings import Settings, SettingsStore
from weighbridge.ui.glyph_files import GlyphFiles
from weighbridge.ui.style_sheet import Sheets, style_sheets
from weighbridge.ui.tokens import DARK, LIGHT, Tokens

STEP = 4
"""Spacing comes in steps of this many pixels."""


@dataclass(frozen=True)
class _Role:
    role: QPalette.ColorRole
    token: str


_ROLES = (
    _Role(QPalette.ColorRole.Window, "window"),
    _Role(QPalette.ColorRole.WindowText, "text"),
    _Role(QPalette.ColorRole.Base, "panel"),
    _Role(QPalette.ColorRole.AlternateBase, "window"),
    _Role(QPalette.ColorRole.Text, "text"),
    _Role(QPalette.ColorRole.Button, "panel"),
    _Role(QPalette.ColorRole.ButtonText, "text"),
    _Role(QPalette.ColorRole.BrightText, "no"),
    _Role(QPalette.ColorRole.PlaceholderText, "dim"),
    _Role(QPalette.ColorRole.Highlight, "accent_surface"),
    _Role(QPalette.ColorRole.HighlightedText, "text"),
    _Role(QPalette.ColorRole.Link, "accent"),
    _Role(QPalette.ColorRole.LinkVisited, "accent"),
    _Role(QPalette.ColorRole.Accent, "accent"),
    _Role(QPalette.ColorRole.ToolTipBase, "panel"),
    _Role(QPalette.ColorRole.ToolTipText, "text"),
    _Role(QPalette.ColorRole.Mid, "line"),
    _Role(QPalette.ColorRole.Midlight, "line"),
    _Role(QPalette.ColorRole.Light, "panel"),
    _Role(QPalette.ColorRole.Dark, "line"),
)
_DIMMED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


def palette(tokens: Tokens) -> QPalette:
    """The palette of a scheme, disabled texts dimmed."""
    made = QPalette()
    for entry in _ROLES:
        made.setColor(entry.role, QColor(getattr(tokens, entry.token)))
    for role in _DIMMED:
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.dim))
    return made


class Theme(QObject):
    """The scheme in use: the user's choice, or the system's where that is followed.

    `glyphs` is where the style sheet's images are kept.
    """

    changed = Signal()

    def __init__(self, app: QApplication, settings: SettingsStore, glyphs: Path | None = None) -> None:
        super().__init__(app)
        self._app = app
        self._settings = settings
        self._applied = ""
        self._system_is_dark = _is_dark(app)
        self._tokens = LIGHT
        self._sheets = Sheets("", "")
        self._glyphs = GlyphFiles(glyphs)
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        app.screenAdded.connect(self._apply)  # icons are drawn for the screens that are there
        settings.subscribe(self._settings_changed)
        self._apply()

    def dress(self, *parts: QWidget, as_message: bool = False) -> None:
        """Put the style sheet on `parts` and all that is in them, now and at each change of the scheme.

        Parts do not contain each other. The sheet is on parts, not on the application: a part out of sight changes
        only once it comes into sight. With 40 messages drawn, a change took 740 ms otherwise.
        """
        for part in parts:
            _Dress(part, self, as_message)

    @property
    def tokens(self) -> Tokens:
        """The colours in use."""
        return self._tokens

    @property
    def sheets(self) -> Sheets:
        """The style sheets in these colours."""
        return self._sheets

    @property
    def choice(self) -> str:
        """What the user chose: "system", "light" or "dark"."""
        return self._settings.value.theme

    def choose(self, choice: str) -> None:
        """Take "system", "light" or "dark", and remember it."""
        self._settings.change(theme=choice)

    def _settings_changed(self, value: Settings) -> None:
        if value.theme != self._applied:
            self._apply()

    def _system_changed(self, scheme: Qt.ColorScheme) -> None:
        if scheme != Qt.ColorScheme.Unknown:
            self._system_is_dark = scheme == Qt.ColorScheme.Dark
        self._apply()

    def _apply(self) -> None:
        self._applied = self.choice
        dark = self._system_is_dark if self.choice == "system" else self.choice == "dark"
        self._tokens = DARK if dark else LIGHT
        self._app.setPalette(palette(self._tokens))
        glyphs, em = self._glyphs.addresses(self._tokens), QFontMetrics(self._app.font()).height()
        self._sheets = style_sheets(self._tokens, glyphs, em)
        self.changed.emit()


class _Dress(QObject):
    """The sheet that one part wears. It watches the part only while the part's sheet is of before."""

    def __init__(self, part: QWidget, theme: Theme, as_message: bool) -> None:
        super().__init__(part)
        self._part = part
        self._theme = theme
        self._as_message = as_message
        theme.changed.connect(self._changed)
        self._put_on()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._put_on()
        elif event.type() == QEvent.Type.Paint:  # not while it paints
            QTimer.singleShot(0, self, self._put_on)
        return super().eventFilter(watched, event)

    def _changed(self) -> None:
        if self._part.visibleRegion().isEmpty():
            self._part.installEventFilter(self)
        else:
            self._put_on()

    def _put_on(self) -> None:
        self._part.removeEventFilter(self)
        sheets = self._theme.sheets
        self._part.setStyleSheet(sheets.messages if self._as_message else sheets.pages)


def _is_dark(app: QApplication) -> bool:
    """Whether the system is dark: as it says, else by the lightness of its own window colour."""
    told = app.styleHints().colorScheme()
    if told != Qt.ColorScheme.Unknown:
        return told == Qt.ColorScheme.Dark
    return app.palette().color(QPalette.ColorRole.Window).lightness() < 128
