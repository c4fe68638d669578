"""The page Settings, and what a change does at once."""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from weighbridge.base.setting_kinds import kind_of
from weighbridge.base.settings import Settings, SettingsStore
from weighbridge.ui.acting import act
from weighbridge.ui.pages.settings import SettingsPage
from weighbridge.ui.port_control import PortState


@pytest.fixture
def page(qtbot, services):
    made = SettingsPage(services)
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.entered()
    return made


def kept(services):
    return SettingsStore(services.paths.settings).value


def test_each_setting_that_is_told_has_a_named_field(page):
    told = [one for one in fields(Settings) if kind_of(one).title]
    assert len(told) == 15
    for one in told:
        assert page.field(one.name).accessibleName() == kind_of(one).title
        assert page.field(one.name).accessibleDescription() == kind_of(one).description


def test_the_keyboard_chooses_the_appearance_and_it_changes_at_once(page, services):
    assert QApplication.focusWidget() is page.field("theme")
    QTest.keyClick(page.field("theme"), Qt.Key.Key_End)
    assert services.theme.tokens.name == "dark"
    assert kept(services).theme == "dark"


def test_a_number_is_taken_once_it_is_entered(page, services):
    made = page.field("idle_minutes")
    assert made.text() == "Never"
    made.setFocus()
    made.selectAll()
    QTest.keyClicks(made, "30")
    assert services.settings.value.idle_minutes is None
    QTest.keyClick(made, Qt.Key.Key_Return)
    assert kept(services).idle_minutes == 30
    made.setValue(made.minimum())
    QTest.keyClick(made, Qt.Key.Key_Return)
    assert kept(services).idle_minutes is None


def test_a_switch(page, services):
    QTest.mouseClick(page.field("port_on"), Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    assert kept(services).port_on


def test_an_address_is_taken_or_stays_to_be_mended(page, services):
    made = page.field("hub_endpoint")
    assert made._line.placeholderText() == "https://huggingface.co"
    made.setFocus()
    QTest.keyClicks(made._line, "http://mirror.example")
    QTest.keyClick(made._line, Qt.Key.Key_Return)
    assert made._why.isVisible()
    assert made._line.text() == "http://mirror.example"
    assert kept(services).hub_endpoint is None
    made._line.setText(" https://mirror.example ")
    QTest.keyClick(made._line, Qt.Key.Key_Return)
    assert not made._why.isVisible()
    assert kept(services).hub_endpoint == "https://mirror.example"
    made._line.clear()
    QTest.keyClick(made._line, Qt.Key.Key_Return)
    assert kept(services).hub_endpoint is None


def test_folders_come_by_the_dialog_and_go(page, services, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/models/ñ")
    made = page.field("model_folders")
    QTest.mouseClick(made._add, Qt.MouseButton.LeftButton)
    QTest.mouseClick(made._add, Qt.MouseButton.LeftButton)
    assert made.folders == kept(services).model_folders == ("/models/ñ",)
    assert not made._remove.isEnabled()
    made._list.setCurrentRow(0)
    QTest.mouseClick(made._remove, Qt.MouseButton.LeftButton)
    assert made.folders == kept(services).model_folders == ()


def test_a_dialog_that_is_cancelled_changes_nothing(page, services, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    QTest.mouseClick(page.field("model_folders")._add, Qt.MouseButton.LeftButton)
    assert services.settings.value == Settings()


def test_it_follows_what_others_change(page, services):
    services.settings.change(port=8080, theme="light", closing="tray")
    assert page.field("port").value() == 8080
    assert page.field("theme").currentData() == "light"
    assert page.field("closing").currentText() == "Leaves it in the tray"


def test_the_wheel_changes_nothing(page, services):
    for name in ("theme", "context"):
        made = page.field(name)
        turn = QWheelEvent(
            QPointF(5, 5),
            QPointF(5, 5),
            QPoint(0, 0),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(made, turn)
    assert page.field("context").value() == 4096
    assert services.settings.value == Settings()


def test_what_was_wrong_with_the_file_stands_on_it_in_words(qtbot, services):
    services.paths.settings.parent.mkdir(parents=True, exist_ok=True)
    services.paths.settings.write_text("port = 0\ncontext = true\n")
    page = SettingsPage(replace(services, settings=SettingsStore(services.paths.settings)))
    qtbot.addWidget(page, before_close_func=lambda page: page.shut())
    page.show()
    assert len(page.notices) == 2
    assert "settings.bad_value" not in page.notices[0]
    assert "2412" in page.notices[0]
    assert page._notices_panel.isVisible()


def test_a_file_that_cannot_be_written_is_said_at_once(page, services):
    assert not page._notices_panel.isVisible()
    services.paths.settings.parent.mkdir(parents=True, exist_ok=True)
    services.paths.settings.mkdir()
    QTest.keyClick(page.field("theme"), Qt.Key.Key_End)
    assert page._notices_panel.isVisible()
    assert services.theme.tokens.name == "dark"


def test_a_change_acts_at_once(qtbot, services):
    asked = []
    services.bus.scan_wanted.connect(lambda: asked.append(1))
    new = replace(Settings(), context=2048, idle_minutes=5, model_folders=("/other",))
    act(Settings(), new, services)
    assert services.supervisor.contexts == [2048]
    assert services.supervisor.idle_limits == [300.0]
    assert services.library.folders == (services.paths.models, Path("/other"))
    assert asked == [1]
    act(new, new, services)
    assert asked == [1]


def test_models_of_other_programs_are_left_out_at_once(qtbot, services):
    asked = []
    services.bus.scan_wanted.connect(lambda: asked.append(1))
    act(Settings(), replace(Settings(), other_programs=False), services)
    assert [root.source for root in services.library.roots] == ["own"]
    act(replace(Settings(), other_programs=False), Settings(), services)
    assert {"ollama", "lm_studio", "hf_cache"} <= {root.source for root in services.library.roots}
    assert asked == [1, 1]


def test_the_port_follows_the_settings(qtbot, services):
    old = services.settings.value
    services.settings.change(port_on=True)
    act(old, services.settings.value, services)
    qtbot.waitUntil(lambda: services.port.state is PortState.ON)
    old = services.settings.value
    services.settings.change(port=8099)
    act(old, services.settings.value, services)
    qtbot.waitUntil(lambda: services.port.address == "127.0.0.1:8099")
    old = services.settings.value
    services.settings.change(port_on=False)
    act(old, services.settings.value, services)
    qtbot.waitUntil(lambda: services.port.state is PortState.OFF)


@pytest.mark.parametrize("width", [1400, 800])
def test_no_sentence_that_wraps_is_cut(page, qtbot, width):
    page.resize(width, 900)
    page.layout().activate()

    def all_whole():
        wrapping = [each for each in page.findChildren(QLabel) if each.wordWrap() and each.isVisible()]
        assert len(wrapping) >= 14
        assert [each.text() for each in wrapping if each.height() < each.heightForWidth(each.width())] == []

    qtbot.waitUntil(all_whole)
