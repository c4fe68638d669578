import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit

from weighbridge.base.units import number
from weighbridge.base.words import language, text
from weighbridge.ui.speech import Speech


@pytest.fixture
def speech(qapp):
    made = Speech(qapp)
    yield made
    made.use("en")


def undo():
    return QCoreApplication.translate("QWidgetTextControl", "&Undo")


def test_qt_speaks_the_same_language(qtbot, speech):
    speech.use("es")
    assert (language(), text("Stop"), undo()) == ("es", "Detener", "&Deshacer")
    field = QLineEdit()
    qtbot.addWidget(field)
    menu = field.createStandardContextMenu()
    assert any(action.text().startswith("&Deshacer") for action in menu.actions())
    menu.deleteLater()
    speech.use("en")
    assert (language(), text("Stop"), undo()) == ("en", "Stop", "&Undo")


def test_the_systems_language_is_used_where_none_is_chosen(monkeypatch, speech):
    monkeypatch.setenv("LC_ALL", "es_MX.UTF-8")
    speech.use("system")
    assert (language(), undo()) == ("es", "&Deshacer")


@pytest.mark.parametrize("chosen", ["en", "es"])
def test_fields_write_figures_as_the_rest_does(qtbot, speech, chosen):
    speech.use(chosen)
    assert QLocale().toString(4096) == number(4096)
    assert QLocale().toString(131_072) == number(131_072)
    field = QDoubleSpinBox(value=0.8)
    qtbot.addWidget(field)
    assert field.text() == number(0.8, 2)
