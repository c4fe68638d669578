"""The frame: pages by key, palette, Esc, top bar, sidebar; and what a keyboard and a screen reader need, on all
pages.
"""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QScrollArea,
    QWidget,
)
from tests.ui.cut import cut
from tests.ui.fakes import FakePort, machine, running
from tests.ui.served_elsewhere import served

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.settings import SettingsStore
from weighbridge.base.words import use_language
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.running.state import State
from weighbridge.ui.advisor.page import AdvisorPage
from weighbridge.ui.bus import Bus
from weighbridge.ui.chat.page import ChatPage
from weighbridge.ui.discover.page import DiscoverPage
from weighbridge.ui.engines.page import EnginesPage
from weighbridge.ui.pages.downloads import DownloadsPage
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.pages.machine import MachinePage
from weighbridge.ui.pages.network import NetworkPage
from weighbridge.ui.pages.server import ServerPage
from weighbridge.ui.pages.settings import SettingsPage
from weighbridge.ui.theme import Theme
from weighbridge.ui.window import MINIMUM, Window

MAKERS = {
    "discover": DiscoverPage,
    "library": LibraryPage,
    "chat": ChatPage,
    "server": ServerPage,
    "engines": EnginesPage,
    "advisor": AdvisorPage,
    "machine": MachinePage,
    "downloads": DownloadsPage,
    "network": NetworkPage,
    "settings": SettingsPage,
}
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
GIB = 1 << 30


@pytest.fixture
def window(qtbot, full):
    """On the Library. The other pages are made once they are gone to: to make all takes most of the time of a test."""
    made = Window(full.theme, full.settings, full.bus)
    qtbot.addWidget(made, before_close_func=lambda _window: made.shut())
    made.take(full, MAKERS)
    made.show_first("library")
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    qtbot.waitUntil(made.page._rescan.isEnabled)
    return made


def press(window, key, modifiers=CTRL):
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def test_there_is_one_window_and_it_has_the_keyboard(window):
    shown = [one for one in QApplication.topLevelWidgets() if one.isVisible()]
    assert shown == [window]
    assert QApplication.activeWindow() is window


def test_ctrl_and_a_number_go_to_the_pages_in_their_order(window):
    for key, name in zip("123456789,", MAKERS, strict=True):
        press(window, key)
        assert window.page_name == name
        assert window._sidebar._buttons[name].isChecked()


