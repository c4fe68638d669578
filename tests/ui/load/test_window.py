"""The sheet in the window: opened from pages, closed onto them."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import running
from tests.ui.load.test_sheet import settled

from weighbridge.running.state import State
from weighbridge_engines.api import Load


def press(window, key, modifiers):
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def test_it_opens_over_the_library_and_closes_onto_it(qtbot, window):
    library = window.pages["library"]
    library.table.choose("Qwen3-8B-Q4_K_M")
    library.table.setFocus()
    press(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    sheet = window.page
    assert sheet.draft.load.alias == ""
    assert (sheet.isVisible(), library.isVisible(), window.page_name) == (True, False, "library")
    field = sheet.sections["memory"].lines["context"].field
    qtbot.waitUntil(field.hasFocus)
    press(window, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    qtbot.waitUntil(library.isVisible)


def test_it_is_in_the_palette(window):
    window.pages["library"].table.choose("Qwen3-8B-Q4_K_M")
    press(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert "Load with settings…" in [entry.title for entry in window.palette_box._entries]
    window.palette_box.dismiss()


def test_another_page_may_be_gone_to_from_it(window, known):
    window.show_sheet("Qwen3-8B-Q4_K_M", None)
    window.show_page("library")
    assert window.page is window.pages["library"]


def test_chat_opens_it_with_what_it_would_ask_for(qtbot, window, known):
    window.show_page("chat")
    chat = window.pages["chat"]
    known.bus.chat_wanted.emit("Qwen3-8B-Q4_K_M")
    chat.options._context.setValue(8192)
    chat.options._all.click()
    sheet = window.page
    assert sheet.draft.load.context == 8192
    sheet.set_value("context", 2048)
    settled(qtbot, sheet)
    sheet.load()
    assert window.page is chat
    assert known.supervisor.made[-1].context == 2048


def test_a_message_changes_no_load_that_was_set_elsewhere(qtbot, window, known):
    chat = window.pages["chat"]
    known.bus.chat_wanted.emit("Qwen3-8B-Q4_K_M")
    load = Load("m", alias="Qwen3-8B-Q4_K_M", context=2048, key_type="q8_0", threads=2)
    known.supervisor.become(known.bus, running("Qwen3-8B-Q4_K_M", State.READY, load=load))
    model = next(one for one in known.library.models if one.id == "Qwen3-8B-Q4_K_M")
    assert chat._asked_load(model) == load
    assert chat.options._note.isHidden()


def test_what_is_not_there_opens_nothing(window):
    window.show_sheet("no such model", None)
    assert window.page is window.pages["library"]


def test_the_library_says_by_which_preset_a_model_is_loaded(window, known):
    model = next(one for one in known.library.models if one.id == "Qwen3-8B-Q4_K_M")
    library = window.pages["library"]
    library.table.choose(model.id)
    assert library.detail.preset == ""
    known.presets.save(model, "small", {"context": 2048, "gone": 1})
    known.presets.make_default(model, "small")
    known.bus.running_changed.emit()
    told = "Loaded by its preset small: Context 2,048. There is no setting called gone."
    assert library.detail.preset.startswith(told)


def test_no_part_of_it_is_shown_as_a_window_of_its_own(qtbot, window, windows_shown):
    window.show_sheet("Qwen3-8B-Q4_K_M", None)
    for section in window.page.sections.values():
        section.fold.show_open(True)
    settled(qtbot, window.page)
    assert windows_shown == []
