"""Small widgets of the Library: the foot with its panels, the note, what folds, the template."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from weighbridge.base.errors import BadFile
from weighbridge.library.disk import DiskUse, FolderUse
from weighbridge.ui.pages.library_foot import LibraryFoot
from weighbridge.ui.shelf_words import folder_in_words, folders_in_words, nothing_found, skipped_in_words
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.lines_panel import MOST, Line, LinesPanel
from weighbridge.ui.widgets.note_line import NoteLine
from weighbridge.ui.widgets.template_view import MOST_SHOWN, TemplateView

THIN = "\u202f"
GIB = 1 << 30


@pytest.fixture
def note(qtbot):
    made = NoteLine()
    qtbot.addWidget(made)
    made.told = []
    made.written.connect(made.told.append)
    made.show()
    made.setFocus()
    return made


def test_a_note_is_told_once_when_it_is_left(note, qtbot):
    note.show_note("")
    qtbot.keyClicks(note, "good at code ")
    note.leave()
    note.leave()
    assert note.told == ["good at code"]
    assert note.text() == "good at code"


def test_a_note_is_told_by_enter_and_put_back_by_esc(note, qtbot):
    note.show_note("slow")
    note.end(False)
    qtbot.keyClicks(note, "!")
    qtbot.keyClick(note, Qt.Key.Key_Escape)
    assert (note.text(), note.told) == ("slow", [])
    note.end(False)
    qtbot.keyClicks(note, "!")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    assert note.told == ["slow!"]


def test_what_is_being_written_is_not_written_over(note, qtbot):
    note.show_note("old")
    note.end(False)
    qtbot.keyClicks(note, " and new")
    note.show_note("from elsewhere")
    assert note.text() == "old and new"
    note.leave()
    assert note.told == ["old and new"]


def test_a_note_of_several_lines_stands_in_one(note):
    note.show_note("one\ntwo")
    note.leave()
    assert (note.text(), note.told) == ("one two", [])


@pytest.fixture
def foot(qtbot, services):
    holder = QWidget()
    qtbot.addWidget(holder)
    made = LibraryFoot(services.theme, ("folders", "off"))
    layout = QVBoxLayout(holder)
    layout.addWidget(made.panel)
    layout.addWidget(made)
    made.opens = []
    made.opened.connect(made.opens.append)
    holder.show()
    yield made
    made.holder = holder


def test_a_part_opens_its_panel_and_closes_it(foot):
    done = []
    foot.say("folders", "1 folder", "Folders", [Line("~/models", "2 models", (("Show", lambda: done.append(1)),))])
    foot.part("folders").click()
    assert foot.panel.isVisible()
    assert foot.panel.head == "Folders"
    assert foot.panel.said == ["~/models", "2 models"]
    foot.panel.buttons[0].click()
    assert done == [1]
    foot.part("folders").click()
    assert not foot.panel.isVisible()
    assert foot.opens == ["folders", ""]


def test_what_has_no_lines_cannot_be_opened_and_what_says_nothing_is_not_there(foot):
    foot.say("folders", "Looked in ~/models")
    foot.say("off", "")
    assert not foot.part("folders").isEnabled()
    assert foot.part("off").isHidden()


def test_an_open_panel_follows_and_closes_with_its_last_line(foot):
    foot.say("off", "2 off", "Off", [Line("a"), Line("b")])
    foot.open_panel("off")
    foot.say("off", "1 off", "Off", [Line("a")])
    assert foot.panel.said == ["a"]
    foot.say("off", "")
    assert foot.panel.isHidden()
    assert foot.open_part == ""


def test_of_very_many_lines_the_rest_is_counted(qtbot):
    panel = LinesPanel(lambda: None)
    qtbot.addWidget(panel)
    panel.show_lines("Many", [Line(str(number)) for number in range(MOST + 5)])
    assert panel.said[-1] == "and 5 more"
    assert len(panel.said) == MOST + 1


def test_a_fold_is_opened_by_its_line(qtbot, services):
    inner = QLabel("inside")
    fold = Fold(services.theme, inner)
    qtbot.addWidget(fold)
    fold.say("Chat template")
    fold.show()
    told = []
    fold.unfolded.connect(told.append)
    assert inner.isHidden()
    qtbot.keyClick(fold.line, Qt.Key.Key_Space)
    assert inner.isVisible()
    fold.toggle()
    assert told == [True, False]


def test_a_template_says_whose_it_is_and_is_only_text(qtbot, services):
    view = TemplateView(services.theme)
    qtbot.addWidget(view)
    view.show_template("<b>{{ x }}</b>", "Qwen")
    assert view.fold.line.text() == "Chat template, from Qwen"
    assert view.template == "<b>{{ x }}</b>"
    assert not view.fold.is_open
    view.show_template("a\r\nb")
    shown = view._text.document().revision()
    view.show_template("a\r\nb")
    assert view._text.document().revision() == shown  # who reads it stays where he is
    view.show_template("x" * 1_000_000)
    assert (len(view.template), view.template[-2:]) == (MOST_SHOWN + 2, "\n…")
    view.show_template(None)
    assert view.isHidden()


def test_folders_are_told_with_what_they_hold_and_what_is_left(tmp_path):
    use = FolderUse(tmp_path, 2, 3 * GIB, 100 * GIB)
    assert folder_in_words(use) == f"2 models · 3.0{THIN}GiB · 100.0{THIN}GiB free"
    assert folder_in_words(FolderUse(tmp_path, free_bytes=GIB)) == f"0 models · 1.0{THIN}GiB free"
    assert folder_in_words(FolderUse(tmp_path, there=False)) == "not there now"
    known = DiskUse({}, (use, FolderUse(tmp_path, there=False)))
    assert folders_in_words([tmp_path], known, 2) == f"2 models in 1 folder · 3.0{THIN}GiB"
    assert folders_in_words([tmp_path], None, 2) == f"Looked in {tmp_path}"


def test_an_empty_library_says_where_it_looked_and_what_it_passed_over(tmp_path):
    skipped = BadFile("library.skipped", path=str(tmp_path / "x"), reason="Permission denied")
    said = nothing_found([FolderUse(tmp_path), FolderUse(tmp_path / "away", there=False)], [skipped] * 10)
    assert said.splitlines()[:3] == [
        f"{tmp_path}: no model there",
        f"{tmp_path}/away: not there now",
        f"{tmp_path}/x: Permission denied",
    ]
    assert said.splitlines()[-1] == "and 2 more"
    assert skipped_in_words([skipped]) == "1 passed over"
    assert skipped_in_words([]) == ""
