"""The language of the window: of our texts, of Qt's own (menus of text fields), and of the numbers in its fields."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from weighbridge.base.words import use_language

_LOCALES = {
    "en": QLocale(QLocale.Language.English, QLocale.Country.UnitedStates),
    "es": QLocale(QLocale.Language.Spanish, QLocale.Country.Argentina),
}
"""Countries whose figures are those of `base.units.number`: Spain's have no point in 4.096, Mexico's a comma."""


class Speech:
    """Owner of Qt's translator. Texts are made with their widgets: what stands already keeps its language."""

    def __init__(self, app: QApplication) -> None:
        self._app = app
        self._translator = QTranslator(app)

    def use(self, choice: str) -> None:
        """Speak the language of a setting: "system", or one of ours. Qt without a catalogue for it stays English."""
        language = use_language(None if choice == "system" else choice)
        QLocale.setDefault(_LOCALES[language])
        self._app.removeTranslator(self._translator)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if self._translator.load(f"qtbase_{language}", folder):
            self._app.installTranslator(self._translator)
