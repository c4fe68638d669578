"""What the Library page does with files and with what is written on them."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from tests.ui.fakes import running
from tests.ui.made_library import keys, put

from weighbridge.base.errors import BadFile
from weighbridge.library.disk import allocated_bytes
from weighbridge.library.model import Model
from weighbridge.library.places import Root
from weighbridge.library.removal import Going, Removal, Staying, Why
from weighbridge.ui.models.library_row import Column
from weighbridge.ui.pages import library_shelf
from weighbridge.ui.pages.library_templates import owner_of
from weighbridge.ui.removal_words import removal_in_words

THIN = "\u202f"
SMALL = "Qwen3-0.6B-Q8_0"


@pytest.fixture
def page(library_page):
    library_page.table.choose(SMALL)
    return library_page


@pytest.fixture
def binned(monkeypatch):
    """Where files go that go to the bin."""
    gone = []

    def put(path):
        gone.append(path)
        path.unlink()

    monkeypatch.setattr(library_shelf, "into_bin", put)
    return gone


def listed(page):
    model = page.table.model()
    return [model.index(place, Column.MODEL).data() for place in range(model.rowCount())]


def model_of(services, model_id):
    return next(model for model in services.library.models if model.id == model_id)


def test_a_note_is_kept_found_and_offered_as_a_filter(page, full, qtbot):
    qtbot.keyClicks(page.detail.note, "quick")
    qtbot.keyClick(page.detail.note, Qt.Key.Key_Return)
    assert full.marks.of(page.table.chosen.model).note == "quick"
    page.table.search("quick")
    assert listed(page) == [SMALL]
    page.table.search("")
    page.chips.buttons["noted"].click()
    assert listed(page) == [SMALL]
    page.chips.buttons[""].click()
    assert len(listed(page)) == 7


def test_a_note_goes_to_the_model_it_was_written_on(page, full, qtbot):
    qtbot.keyClicks(page.detail.note, "mine")
    page.table.choose("Qwen3-8B-Q4_K_M")
    assert full.marks.of(model_of(full, SMALL)).note == "mine"
    assert page.detail.note.text() == ""
    page.table.choose(SMALL)
    assert page.detail.note.text() == "mine"


def test_a_filter_that_is_no_longer_offered_shows_all_again(page, full, qtbot):
    full.marks.write_note(page.table.chosen.model, "x")
    page.chips.buttons["noted"].click()
    assert listed(page) == [SMALL]
    page.shelf.note(page.table.chosen.model, "")
    assert len(listed(page)) == 7


def test_the_fits_filter_leaves_out_what_does_not_or_is_not_known_to(page):
    page.chips.buttons["fits"].click()
    assert "Qwen3-8B-Q4_K_M" in listed(page)
    assert not {"Broken-7B.Q4_0", "Falcon-H1-1B-Q5_K_M"} & set(listed(page))


def test_removing_is_asked_first_and_says_what_goes(page, full, qtbot, binned):
    path = page.table.chosen.model.path
    freed = allocated_bytes(path.stat())
    page.acts.remove.trigger()
    qtbot.waitUntil(page.question.isVisible)
    assert page.question.what.startswith(f"Remove {SMALL}? To the bin: {path.name}. Emptying the bin frees ")
    assert f"{freed / 1024:.1f}{THIN}KiB" in page.question.what
    assert page.question.buttons[1].hasFocus()
    page.question.buttons[1].click()
    assert path.exists()
    page.acts.remove.trigger()
    qtbot.waitUntil(page.question.isVisible)
    page.question.buttons[0].click()
    qtbot.waitUntil(lambda: SMALL not in listed(page))
    assert binned == [path]


def test_what_was_loaded_while_the_question_stood_there_stays(page, full, qtbot, binned):
    path = page.table.chosen.model.path
    page.acts.remove.trigger()
    qtbot.waitUntil(page.question.isVisible)
    full.supervisor.become(full.bus, running(SMALL))
    page.question.buttons[0].click()
    assert page.errors.isVisible()
    assert page.errors.shown_report.details.startswith("model.in_use")
    full.background.close()  # what was begun has ended by now
    assert binned == []
    assert path.exists()


def test_esc_leaves_the_question_and_the_files(page, qtbot, binned):
    page.acts.remove.trigger()
    qtbot.waitUntil(page.question.isVisible)
    assert page.escape()
    assert page.question.isHidden()
    assert binned == []


def test_the_focus_goes_back_to_where_it_was_before_the_question(page, qtbot, binned):
    page.table.setFocus()
    page.acts.remove.trigger()
    qtbot.waitUntil(lambda: page.question.isVisible() and page.question.buttons[1].hasFocus())
    page.question.buttons[1].click()
    assert page.table.hasFocus()


def test_what_is_loaded_beside_another_model_is_not_removed(page, full, qtbot, binned):
    other = running("Qwen3-8B-Q4_K_M")
    full.supervisor.become(full.bus, replace(other, load=replace(other.load, draft=str(page.table.chosen.model.path))))
    page.acts.remove.trigger()
    qtbot.waitUntil(page.errors.isVisible)
    assert page.errors.shown_report.details.startswith("model.in_use")
    assert page.question.isHidden()


def test_a_loaded_model_is_not_removed(page, full, qtbot, binned):
    full.supervisor.become(full.bus, running(SMALL))
    page.acts.remove.trigger()
    qtbot.waitUntil(page.errors.isVisible)
    assert page.errors.shown_report.what == f"{SMALL} is loaded."
    assert not page.question.isVisible()


def test_a_bin_that_takes_nothing_says_so_and_nothing_is_gone(page, qtbot, monkeypatch):
    def refuse(path):
        raise OSError("no bin here")

    monkeypatch.setattr(library_shelf, "into_bin", refuse)
    path = page.table.chosen.model.path
    page.acts.remove.trigger()
    qtbot.waitUntil(page.question.isVisible)
    page.question.buttons[0].click()
    qtbot.waitUntil(page.errors.isVisible)
    assert "could not be moved to the bin" in page.errors.shown_report.what
    assert path.exists()


def test_verifying_tells_what_came_of_it_until_another_is_chosen(page, qtbot):
    page.acts.verify.trigger()
    qtbot.waitUntil(lambda: page.detail.told != "" or page.errors.isVisible())
    assert "No hash is known for 1 of 1 files" in (page.detail.told or page.errors.shown_report.what)
    page.table.choose("Qwen3-8B-Q4_K_M")
    assert page.detail.told == ""


def test_verifying_shows_how_far_it_is_and_can_be_given_up(page, full, qtbot, monkeypatch):
    def slow(model, task):
        task.step(1, 2)
        while True:
            task.wait(0.01)

    monkeypatch.setattr(full.library, "verify", slow)
    page.acts.verify.trigger()
    page.acts.verify.trigger()
    assert page._work.isVisible()
    assert page.escape()
    qtbot.waitUntil(lambda: not page.shelf.busy)
    assert not page._work.isVisible()
    assert not page.errors.isVisible()


def test_a_file_that_is_not_what_it_must_be_is_an_error(page, full, qtbot, monkeypatch):
    def fail(model, task):
        raise BadFile("file.unreadable", name=model.path.name, reason="gone")

    monkeypatch.setattr(full.library, "verify", fail)
    page.acts.verify.trigger()
    qtbot.waitUntil(page.errors.isVisible)
    assert not page.shelf.busy


def test_the_foot_tells_what_folders_hold_and_the_panel_takes_the_details_place(page, full, qtbot):
    qtbot.waitUntil(lambda: page.foot.part("folders").text().startswith("7 models in 1 folder · "))
    page.foot.part("folders").click()
    assert not page.detail.isVisible()
    assert page.foot.panel.said[0] == str(full.paths.models)
    assert page.foot.panel.said[1].startswith("7 models · ")
    assert page.escape()
    assert page.detail.isVisible()


def test_the_room_on_the_disk_is_told_where_it_differs_from_the_size(page, qtbot):
    qtbot.waitUntil(lambda: page.table.chosen.disk_bytes is not None)
    row = page.table.currentIndex().row()
    tip = page.table.model().index(row, Column.SIZE).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.startswith(f"The files say 610.0{THIN}MiB; they take ")  # they are sparse


def test_off_the_list_without_a_question_and_back_by_undo(page, full, qtbot):
    chosen = page.table.chosen.model
    page.shelf.take_off(chosen)
    assert SMALL not in listed(page)
    assert page.table.chosen is not None
    assert page.question.what == f"{SMALL} is off the list. Its files stay where they are."
    page.question.buttons[0].click()
    assert SMALL in listed(page)
    assert chosen.path.exists()


def test_what_is_off_the_list_is_counted_and_put_back(page, full, qtbot):
    page.shelf.take_off(page.table.chosen.model)
    part = page.foot.part("off")
    qtbot.waitUntil(lambda: part.text() == "1 taken off the list")
    part.click()
    assert page.foot.panel.said[0] == SMALL
    page.foot.panel.buttons[0].click()
    qtbot.waitUntil(part.isHidden)
    assert not page.foot.panel.isVisible()
    assert SMALL in listed(page)


def test_another_programs_model_is_only_taken_off_the_list(page, full, qtbot, binned):
    outside = full.paths.data.parent / "elsewhere"
    outside.mkdir()
    path = page.table.chosen.model.path
    path.rename(outside / path.name)
    full.library.use_roots([full.paths.models, Root(outside, "lm_studio")])
    page.rescan()
    qtbot.waitUntil(lambda: page.table.chosen is not None and SMALL in listed(page) and page._rescan.isEnabled())
    page.table.choose(SMALL)
    qtbot.waitUntil(lambda: page.detail._path.text().startswith("LM Studio · "))
    page.acts.remove.trigger()
    qtbot.waitUntil(lambda: SMALL not in listed(page))
    assert (outside / path.name).exists()
    assert binned == []


def test_what_was_used_elsewhere_is_shown(page, full):
    full.marks.used(page.table.chosen.model, 5.0)
    assert page.table.chosen.mark.used_s == 5.0


def test_every_way_to_act_is_in_the_menus_and_named(page):
    shown = {entry.text() for entry in page.detail.more.menu().actions() if entry.text()}
    assert shown >= {"Show in the file manager", "Verify the chosen model", "Remove the chosen model…"}
    assert page.detail.more.accessibleName()


def test_what_may_be_here_twice_is_looked_for_when_asked_and_linked(page, full, qtbot):
    first = full.paths.models / "a" / "Twice.gguf"
    put(first.parent, first.name, keys("llama", 4, 4096, 4, 64, 8), 3 << 20)
    second = full.paths.models / "b" / "Again.gguf"
    second.parent.mkdir()
    second.write_bytes(first.read_bytes())
    page.rescan()
    part = page.foot.part("doubles")
    qtbot.waitUntil(lambda: part.text() == "1 model may be here twice")
    part.click()
    qtbot.waitUntil(page.foot.panel.isVisible)
    assert part.text().startswith("1 file is here twice · ")
    assert {"Twice", "Again"} == set(page.foot.panel.said[0].replace(" (Weighbridge)", "").split(" = "))
    page.foot.panel.buttons[0].click()
    qtbot.waitUntil(lambda: first.stat().st_ino == second.stat().st_ino)
    qtbot.waitUntil(lambda: not page._doubles.busy)


def test_where_no_two_are_of_one_size_nothing_is_said_of_doubles(page):
    assert page.foot.part("doubles").isHidden()


def test_the_template_of_a_model_is_shown_until_it_is_used(page, full, qtbot):
    template = {"tokenizer.ggml.model": "gpt2", "tokenizer.chat_template": "{{ messages }}"}
    put(full.paths.models, "Owner/New-GGUF/New.gguf", keys("llama", 4, 4096, 4, 64, 8) | template, 3 << 20)
    page.rescan()
    qtbot.waitUntil(lambda: "New" in listed(page))
    page.table.choose("New")
    view = page.detail.template
    qtbot.waitUntil(lambda: not view.isHidden())
    assert view.template == "{{ messages }}"
    assert view.fold.line.text() == "Chat template, from Owner"
    full.marks.used(page.table.chosen.model, 5.0)
    qtbot.waitUntil(view.isHidden)


def test_an_owner_is_told_by_the_place():
    below = Path("/m")
    assert owner_of(model("A", Path("/m/Qwen/Q-GGUF/q.gguf")), [below]) == "Qwen"
    assert owner_of(model("A", Path("/m/q.gguf")), [below]) == ""
    assert owner_of(model("A", Path("/c/models--Qwen--Q/snapshots/1/q.gguf")), [below]) == "Qwen"


def model(name, *parts):
    return Model(name, name, parts[0], parts, "gguf", None, 1)


def test_what_goes_and_what_stays_is_said_in_words():
    path, link = Path("/m/a.gguf"), Path("/m/l.gguf")
    going = [Going(path.with_name(f"{n}.gguf"), False, 1 << 30, (1, n)) for n in range(6)]
    shared = Staying(Path("/m/mmproj.gguf"), Why.SHARED, ("B", "C"))
    elsewhere = Staying(Path("/x/part2.gguf"), Why.ELSEWHERE)
    removal = Removal(model("A", path), Path("/m"), (*going, Going(link, True, 0, (1, 9))), (shared, elsewhere))
    assert removal_in_words(removal) == (
        "Remove A? To the bin: 0.gguf, 1.gguf, 2.gguf, 3.gguf, 2 more files. "
        f"Emptying the bin frees 6.0{THIN}GiB. Only links are deleted: l.gguf; what they lead to stays. "
        "mmproj.gguf stays: it belongs to B, C too. part2.gguf stays: it does not lie in Weighbridge's own folder."
    )
