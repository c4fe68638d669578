"""The Downloads page: rows, commands, questions, errors; what it does out of sight; what is offered before a fetch."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from tests import made_downloads
from tests.made_downloads import GIB, file, job

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.settings import Settings
from weighbridge.hub.jobs import State
from weighbridge.hub.offers import Found
from weighbridge.hub.remote import Repository
from weighbridge.hub.snapshot import Snapshot
from weighbridge.ui import download_words as words
from weighbridge.ui.acting import act
from weighbridge.ui.closing import is_fetching
from weighbridge.ui.download_commands import Command, commands_of
from weighbridge.ui.models.downloads_model import AMOUNT, LEFT, NAME, SPEED, STATE, DownloadsModel
from weighbridge.ui.models.offers_model import OffersModel
from weighbridge.ui.pages.downloads import DownloadsPage

THIN = "\u202f"
JOBS = {made.state if not made.for_room else "for room": made for made in made_downloads.jobs()}
HOME = Path("/home/ann")


@pytest.fixture
def page(qtbot, services):
    made = DownloadsPage(services)
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    made.resize(1000, 640)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.entered()
    return made


@pytest.fixture
def show(qtbot, page, services, jobs):
    """Have the queue hold some jobs, and the page show them."""

    def showing(*made, owner=True):
        jobs.become(*made, owner=owner)
        qtbot.waitUntil(lambda: services.downloads.snapshot == jobs.now)

    return showing


def row(page, number):
    model = page.list.model()
    return [model.index(number, column).data() for column in (NAME, STATE, AMOUNT, SPEED, LEFT)]


def asked(qtbot, jobs, count=1):
    qtbot.waitUntil(lambda: len(jobs.asked) == count)
    return jobs.asked


def shown_buttons(page):
    return [command for command in Command if not page.button(command).isHidden()]


def test_an_empty_queue_is_one_sentence_and_the_field_has_the_keyboard(page):
    assert page._body.currentIndex() == 0
    assert page.finder.field.hasFocus()
    assert not page._pause_all.isVisible()
    assert not page._clear.isVisible()


def test_a_row_has_its_figures_and_the_total_is_above(page, show):
    show(*made_downloads.jobs())
    assert row(page, 0) == [
        "Qwen/Qwen3-235B-A22B-GGUF · Q4_K_M",
        "Fetching",
        f"42.0 of 79.8{THIN}GiB",
        f"38.2{THIN}MB/s",
        f"17{THIN}min 42{THIN}s",
    ]
    assert row(page, 1)[0] == "turboderp/Qwen3-32B-exl3@4.0bpw · 4.0 bpw h6"
    assert row(page, 7)[1:] == ["Done", f"614.4{THIN}MiB", "", ""]
    assert page._total.text() == (f"5 downloads, 51.8 of 191.2{THIN}GiB, 38.2{THIN}MB/s, 1{THIN}h 5{THIN}min left")


def test_files_stand_below_their_job(page, show):
    show(made_downloads.jobs()[0])
    model = page.list.model()
    top = model.index(0, NAME)
    assert model.rowCount(top) == 3
    second = [model.index(1, column, top).data() for column in (NAME, STATE, AMOUNT, SPEED)]
    assert second == [
        "Qwen3-235B-A22B-Q4_K_M-00002-of-00003.gguf",
        "Fetching",
        f"15.4 of 26.6{THIN}GiB",
        f"38.2{THIN}MB/s",
    ]
    assert page.list.accessibleName() == "Downloads"
    assert top.data(Qt.ItemDataRole.AccessibleTextRole) == (
        f"Qwen/Qwen3-235B-A22B-GGUF · Q4_K_M, Fetching, 42.0 of 79.8{THIN}GiB, 38.2{THIN}MB/s, 1 of 3 files"
    )


@pytest.mark.parametrize(
    ("which", "kind", "glyph", "shown", "detail"),
    [
        (State.QUEUED, "unknown", "ring", "Waiting", "Mistral-Q5_K_M.gguf"),
        (State.RUNNING, "accent", "down", "Fetching", "1 of 3 files"),
        (
            State.RETRYING,
            "tight",
            "clock",
            "Trying again",
            f"Nothing came from cdn-lfs.huggingface.co for some seconds. Try 4 in 12{THIN}s.",
        ),
        (State.VERIFYING, "partial", "part", "Verifying", f"Read again to be sure: 2.0 of 6.8{THIN}GiB"),
        (State.PAUSED, "unknown", "pause", "Paused", "Qwen3-8B-Q4_K_M.gguf"),
        (
            State.FAILED,
            "no",
            "warning",
            "Failed",
            "The licence of meta-llama/Llama-3.3-70B-Instruct has to be accepted first.",
        ),
        (State.CANCELLED, "unknown", "stop", "Cancelled", "What had come was removed."),
    ],
)
def test_each_state_has_a_word_a_colour_and_a_shape(which, kind, glyph, shown, detail):
    badge = words.badge_of(JOBS[which])
    assert (badge.kind, badge.glyph, badge.words) == (kind, glyph, shown)
    assert words.detail_of(JOBS[which], HOME) == detail


def test_no_room_says_how_much_is_missing():
    made = JOBS["for room"]
    assert words.badge_of(made).words == "No room"
    assert words.detail_of(made, HOME).endswith(f": 73.0{THIN}GiB are needed, 41.0{THIN}GiB are free.")


def test_what_is_done_says_where_it_lies():
    made = replace(JOBS[State.DONE], place=HOME / "models/owner/name/m.gguf")
    assert words.detail_of(made, HOME) == str(Path("~/models/owner/name"))


def test_amounts_are_in_the_unit_of_the_whole():
    assert words.amount(0, 3 * GIB) == f"0.0 of 3.0{THIN}GiB"
    assert words.amount(512 << 20, 3 * GIB) == f"0.5 of 3.0{THIN}GiB"
    assert words.amount(5 << 20, 93 << 20) == f"5.0 of 93.0{THIN}MiB"
    assert words.amount(7, 49) == f"7 of 49{THIN}B"


def test_the_note_of_the_sidebar_is_short():
    assert words.note_of(Snapshot()) == ""
    assert words.note_of(made_downloads.snapshot()) == f"38{THIN}MB/s"
    assert words.note_of(Snapshot((JOBS[State.QUEUED], JOBS[State.DONE]))) == "1"


def test_what_can_be_done_goes_by_the_state(page, show):
    show(*made_downloads.jobs())
    assert page.list.chosen.id == 1
    assert shown_buttons(page) == [Command.PAUSE, Command.UP, Command.DOWN, Command.CANCEL]
    page.list.choose(8)
    assert shown_buttons(page) == [Command.SHOW, Command.REVEAL, Command.FORGET]
    page.list.choose(2)
    assert Command.RETRY in commands_of(page.list.chosen)


@pytest.mark.parametrize(
    ("number", "key", "modifiers", "call"),
    [
        (1, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier, ("pause", 1)),
        (5, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, ("resume", 5)),
        (2, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier, ("retry", 2)),
        (3, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier, ("move", 3, 1)),
        (3, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier, ("move", 3, 3)),
        (4, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, ("cancel", 4)),
        (7, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, ("forget", 7)),
        (8, Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier, ("forget", 8)),
        (8, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, ("forget", 8)),
    ],
)
def test_the_keyboard_does_it(qtbot, page, show, jobs, number, key, modifiers, call):
    show(*made_downloads.jobs())
    page.list.choose(number)
    page.list.setFocus()
    QTest.keyClick(page.list, key, modifiers)
    assert asked(qtbot, jobs) == [call]


def test_the_buttons_do_it(qtbot, page, show, jobs):
    show(*made_downloads.jobs())
    qtbot.mouseClick(page.button(Command.PAUSE), Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.button(Command.DOWN), Qt.MouseButton.LeftButton)
    assert asked(qtbot, jobs, 2) == [("pause", 1), ("move", 1, 1)]


def test_before_bytes_are_removed_it_asks(qtbot, page, show, jobs):
    show(made_downloads.jobs()[4])
    page.do(Command.CANCEL)
    assert page.question.what == f"Cancel unsloth/Qwen3-8B-GGUF · Q4_K_M and remove the 2.9{THIN}GiB that came?"
    assert page.escape()
    assert not page.question.isVisible()
    page.do(Command.CANCEL)
    page.question.buttons[1].click()
    assert asked(qtbot, jobs) == [("cancel", 5)]


def test_a_failed_job_leaves_the_list_at_once_and_asks_where_bytes_go_with_it(qtbot, page, show, jobs):
    gated = made_downloads.jobs()[6]
    show(gated)
    assert shown_buttons(page) == [Command.RETRY, Command.UP, Command.DOWN, Command.FORGET]
    show(replace(gated, files=(file("m.gguf", 4.0, 0.5, State.FAILED),)))
    page.button(Command.FORGET).click()
    assert page.question.what == (
        f"Remove meta-llama/Llama-3.3-70B-Instruct · BF16 from the list, and the 2.0{THIN}GiB that came?"
    )
    assert jobs.asked == []
    page.question.buttons[0].click()
    assert asked(qtbot, jobs) == [("forget", 7)]


def test_all_can_be_paused_resumed_and_cleared(qtbot, page, show, jobs):
    made = made_downloads.jobs()
    show(*made)
    page._pause_all.click()
    assert asked(qtbot, jobs, 5) == [("pause", number) for number in (1, 2, 3, 4, 6)]
    show(made[4], made[7])
    assert page._pause_all.text() == "Resume all"
    page._pause_all.click()
    page._clear.click()
    assert asked(qtbot, jobs, 7)[5:] == [("resume", 5), ("forget", 8)]
    show(made[6])
    assert not page._clear.isVisible()


def test_a_failed_job_that_is_chosen_says_why_and_can_be_tried_again(qtbot, page, show, jobs, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    show(*made_downloads.jobs())
    assert not page.errors.isVisible()
    page.list.choose(7)
    assert page.errors.isVisible()
    page.errors.buttons[0].click()
    assert opened == ["https://huggingface.co/meta-llama/Llama-3.3-70B-Instruct"]
    page.errors.buttons[1].click()
    assert asked(qtbot, jobs) == [("retry", 7)]
    page.errors.hide()
    show(*made_downloads.jobs()[1:])  # the same error, told anew
    assert not page.errors.isVisible()


def test_a_command_that_is_refused_says_why(qtbot, page, show, jobs):
    show(made_downloads.jobs()[0], owner=False)
    assert page._other.isVisible()
    jobs.refuses = Refused("hub.other_owner")
    page.do(Command.PAUSE)
    qtbot.waitUntil(page.errors.isVisible)
    assert page.errors.shown_report.what == "Another Weighbridge fetches the downloads of this data folder."


def test_out_of_sight_it_draws_nothing_and_catches_up(qtbot, page, services, jobs):
    page.hide()
    jobs.become(*made_downloads.jobs())
    qtbot.waitUntil(lambda: services.downloads.snapshot == jobs.now)
    assert page.list.model().rowCount() == 0
    page.show()
    page.entered()
    assert page.list.model().rowCount() == 9


def test_many_changes_are_few_redraws(qtbot, page, services, jobs):
    seen = []
    services.downloads.changed.connect(lambda: seen.append(services.downloads.snapshot))
    for done in range(200):
        jobs.become(job(1, "o/n", "Q", State.RUNNING, file("f.gguf", 2, done / 200, State.RUNNING)))
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] == jobs.now)
    assert len(seen) <= 2


def test_a_job_that_has_just_come_to_its_end_is_told_once(qtbot, services, jobs):
    told = []
    services.downloads.done.connect(lambda made: told.append(made.id))
    running, done = JOBS[State.RUNNING], JOBS[State.DONE]
    jobs.become(running, done)
    qtbot.waitUntil(lambda: told == [8])
    jobs.become(replace(running, state=State.DONE), done)
    qtbot.waitUntil(lambda: told == [8, 1])
    jobs.become(done)
    wait = QEventLoop()
    QTimer.singleShot(300, wait.quit)
    wait.exec()
    assert told == [8, 1]


def test_the_model_keeps_qts_rules_as_jobs_come_go_and_move(qtmodeltester, qtbot):
    made = list(made_downloads.jobs())
    model = DownloadsModel()
    model.show_snapshot(Snapshot(tuple(made[:3])))
    qtmodeltester.check(model)
    longer = replace(made[1], files=(*made[1].files, file("third.safetensors", 1, 0, State.QUEUED)))
    for step in (made, made[::-1], made[2:5], [longer, *made[2:]], [made[1]], [], made):
        model.show_snapshot(Snapshot(tuple(step)))
        assert [model.job(model.index(at, 0)) for at in range(model.rowCount())] == step
        for at, each in enumerate(step):
            top = model.index(at, 0)
            assert model.rowCount(top) == len(each.files)
            assert model.index(0, 0, top).data() == each.files[0].path
            assert model.parent(model.index(0, 0, top)) == top


def test_the_choice_stays_with_its_job_as_rows_move(page, show):
    made = list(made_downloads.jobs())
    show(*made)
    page.list.choose(3)
    page.list.expand(page.list.currentIndex())
    show(*made[::-1])
    assert page.list.chosen.id == 3
    assert page.list.isExpanded(page.list.currentIndex())
    show(*made[3:])
    assert page.list.chosen is not None


def test_narrow_rooms_leave_out_the_time_left_then_the_speed(page, show):
    show(*made_downloads.jobs())
    hidden = []
    for width in (1100, 640, 420):
        page.list.resize(width, 300)
        page.list.fit()
        hidden.append([column for column in (SPEED, LEFT) if page.list.isColumnHidden(column)])
    assert hidden == [[], [LEFT], [SPEED, LEFT]]


def test_what_is_found_is_shown_with_sizes_and_room_before_anything_is_fetched(qtbot, page, services):
    offers = page.finder.offers
    offers.show_found(made_downloads.found(), 212 * GIB)
    table = offers._table.model()
    assert [table.index(at, 0).data() for at in range(3)] == ["Q8_0", "Q6_K", "Q5_K_M"]
    assert offers.wanted.label == "Q4_K_M"
    assert offers._room.text() == f"4.7{THIN}GiB, of 212.0{THIN}GiB free on the disk"
    offers._seeing.click()
    assert offers._room.text() == f"5.6{THIN}GiB, of 212.0{THIN}GiB free on the disk"
    with qtbot.waitSignal(page.finder.job_wanted) as told:
        QTest.keyClick(offers._table, Qt.Key.Key_Return)
    (made,) = told.args
    assert [each.file.path for each in made.files] == ["Qwen3-8B-Q4_K_M.gguf", "mmproj-F16.gguf"]
    assert made.root == services.paths.models / "unsloth/Qwen3-8B-GGUF"


def test_what_misses_a_part_cannot_be_chosen(qtmodeltester):
    model = OffersModel()
    model.show_offers(made_downloads.found().offers)
    last = model.index(model.rowCount() - 1, 0)
    assert last.data() == "BF16"
    assert model.flags(last) == Qt.ItemFlag.NoItemFlags
    assert model.has_problems
    qtmodeltester.check(model)


def test_nothing_to_fetch_offers_the_other_branches(qtbot, page):
    offers = page.finder.offers
    offers.show_found(Found(Repository("o/n", "main", "0" * 40), branches=("4.0bpw", "6.0bpw")), None)
    assert offers._none.isVisible()
    assert not offers._fetch.isVisible()
    with qtbot.waitSignal(offers.branch_chosen) as told:
        QTest.keyClick(offers._branches.itemAt(0).widget(), Qt.Key.Key_Space)
    assert told.args == ["4.0bpw"]


def test_a_text_that_names_nothing_says_so_and_offers_no_other_try(page):
    page.finder.field.setText("not a model")
    page.finder.look()
    assert page.finder.errors.shown_report.what == "not a model does not name a model on the Hub."
    assert not page.finder.errors.buttons
    assert page.escape()
    assert not page.escape()


def test_offline_it_says_so_and_one_press_goes_online(qtbot, page, services, monkeypatch):
    services.settings.change(offline=True)
    page.finder.field.setText("owner/name")
    page.finder.look()
    qtbot.waitUntil(page.finder.errors.isVisible)
    assert page.finder.errors.shown_report.what == "Weighbridge is set to stay offline."

    def unreachable(hub, reference, task):
        raise Unreachable("hub.unreachable", host="huggingface.co", reason="no route")

    monkeypatch.setattr("weighbridge.ui.pages.downloads_find.find", unreachable)
    page.finder.errors.buttons[0].click()
    assert not services.settings.value.offline
    qtbot.waitUntil(lambda: "no route" in page.finder.errors.shown_report.what)


def test_offline_the_page_says_so_and_online_it_takes_up_what_was_refused(qtbot, page, show, services, jobs):
    refused = job(10, "o/n", "Q", State.PAUSED, file("f.gguf", 1, 0.5, State.PAUSED), error=Refused("hub.offline"))
    show(*made_downloads.jobs(), refused)
    assert not page._other.isVisible()
    services.settings.change(offline=True)
    assert page._other.text() == "Weighbridge is set to stay offline: downloads wait until it is online again."
    assert not is_fetching(services)
    services.settings.change(offline=False)
    assert not page._other.isVisible()
    assert is_fetching(services)
    act(Settings(offline=True), Settings(), services)
    assert asked(qtbot, jobs) == [("resume", 10)]


def test_looking_can_be_stopped(qtbot, page, monkeypatch):
    def waits(hub, reference, task):
        task.wait(30)

    monkeypatch.setattr("weighbridge.ui.pages.downloads_find.find", waits)
    page.finder.field.setText("owner/name")
    page.finder.look()
    assert page.finder._find.text() == "Stop"
    assert page.escape()
    qtbot.waitUntil(lambda: page.finder._find.text() == "Find")
    assert not page.finder.errors.isVisible()
