"""Before a load that will not fit: asked in the Library, in the chat and in the sheet, by one panel of the window."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import GIB, running

from weighbridge.choices.fixes import FixKind
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.state import State
from weighbridge.ui.chat.options import Options
from weighbridge_engines.api import Load

BIG, SMALL = "Qwen3-8B-Q8_0", "Qwen3-8B-Q4_K_M"
TOO_LONG = 40_960
"""Tokens of context with which the one model does not fit, and does with some fewer."""


@pytest.fixture
def asked(qtbot, window):
    """Waits until the window asks; the panel."""

    def asked():
        qtbot.waitUntil(lambda: window.unmet is not None and window.unmet.isVisible())
        return window.unmet

    return asked


def by_default(known, monkeypatch, context=TOO_LONG):
    """Models are loaded with so long a context where nothing else is asked."""
    monkeypatch.setattr(known.supervisor, "default_load", lambda model: load_of(model, context))


def load_of(model, context=TOO_LONG):
    return Load(str(model.path), alias=model.id, context=context, threads=2, batch=512)


def model_of(known, model_id):
    return next(one for one in known.library.models if one.id == model_id)


def in_library(known, window, monkeypatch):
    monkeypatch.setattr(known.weighing, "load_to_make", load_of)
    library = window.pages["library"]
    library.table.choose(BIG)
    library.loads.load()


def in_chat(known, window, monkeypatch):
    by_default(known, monkeypatch)
    window.show_page("chat")
    known.bus.chat_wanted.emit(BIG)
    leases = []
    lease = known.supervisor.lease
    monkeypatch.setattr(known.supervisor, "lease", lambda *told: leases.append(told) or lease(*told))
    chat = window.pages["chat"]
    chat.composer._edit.setPlainText("How deep is she?")
    chat.send("How deep is she?")
    return leases


def in_sheet(known, window, monkeypatch):
    window.show_sheet(BIG, load_of(model_of(known, BIG)))
    window.page.load()  # before its figures are there


EVERYWHERE = pytest.mark.parametrize("load_it", [in_library, in_chat, in_sheet])


def made(known, leases):
    """What was loaded, in whatever way."""
    return [*known.supervisor.made, *(load for _, load in leases or ())]


@EVERYWHERE
def test_what_will_not_fit_is_a_choice_with_numbers(known, window, monkeypatch, asked, load_it):
    leases = load_it(known, window, monkeypatch)
    panel = asked()
    assert panel.shown_report.what.startswith("Qwen3-8B-Q8_0 needs ")
    first, second, third = (one.accessibleName() for one in panel.fixes)
    assert first.startswith("Load: A context of")
    assert second.startswith("Load: KV cache in q8_0")
    assert third.startswith("Load Qwen3-8B-Q4_K_M instead")
    assert all("left" in one for one in (first, second, third))
    assert [one.text() for one in panel.buttons] == ["Load anyway"]
    assert made(known, leases) == []


@EVERYWHERE
def test_what_is_chosen_is_what_is_loaded(known, window, monkeypatch, asked, load_it):
    leases = load_it(known, window, monkeypatch)
    panel = asked()
    fix = panel._unmet.finding.fixes[0]
    panel.fixes[0].click()
    [load] = made(known, leases)
    assert load.context == fix.way.choice.load.context
    assert 4096 <= load.context < TOO_LONG
    assert panel.isHidden()


@EVERYWHERE
def test_it_can_be_loaded_anyway(known, window, monkeypatch, asked, load_it):
    leases = load_it(known, window, monkeypatch)
    asked().buttons[0].click()
    assert [load.context for load in made(known, leases)] == [TOO_LONG]


@pytest.mark.parametrize("load_it", [in_library, in_chat])
def test_escape_loads_nothing(qtbot, known, window, monkeypatch, asked, load_it):
    leases = load_it(known, window, monkeypatch)
    panel, page = asked(), window.page
    qtbot.waitUntil(panel.fixes[0].hasFocus)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    qtbot.waitUntil(panel.isHidden, timeout=5000)
    assert window.page is page
    assert made(known, leases) == []


@EVERYWHERE
def test_another_quantisation_is_loaded_in_its_place(known, window, monkeypatch, asked, load_it):
    leases = load_it(known, window, monkeypatch)
    panel = asked()
    [place] = [n for n, fix in enumerate(panel._unmet.finding.fixes) if fix.kind is FixKind.OTHER_MODEL]
    panel.fixes[place].click()
    [load] = made(known, leases)
    assert load.model == str(model_of(known, SMALL).path)
    assert known.settings.value.last_model == SMALL


@EVERYWHERE
def test_what_nobody_knows_is_not_held_up(known, window, monkeypatch, load_it):
    known.weighing.use_machine(memory=Memory(MemoryKind.SHARED, 16 * GIB, None))
    leases = load_it(known, window, monkeypatch)
    assert [load.context for load in made(known, leases)] == [TOO_LONG]
    assert window.unmet is None


@EVERYWHERE
def test_a_look_ahead_that_fails_stands_in_nobodys_way(qtbot, known, window, monkeypatch, load_it):
    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr("weighbridge.ui.fixing.before_load", broken)
    leases = load_it(known, window, monkeypatch)
    qtbot.waitUntil(lambda: [load.context for load in made(known, leases)] == [TOO_LONG])


def test_what_was_written_stays_until_it_is_sent(known, window, monkeypatch, asked):
    in_chat(known, window, monkeypatch)
    panel, chat = asked(), window.pages["chat"]
    assert chat.composer.text == "How deep is she?"
    assert chat.dialogue.path == ()
    panel.fixes[0].click()
    assert chat.composer.text == ""
    assert [one.text for one in chat.dialogue.path] == ["How deep is she?", ""]


def test_the_options_of_the_chat_say_what_was_chosen(known, window, monkeypatch, asked):
    chat = window.pages["chat"]
    known.bus.chat_wanted.emit(BIG)
    chat.options.show_options(Options(context=TOO_LONG))
    leases = in_chat(known, window, monkeypatch)
    asked().fixes[0].click()
    [(_, load)] = leases
    assert chat.options.options.context == load.context < TOO_LONG


def test_an_answer_to_another_page_is_not_waited_for(known, window, monkeypatch, asked):
    in_library(known, window, monkeypatch)
    panel = asked()
    window.show_page("chat")
    assert panel.isHidden()


def test_the_focus_goes_to_the_first_way_out_and_back(qtbot, known, window, monkeypatch, asked):
    table = window.pages["library"].table
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    in_library(known, window, monkeypatch)
    panel = asked()
    qtbot.waitUntil(panel.fixes[0].hasFocus)
    QTest.keyClick(panel.fixes[0], Qt.Key.Key_Escape)
    qtbot.waitUntil(table.hasFocus)


def test_what_is_loaded_so_already_is_not_asked_about(known, window, monkeypatch):
    load = load_of(model_of(known, BIG))
    known.supervisor.become(known.bus, running(BIG, State.READY, load=load))
    assert [one for _, one in in_chat(known, window, monkeypatch)] == [load]


def test_a_message_keeps_what_the_sheet_set_against_what_was_asked_before(known, window, monkeypatch):
    chat = window.pages["chat"]
    known.bus.chat_wanted.emit(SMALL)
    chat.options.show_options(Options(context=8192))
    known.bus.load_made.emit(SMALL, replace(load_of(model_of(known, SMALL), 2048), threads=1))
    assert (chat.options.options.context, chat.options.options.threads) == (2048, None)


def test_a_model_that_comes_back_otherwise_says_so(known, window, monkeypatch):
    chat, model = window.pages["chat"], model_of(known, SMALL)
    known.bus.chat_wanted.emit(SMALL)
    one = running(SMALL, State.READY, load=load_of(model, 2048))
    one = replace(one, engine_id="llama_server")
    known.supervisor.become(known.bus, one)
    assert "otherwise" not in chat._note.text()
    known.supervisor.become(known.bus)
    by_default(known, monkeypatch, 4096)
    chat.send("Again")
    known.supervisor.become(known.bus, replace(one, load=load_of(model, 4096)))
    assert "loaded anew, otherwise than before: Context 4,096" in chat._note.text()


def test_a_model_that_comes_back_as_it_was_says_nothing(known, window, monkeypatch):
    chat, model = window.pages["chat"], model_of(known, SMALL)
    known.bus.chat_wanted.emit(SMALL)
    one = replace(running(SMALL, State.READY, load=load_of(model, 4096)), engine_id="llama_server")
    known.supervisor.become(known.bus, one)
    known.supervisor.become(known.bus)
    by_default(known, monkeypatch, 4096)
    chat.send("Again")
    known.supervisor.become(known.bus, one)
    assert "otherwise" not in chat._note.text()


def test_esc_leaves_the_question_first_then_the_sheet(qtbot, known, window, monkeypatch, asked):
    in_sheet(known, window, monkeypatch)
    panel, sheet = asked(), window.page
    qtbot.waitUntil(panel.fixes[0].hasFocus)
    for wanted in (panel.isHidden, lambda: window.page is not sheet):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Escape)
        qtbot.waitUntil(wanted)
    assert known.supervisor.made == []
