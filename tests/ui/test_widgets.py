"""The small parts: what they tell to the mouse, the keyboard and a screen reader."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from weighbridge.base.errors import EngineFailed
from weighbridge.base.task import Task
from weighbridge.chat.meter import Reading
from weighbridge.running.state import Setting
from weighbridge.ui.chat.strip import LiveStrip
from weighbridge.ui.icons import icon, pixmap, tinted
from weighbridge.ui.memory_parts import ORDER, Memory, Part
from weighbridge.ui.widgets.badge import GLYPHS, Badge
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.error_panel import ErrorPanel, report
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.memory_bar import MemoryBar
from weighbridge.ui.widgets.progress_panel import ProgressPanel
from weighbridge.ui.widgets.settings_table import SettingsTable
from weighbridge_resources import path

GIB = 1 << 30
RAM = Memory("RAM", 16 * GIB, (Part("weights", 8 * GIB), Part("others", 4 * GIB)), limit_bytes=14 * GIB)


@pytest.fixture
def bar(qtbot, services):
    made = MemoryBar(services.theme, thick=True)
    qtbot.addWidget(made)
    made.resize(404, 30)
    made.show_memory(RAM)
    made.show()
    return made


def test_each_part_of_a_bar_says_what_it_is_where_the_mouse_points(bar):
    assert bar.words_at(50).startswith("Everything else · 4.0")
    assert bar.words_at(200).startswith("Weights · 8.0")
    assert bar.words_at(390).startswith("Free · 4.0")
    assert bar.words_at(1000) == ""


def test_arrows_go_through_the_parts(bar):
    seen = []
    for _ in range(4):
        seen.append(RAM.ordered[bar._at].kind)
        QTest.keyClick(bar, Qt.Key.Key_Right)
    assert seen == ["others", "weights", "free", "others"]
    QTest.keyClick(bar, Qt.Key.Key_Left)
    assert bar._at == 0


def test_a_screen_reader_hears_all_parts(bar):
    assert bar.accessibleName() == "RAM"
    assert all(word in bar.accessibleDescription() for word in ("Everything else", "Weights", "Free"))


def test_parts_are_drawn_in_their_colours_with_a_mark_at_the_limit(bar, services):
    drawn = bar.grab().toImage()
    tokens, middle = services.theme.tokens, bar.height() // 2
    assert drawn.pixelColor(50, middle) == QColor(tokens.others)
    assert drawn.pixelColor(200, middle) == QColor(tokens.weights)
    assert drawn.pixelColor(320, middle) == QColor(tokens.track)
    assert drawn.pixelColor(352, middle) == QColor(tokens.text)


def test_every_kind_of_part_and_badge_has_a_colour_and_a_glyph(services):
    for kind in ORDER:
        assert hasattr(services.theme.tokens, kind)
    for kind, glyph in GLYPHS.items():
        assert hasattr(services.theme.tokens, f"{kind}_surface")
        assert path(f"icons/{glyph}.svg").is_file()


def test_a_badge_says_its_word(qtbot, services):
    badge = Badge(services.theme, "tight", "Loading")
    qtbot.addWidget(badge)
    assert badge.accessibleName() == "Loading"
    before = badge.sizeHint().width()
    badge.say("no", "Damaged beyond repair")
    assert badge.sizeHint().width() > before


def test_a_legend_grows_where_it_is_narrow(qtbot, services):
    legend = Legend(services.theme)
    qtbot.addWidget(legend)
    legend.show_memory(RAM)
    legend.resize(2000, 10)
    legend.show()
    wide = legend.height()
    legend.resize(150, legend.height())
    assert legend.height() > 2 * wide


def test_a_figure_tells_its_basis(qtbot):
    figure = Figure("Memory")
    qtbot.addWidget(figure)
    figure.say("5.2 GiB", "Weights and cache.")
    assert figure.value == "5.2 GiB"
    assert figure.accessibleName() == "Memory 5.2 GiB"
    assert figure.accessibleDescription() == figure.toolTip() == "Weights and cache."
    assert figure.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_difference_carries_a_mark_and_its_reason(qtbot, services):
    table = SettingsTable(services.theme)
    qtbot.addWidget(table)
    table.show_settings(
        (
            Setting("context", 4000, 4096, "setting.padded"),
            Setting("threads", None, 3),
            Setting("flash_attention", None, None),
            Setting("batch", 64, None, "setting.not_of_engine"),
            Setting("device", None, "GPU.1", "setting.device_card"),
        )
    )
    shown = [label.text() for label in table.findChildren(QLabel) if not label.isHidden()]
    assert shown[:2] == ["Requested", "Effective"]
    assert shown[2:5] == ["Context", "4,000", "4,096"]
    marks = [label for label in table.findChildren(QLabel) if label.accessibleName() == "differs"]
    assert len(marks) == 1
    assert "auto" in shown
    assert "unknown" in shown
    assert shown[shown.index("64") + 1] == "not used"
    assert any(words.startswith("This engine has no such setting") for words in shown)
    assert any("memory of its own" in words for words in shown)
    assert "requested 4,000, effective 4,096" in table.accessibleDescription()


def test_a_report_explains_a_code_and_keeps_the_log():
    said = report(EngineFailed("engine.killed", ("line one",), engine="llama.cpp", exit_code=-9, signal="SIGKILL"))
    assert said.what
    assert not said.what.startswith("engine.")
    assert "line one" in said.details
    assert "Weighbridge" in said.whole


def test_an_unknown_error_shows_its_trace():
    try:
        raise ValueError("odd")
    except ValueError as error:
        said = report(error)
    assert "odd" in said.what
    assert "Traceback" in said.details


def test_details_are_folded_until_asked_for_and_the_report_is_copied(qtbot, services):
    pressed = []
    panel = ErrorPanel(services.theme)
    qtbot.addWidget(panel)
    panel.show_error(ValueError("odd"), (("Try again", lambda: pressed.append(True)),))
    assert not panel._details.isVisible()
    qtbot.mouseClick(panel._fold, Qt.MouseButton.LeftButton)
    assert panel._details.isVisible()
    qtbot.mouseClick(panel._copy, Qt.MouseButton.LeftButton)
    assert "Traceback" in QApplication.clipboard().text() or "ValueError" in QApplication.clipboard().text()
    qtbot.mouseClick(panel.buttons[0], Qt.MouseButton.LeftButton)
    assert pressed == [True]
    panel.show_error(ValueError("another"))
    assert panel.buttons == []


def test_progress_is_read_at_a_timers_pace_and_cancel_cancels(qtbot):
    panel = ProgressPanel()
    qtbot.addWidget(panel)
    task = Task()
    panel.watch("Getting it", task)
    assert panel.isVisible()
    task.step(50, 100)
    qtbot.waitUntil(lambda: panel._bar.value() == 500)
    qtbot.mouseClick(panel._cancel, Qt.MouseButton.LeftButton)
    assert task.cancelled
    panel.finish()
    assert not panel.isVisible()


def test_icons_are_tinted_and_sharp(qapp):
    assert "#123456" in tinted("library", "#123456")
    assert pixmap("library", "#123456", 16, 2.0).size().width() == 32
    assert not icon("library", "#123456").isNull()


def test_no_icon_has_a_colour_of_its_own():
    for file in path("icons").glob("*.svg"):
        assert "#" not in file.read_text("utf-8")


def test_the_figures_of_the_live_strip_have_room(qtbot, services):
    strip = LiveStrip(services.theme)
    qtbot.addWidget(strip)
    strip.resize(740, strip.sizeHint().height())
    strip.show()
    reading = Reading("engine", now_tps=61.4, prompt_tps=2870.0, ttft_ms=210.0, context_used=16_384)
    strip.show_reading(reading, 32_768, goes_on=True)
    for held in (253 << 20, 1023 << 20, 12 << 30):
        strip.show_memory(held)
        qtbot.waitUntil(lambda: strip.memory.width() >= strip.memory.sizeHint().width())
        bold = QFont(strip.font())
        bold.setWeight(QFont.Weight.DemiBold)
        assert strip.memory.width() >= QFontMetricsF(bold).horizontalAdvance(strip.memory.value)
    assert strip.context.value == "16,384 of 32,768 · 16,384 left"
    assert strip.speed.width() > strip.speed.minimumSizeHint().width()


def test_a_badge_says_less_where_there_is_no_room_for_all(qtbot, services):
    badge = Badge(services.theme, "unknown", "")
    badge.say("tight", "Leaves this computer, stays in your network", "network", least="Leaves this computer")
    qtbot.addWidget(badge)
    badge.resize(badge.sizeHint())
    assert badge.painted == "Leaves this computer, stays in your network"
    badge.resize(badge.minimumSizeHint())
    assert badge.painted == "Leaves this computer"
    assert badge.minimumSizeHint().width() < badge.sizeHint().width()
    assert badge.accessibleName() == "Leaves this computer, stays in your network"
    badge.say("fits", "Fits")
    assert badge.minimumSizeHint() == badge.sizeHint()


@pytest.mark.parametrize(("room", "is_painted"), [(8, False), (80, True)])
def test_a_line_with_room_for_no_letter_shows_nothing(qtbot, room, is_painted):
    line = ElidedLabel()
    line.setText("not connected")
    qtbot.addWidget(line)
    line.resize(room, 20)
    drawn = line.grab().toImage()
    colours = {drawn.pixel(x, y) for x in range(drawn.width()) for y in range(drawn.height())}
    assert (len(colours) > 1) is is_painted
    assert line.toolTip() == "not connected" or is_painted