def test_the_palette_finds_a_page_and_goes_there(window):
    press(window, Qt.Key.Key_K)
    assert window.palette_box.isVisible()
    QTest.keyClicks(QApplication.focusWidget(), "machine")
    assert [entry.title for entry in window.palette_box.found] == ["Go to Machine"]
    press(window, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    assert window.page_name == "machine"
    assert not window.palette_box.isVisible()


def test_the_palette_moves_by_arrows_and_takes_the_appearance(window, full):
    press(window, Qt.Key.Key_K)
    QTest.keyClicks(QApplication.focusWidget(), "appearance")
    press(window, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier)
    press(window, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier)
    press(window, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    assert full.theme.tokens.name == "dark"
    assert full.settings.value.theme == "dark"


def test_escape_closes_the_palette_and_gives_the_focus_back(window):
    before = QApplication.focusWidget()
    press(window, Qt.Key.Key_K)
    press(window, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    assert not window.palette_box.isVisible()
    assert QApplication.focusWidget() is before


def test_the_model_switcher_lists_whole_models_the_loaded_one_first(window, full):
    full.supervisor.become(full.bus, running("Qwen3-8B-Q8_0"))
    press(window, Qt.Key.Key_L)
    titles = [entry.title for entry in window.palette_box.found]
    assert titles[0] == "Chat with Qwen3-8B-Q8_0"
    assert len(titles) == 6
    press(window, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    assert window.page_name == "chat"


def test_the_top_bar_names_the_model_and_its_speed(window, full):
    bar = window._topbar
    full.supervisor.become(full.bus, running("A", State.LOADING), running("B"))
    assert bar._model.text() == "B"
    full.bus.speed_told.emit("B", 61.44, False)
    assert bar._tps.text() == "61.4\u202ftok/s"
    full.bus.speed_told.emit("B", None, False)
    assert not bar._tps.isVisible()
    full.supervisor.become(full.bus, running("A", State.LOADING))
    assert bar._model.text() == "A · loading"
    full.supervisor.become(full.bus)
    assert bar._model.text() == "No model loaded"


def test_the_top_bar_names_the_endpoint_of_what_is_served_elsewhere(window, full, monkeypatch):
    bar = window._topbar
    monkeypatch.setattr(type(full.library), "models", property(lambda library: (served(),)))
    full.supervisor.become(full.bus, running("qwen3:8b@my-box", State.LOADING, engine_id="endpoint"))
    assert bar._model.text() == "qwen3:8b · My box · connecting"
    full.supervisor.become(full.bus, running("qwen3:8b@my-box", engine_id="endpoint"))
    assert bar._model.text() == "qwen3:8b · My box"
    assert "leaves this computer" in bar._model.toolTip()
    assert "leaves this computer" in bar._model.accessibleDescription()
    full.bus.speed_told.emit("qwen3:8b@my-box", 61.44, True)
    assert bar._tps.text() == "~61.4\u202ftok/s"
    full.bus.speed_told.emit("qwen3:8b@my-box", None, False)
    full.supervisor.become(full.bus)
    assert "leaves this computer" not in bar._model.toolTip()


def test_there_is_no_sheet_for_what_an_endpoint_serves(window, full, monkeypatch):
    monkeypatch.setattr(type(full.library), "models", property(lambda library: (served(),)))
    before = window.page
    full.bus.load_wanted.emit("qwen3:8b@my-box", None)
    assert window.page is before


def test_the_top_bar_follows_the_model_that_answers(window, full):
    full.supervisor.become(full.bus, running("first"), running("second"))
    assert "first" in window._topbar._model.accessibleName()
    full.bus.speed_told.emit("second", 61.44, False)
    assert "second" in window._topbar._model.accessibleName()
    assert window._topbar._tps.text() == "61.4\u202ftok/s"
    full.bus.speed_told.emit("second", None, False)
    assert "first" in window._topbar._model.accessibleName()


def test_the_ports_address_is_copied_and_a_closed_port_leads_to_its_page(qtbot, window, full, ports):
    press(window, "C", CTRL | SHIFT)
    assert window.page_name == "server"
    ports.next = FakePort()
    full.port.open()
    qtbot.waitUntil(lambda: window._topbar._port.text() == "127.0.0.1:2412")
    QTest.mouseClick(window._topbar._port, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "http://127.0.0.1:2412"


def test_meters_begin_where_the_pages_do(qtbot, window):
    qtbot.waitUntil(lambda: bool(window._topbar._meters))
    title = next(one for one in window.page.findChildren(QLabel) if one.text() == "Library")
    meter = window._topbar._meters[0]
    qtbot.waitUntil(lambda: meter.mapTo(window, QPoint(0, 0)).x() == title.mapTo(window, QPoint(0, 0)).x())


def test_cards_stand_before_the_system_and_by_the_names_that_people_use(window, full):
    card = Device("0", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 * GIB, 23 * GIB))
    full.memories.memories = tuple(_memories(machine(devices=(card,))))
    full.memories.changed.emit()
    first, second = window._topbar._meters
    assert (first._name.text(), second._name.text()) == ("RTX 3090", "RAM")
    assert first._bar.accessibleName() == "NVIDIA GeForce RTX 3090"


def test_meters_that_do_not_fit_go_from_the_last(window, full):
    window.resize(*MINIMUM)
    cards = tuple(
        Device(str(place), "nvidia", f"NVIDIA RTX PRO {place}", Memory(MemoryKind.DEDICATED, 96 * GIB, 90 * GIB))
        for place in range(8)
    )
    full.memories.machine = machine(devices=cards)
    full.memories.memories = tuple(memory for memory in _memories(full.memories.machine))
    full.memories.changed.emit()
    seen = [meter.isVisible() for meter in window._topbar._meters]
    assert len(seen) == 9
    assert seen[0]
    assert seen == sorted(seen, reverse=True)
    assert not all(seen)
    assert window._topbar._port.geometry().right() <= window.width()


def _memories(found):
    from weighbridge.ui.memory_watch import Sample, memories

    return memories(Sample(found, {}), ())


def test_an_error_that_belongs_to_no_page_is_shown_and_escape_takes_it_away(window, full):
    full.bus.failed.emit(ZeroDivisionError("division by zero"))
    assert window.errors.isVisible()
    assert "ZeroDivisionError" in window.errors.shown_report.details
    press(window, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    assert not window.errors.isVisible()


def test_what_was_wrong_with_the_settings_is_said(qtbot, qapp, full):
    full.paths.settings.parent.mkdir(parents=True, exist_ok=True)
    full.paths.settings.write_text("port = 0\n")
    settings = SettingsStore(full.paths.settings)
    window = Window(Theme(qapp, settings), settings, Bus())
    qtbot.addWidget(window, before_close_func=lambda _window: window.shut())
    window.fill(full, MAKERS, "library")
    assert "port" in window.errors.shown_report.what


def test_closing_is_left_to_the_program(qtbot, window):
    with qtbot.waitSignal(window.closing):
        assert not window.close()


def test_size_and_place_come_back(qtbot, window, full):
    window.resize(1000, 700)  # the screen of the tests is no larger
    full.settings.change(window_geometry=window.geometry_text())
    again = Window(full.theme, full.settings, full.bus)
    qtbot.addWidget(again)
    assert (again.width(), again.height()) == (1000, 700)


@pytest.mark.parametrize("kept", ["", "not base64 ñ", "AAAA"])
def test_a_damaged_geometry_is_no_fault(qtbot, full, kept):
    full.settings.change(window_geometry=kept)
    window = Window(full.theme, full.settings, full.bus)
    qtbot.addWidget(window)
    assert window.width() >= MINIMUM[0]


@pytest.fixture
def small(qtbot, full):
    """A window that is as small as it may be, made when it is called for."""

    def make():
        made = Window(full.theme, full.settings, full.bus)
        qtbot.addWidget(made, before_close_func=lambda _window: made.shut())
        made.take(full, MAKERS)
        made.show_first("library")
        made.resize(*MINIMUM)
        made.show()
        return made

    return make


def test_large_fonts_leave_the_icons_of_the_sidebar(scale_fonts, small):
    scale_fonts(2)
    window = small()
    assert window._sidebar._buttons["library"].text() == ""
    assert window._sidebar._buttons["library"].accessibleName() == "Library"
    assert window.width() == MINIMUM[0]


def test_nothing_is_cut_with_large_fonts_in_the_language_of_long_words(qtbot, scale_fonts, small, full):
    scale_fonts(1.5)
    use_language("es")
    try:
        window = small()
        full.supervisor.become(full.bus, running())
        for name in MAKERS:
            window.show_page(name)
            qtbot.waitUntil(lambda: cut(window) == [], timeout=5000)
    finally:
        use_language("en")


def test_large_fonts_leave_rows_of_the_library_above_its_detail(qtbot, scale_fonts, small, full):
    scale_fonts(1.8)
    window = small()
    full.supervisor.become(full.bus, running())
    page = window.page
    page.table.choose("Qwen3-0.6B-Q8_0")
    row = page.table.verticalHeader().defaultSectionSize()
    qtbot.waitUntil(lambda: page.table.viewport().height() >= 4 * row)
    assert window.height() == MINIMUM[1]
    _, stop, chat = page.detail.buttons
    assert not stop.visibleRegion().isEmpty()
    assert not chat.visibleRegion().isEmpty()


def focusable(page):
    inside = [widget for widget in page.findChildren(QWidget) if widget.focusPolicy() != Qt.FocusPolicy.NoFocus]
    return [widget for widget in inside if not isinstance(widget.parent(), QComboBox)]


def name_of(widget):
    named = widget.accessibleName() or getattr(widget, "text", lambda: "")()
    if named or isinstance(widget, QScrollArea):
        return named or "scrolls"
    parent = widget.parentWidget()  # a part of a spin box, a viewport: named by what it is part of
    return name_of(parent) if parent is not None and parent.focusPolicy() != Qt.FocusPolicy.NoFocus else ""


def test_no_part_of_a_page_is_shown_as_a_window_of_its_own(qtbot, windows_shown, window, full):
    full.supervisor.become(full.bus, running())
    for name in MAKERS:
        window.show_page(name)
        qtbot.wait(50)
        assert (name, set(windows_shown)) == (name, {"Window "})


def test_every_focusable_widget_has_a_name_and_every_action_its_keys_or_place(window, full):
    full.supervisor.become(full.bus, running())
    for name in MAKERS:
        window.show_page(name)
        nameless = [widget for widget in focusable(window) if widget.isVisible() and not name_of(widget)]
        assert (name, nameless) == (name, [])
        for action in window.page.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly):
            assert action.text()
            assert action in window.page.actions()  # so the palette offers it


def in_a_group(widget):
    """Arrows go from button to button of a group; Tab comes to the checked one."""
    return isinstance(widget, QAbstractButton) and widget.group() is not None and not widget.isChecked()


def test_arrows_go_through_the_pages(window):
    window._sidebar._buttons["library"].setFocus()
    press(window, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier)
    press(window, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
    assert window.page_name == "chat"


def to_be_reached(window):
    return {
        widget
        for widget in focusable(window)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not isinstance(widget, QScrollArea)
        and not in_a_group(widget)
    }


def test_tab_goes_round_all_that_can_be_focused(window, full):
    for name in MAKERS:
        window.show_page(name)
        wanted, reached = to_be_reached(window), set()
        for _ in range(4 * len(wanted)):
            QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
            reached.add(QApplication.focusWidget())
        assert (name, wanted - reached) == (name, set())


def test_no_two_actions_have_the_same_keys(window):
    for page in window.pages.values():
        keys = [action.shortcut().toString() for action in [*page.actions(), *window.actions()]]
        used = [key for key in keys if key]
        assert sorted(used) == sorted(set(used))


def test_the_pages_fit_the_smallest_window(window, full):
    full.supervisor.become(full.bus, running())
    window.resize(*MINIMUM)
    for name in MAKERS:
        window.show_page(name)
        QTest.qWait(20)
        page = window.page
        outside = [widget for widget in page.findChildren(QWidget) if widget.isVisible() and not fits(widget, page)]
        assert (name, outside) == (name, [])


def fits(widget, page):
    """Inside the page, or inside something that scrolls."""
    parent = widget.parentWidget()
    while parent is not page:
        if isinstance(parent, QAbstractScrollArea):
            return True
        parent = parent.parentWidget()
    return page.rect().contains(QRect(widget.mapTo(page, QPoint(0, 0)), widget.size()))


def test_errors_carry_their_code_in_the_report(window):
    window.show_error(WeighbridgeError("internal", kind="X"))
    window.errors.copy_report()
    assert "internal(kind='X')" in QApplication.clipboard().text()
