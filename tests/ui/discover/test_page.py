"""The page Discover: what it asks, when, and what it shows of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import delete
from tests.fake_hub import FakeHub, RateLimited, Stall, Status
from tests.made_downloads import file, job
from tests.ui.cut import cut
from tests.ui.discover import made_hub

from weighbridge.choices.other_machine import OtherMachine
from weighbridge.hub.hits import Query
from weighbridge.hub.jobs import State
from weighbridge.hub.looking import Spot
from weighbridge.ui.discover.page import DiscoverPage
from weighbridge.ui.discover.rows import Act, ChoiceRow
from weighbridge.ui.discover.table_model import Column
from weighbridge.ui.discover.wish import BILLION, SIZES
from weighbridge.ui.pages.library import LibraryPage
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.cells import CELL_ROLE

EIGHT = "qwen/qwen3-8b"
GIB = 1 << 30


def rows(page):
    model = page.pane.table.model()
    return [model.row(place) for place in range(model.rowCount())]


def titles(page):
    return [row.title for row in rows(page)]


def cell(page, place, column, role=Qt.ItemDataRole.DisplayRole):
    model = page.pane.table.model()
    return model.index(place, column).data(role)


def searches(fake):
    return [request for request in fake.asked(path="/api/models?")]


def calls(fake):
    return [request for request in fake.requests if request.kind == "api"]


@pytest.fixture
def opened(qtbot, page):
    """Qwen3-8B is open, all that is in sight looked into and weighed."""
    open_it(qtbot, page, EIGHT)
    wanted = {"Q4_K_M · bartowski", "Q4_K_M · unsloth", "4bit g64", "4.0 bpw h6", "6.0 bpw h6"}
    qtbot.waitUntil(lambda: wanted <= set(titles(page)) and not page.discovery.is_opening)
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.recommended)
    return page


def open_it(qtbot, page, key):
    page.list.choose(key)
    page.list.entered.emit()
    qtbot.waitUntil(lambda: page.discovery.key == key)


def look_for(qtbot, page, words):
    page.filters.search.setText(words)
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page.discovery.is_searching)


def test_nothing_is_asked_before_the_button_was_pressed(fresh, fake, asked):
    assert fresh.entry.isVisible()
    assert fresh.entry.button.hasFocus()
    assert fake.requests == []
    fresh.left()
    fresh.entered()
    assert fake.requests == []
    assert not asked.settings.value.discover_opened


def test_once_the_button_was_pressed_the_words_to_search_for_can_be_typed(fresh):
    fresh.setMinimumSize(1, 1)
    fresh.resize(760, 600)
    fresh.entry.button.click()
    assert fresh.filters.search.hasFocus()


def test_what_is_offered_first_is_weighed_and_says_why(qtbot, page, asked):
    assert asked.settings.value.discover_opened
    qtbot.waitUntil(lambda: all(row.badge for row in page.list.rows) and not page.discovery.looks.now)
    qtbot.waitUntil(lambda: page.list.rows[0].badge == ("fits", "8+ fit"))  # both of its repositories in the list
    kinds = {row.title: row.badge for row in page.list.rows}
    assert kinds["Qwen3-32B"][0] == "no"
    assert kinds["Qwen3-14B"] == ("unknown", "unknown")  # its licence is not accepted, so that its header is not read
    assert page.list.rows[0].title == "Qwen3-8B"
    assert page.list.rows[-1].title == "Qwen3-32B"
    assert page.list.rows[0].reason.startswith("1.2\u202fM downloads a month")
    assert "all-MiniLM-L6-v2" not in {row.title for row in page.list.rows}


def test_typed_words_cost_one_search_once_typing_rests(qtbot, page, fake):
    fake.requests.clear()
    QTest.keyClicks(page.filters.search, "qwen3")
    assert searches(fake) == []
    qtbot.waitUntil(lambda: page.filters.wish.words == "qwen3" and len(searches(fake)) == 1)
    qtbot.waitUntil(lambda: not page.discovery.is_searching)
    assert searches(fake)[0].query["search"] == ["qwen3"]
    assert len(searches(fake)) == 1
    look_for(qtbot, page, "qwen3")
    assert len(searches(fake)) == 1  # it is known for some minutes


def test_formats_and_chat_narrow_the_list(qtbot, page, fake):
    page.filters.chat.click()
    qtbot.waitUntil(lambda: any(row.title == "all-MiniLM-L6-v2" for row in page.list.rows))
    page.filters.formats.buttons["exl3"].click()
    qtbot.waitUntil(lambda: [row.title for row in page.list.rows] == ["Qwen3-8B"])
    look_for(qtbot, page, "no such model")
    qtbot.waitUntil(lambda: page._nothing.isVisible() and "Nothing was found" in page._nothing.text())


def test_the_finer_filters_fold_and_say_how_many_are_set(qtbot, page, fake):
    size, license, author, sort = page.filters.finer
    assert not size.isVisible()
    page.filters.fold()
    assert size.isVisible()
    author.setText("unsloth")
    author.editingFinished.emit()
    size.setCurrentIndex(3)
    qtbot.waitUntil(lambda: [row.title for row in page.list.rows] == ["Qwen3-8B"])
    page.filters.fold()
    assert page.filters._more.text() == "Filters (2)"
    page.filters.ask_for(Query("", "exl3", task="feature-extraction", most_parameters=38_400_000_000))
    asked = page.filters.wish
    assert (asked.formats, SIZES[asked.size], asked.chat_only) == (("exl3",), (20 * BILLION, 40 * BILLION), False)
    assert license.accessibleName() and sort.accessibleName()


def test_a_model_opens_into_one_table_over_its_formats(qtbot, opened, fake):
    found = {(row.format, row.title) for row in rows(opened)}
    assert ("GGUF", "Q4_K_M · unsloth") in found
    assert ("GGUF", "Q4_K_M · bartowski") in found
    assert ("MLX", "4bit g64") in found
    assert ("EXL3", "4.0 bpw h6") in found
    qtbot.waitUntil(lambda: all(row.fit_badge for row in rows(opened) if row.offered.offer is not None))
    assert len(calls(fake)) <= 25


def test_with_little_room_it_is_not_told_whose_it_is_before_the_bits_go(opened, monkeypatch):
    table = opened.pane.table
    shown = lambda: {column for column in Column if not table.isColumnHidden(column)}  # noqa: E731
    widths = []
    table.setMinimumWidth(1)
    for width in range(1400, 500, -20):
        table.resize(width, 400)
        table.fit()
        widths.append(shown())
    assert set(Column) in widths
    assert set(Column) - {Column.OWNER} in widths
    assert all(Column.BITS not in each or Column.FIT in each for each in widths)
    monkeypatch.setattr(ChoiceRow, "owner", property(lambda _row: "a-community-of-very-many-people"))
    opened._draw()
    table.resize(950, 400)
    table._fit_anew()
    assert shown() == set(Column) - {Column.OWNER}


def test_counts_are_of_all_once_all_was_looked_into(qtbot, opened):
    qtbot.waitUntil(lambda: all(row.fit_badge for row in rows(opened) if row.offered.offer is not None))
    qtbot.waitUntil(lambda: all(row.offered.offer is not None for row in rows(opened)))
    row = lambda: next(row for row in opened.list.rows if row.key == EIGHT)  # noqa: E731
    qtbot.waitUntil(lambda: row().badge == ("fits", "11 fit"))
    assert row().detail == "3 formats · 11 choices"
    assert row().is_all


def test_what_fits_and_cannot_be_run_here_says_with_what_it_would(qtbot, opened):
    qtbot.waitUntil(lambda: all(row.fit_badge for row in rows(opened) if row.offered.offer is not None))
    place = titles(opened).index("4bit g64")
    assert cell(opened, place, Column.FIT, CELL_ROLE).badge == ("fits", "Fits · with MLX")
    told = cell(opened, place, Column.FIT, Qt.ItemDataRole.ToolTipRole).split("\n")
    assert told[0].startswith("Fits · ") and told[0].endswith(" left")
    assert told[1] == "MLX (not part of this program)"


def test_branches_are_looked_into_when_their_rows_come_into_sight(qtbot, page, fake):
    page.setMinimumSize(1, 1)
    page.resize(1250, 560)
    open_it(qtbot, page, EIGHT)
    qtbot.waitUntil(lambda: {"4.0bpw", "6.0bpw"} <= set(titles(page)) and not page.discovery.looks.now)
    assert cell(page, titles(page).index("4.0bpw"), Column.FIT) == "Not looked into yet"

    def all_seen():
        page.pane.table.scrollToBottom()  # each time: what a look brings stands above the rest
        return {"4.0 bpw h6", "6.0 bpw h6"} <= set(titles(page))

    qtbot.waitUntil(all_seen)
    assert len(calls(fake)) <= 25


def test_the_recommended_row_is_chosen_marked_and_explained(opened):
    chosen = opened.pane.table.chosen
    place = rows(opened).index(chosen)
    assert cell(opened, place, Column.CHOICE, Qt.ItemDataRole.AccessibleTextRole).endswith(", recommended")
    assert opened.pane.detail.why.startswith("Recommended: ")
    other = next(row for row in rows(opened) if row.offered.offer is not None and not row.recommended)
    opened.pane.table.choose(other.key)
    assert opened.pane.detail.why == ""


def test_a_row_that_is_chosen_by_arrows_stays_so_when_the_focus_moves_on(opened):
    table = opened.pane.table
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Down)
    chosen = table.chosen
    assert not chosen.recommended
    opened.filters.search.setFocus()
    opened.pane.draw()
    assert table.chosen.key == chosen.key


def test_what_is_not_looked_into_is_last_whichever_way_it_is_sorted(qtbot, opened):
    opened.discovery.looks.forget([Spot("mlx-community/Qwen3-8B-4bit")])
    opened.left()
    opened.pane.draw()
    assert titles(opened)[-1] == "Qwen3-8B-4bit"
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        opened.pane.table.sortByColumn(Column.SIZE, order)
        seen = [row.offered.offer is not None for row in rows(opened)]
        assert seen == sorted(seen, reverse=True)


def test_the_whole_header_of_the_chosen_row_is_read_with_its_template(qtbot, opened, fake):
    key = opened.pane.table.chosen.key
    qtbot.waitUntil(lambda: opened.discovery.whole(opened.pane.table.chosen.offered) is not None)
    qtbot.waitUntil(lambda: "im_start" in opened.pane.detail.template.template)
    assert opened.pane.table.chosen.key == key


def test_get_puts_the_choice_into_the_queue(qtbot, opened, jobs):
    row = next(row for row in rows(opened) if row.title == "Q4_K_M · unsloth")
    opened.pane.table.choose(row.key)
    opened.pane.table.setFocus()
    QTest.keyClick(opened.pane.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(jobs.asked) == 1)
    what, made = jobs.asked[0]
    assert (what, made.repo_id, [each.file.path for each in made.files]) == (
        "add",
        "unsloth/Qwen3-8B-GGUF",
        ["Qwen3-8B-Q4_K_M.gguf"],
    )


def test_the_file_by_which_it_sees_comes_along_unless_it_is_not_wanted(qtbot, page, jobs):
    open_it(qtbot, page, "qwen/qwen3-4b-instruct-2507")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.act is Act.GET)
    detail = page.pane.detail
    assert detail.seeing.isVisible()
    assert [each.path for each in detail.wanted.files][-1] == "mmproj-F16.gguf"
    detail.seeing.click()
    assert [each.path for each in detail.wanted.files] == [detail.wanted.variant.files[0].path]


def test_what_is_on_its_way_says_how_far(qtbot, opened, jobs):
    part = file("Qwen3-8B-Q8_0.gguf", 8.1, 0.425, State.RUNNING)
    jobs.become(job(3, "unsloth/Qwen3-8B-GGUF", "Q8_0", State.RUNNING, part))
    row = lambda: next(row for row in rows(opened) if row.title == "Q8_0 · unsloth")  # noqa: E731
    qtbot.waitUntil(lambda: row().act is Act.FOLLOW)
    assert row().act_in_words == "42 %"
    told = []
    opened._services.bus.page_wanted.connect(told.append)
    opened.pane.table.choose(row().key)
    opened.pane.act()
    assert told == ["downloads"]


def test_what_is_here_already_is_opened(qtbot, opened, asked):
    row = next(row for row in rows(opened) if row.title == "Q4_K_M · unsloth")
    place = row.offered.model.path
    place.parent.mkdir(parents=True)
    content = opened.discovery.looks.sights["unsloth/Qwen3-8B-GGUF@main"]
    size = next(each.size_bytes for each in content.repository.files if each.path == place.name)
    with place.open("wb") as made:
        made.truncate(size)
    with place.open("r+b") as made:
        made.write(made_hub.gguf_content(made_hub.EIGHT, "Q4_K_M").head)
    asked.library.scan()
    asked.bus.library_changed.emit()
    find = lambda: next(each for each in rows(opened) if each.key == row.key)  # noqa: E731
    qtbot.waitUntil(lambda: find().act is Act.OPEN)
    told: list[Path] = []
    asked.bus.place_wanted.connect(told.append)
    opened.pane.table.choose(row.key)
    assert opened.pane.detail.act.text() == "Open"
    opened.pane.detail.act.click()
    assert told == [place]


def test_a_pasted_reference_opens_the_repository_with_its_row(qtbot, page, fake):
    fake.requests.clear()
    page.filters.search.setText("hf.co/bartowski/Qwen_Qwen3-8B-GGUF:Q4_K_M")
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.title == "Q4_K_M")
    assert page.discovery.title == "bartowski/Qwen_Qwen3-8B-GGUF"
    assert searches(fake) == []


def test_what_is_pasted_is_taken_at_once(qtbot, page, fake, qapp):
    qapp.clipboard().setText("https://huggingface.co/ggml-org/Qwen3-0.6B-GGUF/blob/main/Qwen3-0.6B-Q8_0.gguf")
    QTest.keyClicks(page.filters.search, "a name that is longer than what is pasted, and much longer than that: " * 2)
    page.filters.search.clear()
    page.filters.search.setFocus()
    page.filters.search.paste()
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.title == "Q8_0")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("https://huggingface.co/datasets/a/b", "hub.reference"),
        ("unsloth/Qwen3-8B-GGUF:Q9_Z", "hub.no_quant"),
        ("nobody/nothing", "hub."),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(qtbot, page, words, code):
    page.filters.search.setText(words)
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)
    qtbot.waitUntil(page.errors.isVisible)
    assert page.errors.shown_report.details.startswith(code)


def test_offline_says_offline_and_one_press_goes_on(qtbot, page, asked):
    asked.settings.change(offline=True)
    look_for(qtbot, page, "qwen")
    qtbot.waitUntil(page.errors.isVisible)
    (online,) = page.errors.buttons
    assert online.text() == "Go online"
    asked.searches.forget()
    online.click()
    qtbot.waitUntil(lambda: len(page.list.rows) == 5 and not page.errors.isVisible())


def test_a_limit_counts_down_and_the_search_goes_on_by_itself(qtbot, page, fake):
    fake.faults.next(RateLimited(seconds=1), on="api")
    look_for(qtbot, page, "qwen3")
    qtbot.waitUntil(lambda: page.status.startswith("The Hub asks to wait"))
    qtbot.waitUntil(lambda: len(page.list.rows) == 5 and not page.errors.isVisible())


def test_a_hub_that_fails_can_be_asked_again(qtbot, page, fake):
    fake.faults.next(Status(500), on="api", times=10)
    look_for(qtbot, page, "qwen3")
    qtbot.waitUntil(page.errors.isVisible)
    fake.faults.clear()
    page.errors.buttons[0].click()
    qtbot.waitUntil(lambda: len(page.list.rows) == 5)


def test_one_that_cannot_be_looked_into_is_asked_for_once_a_search(qtbot, fresh, fake):
    path = "/api/models/ggml-org/Qwen3-0.6B-GGUF/tree/"
    fake.faults.always(Status(500), path, on="api")
    fresh.entry.button.click()
    looks = fresh.discovery.looks
    spot = Spot("ggml-org/Qwen3-0.6B-GGUF")
    qtbot.waitUntil(lambda: looks.failure(spot) is not None and len(looks.sights) >= 5 and not looks.now)
    for _ in range(3):
        fresh._draw()
    assert not looks.now
    assert len(fake.asked(path=path)) == 1
    badges = {row.title: row.badge for row in fresh.list.rows}
    assert badges["Qwen3-0.6B"] == ("unknown", "Could not be looked into")
    fresh.errors.hide()
    look_for(qtbot, fresh, "qwen3 0.6b")
    qtbot.waitUntil(lambda: len(fake.asked(path=path)) == 2)


def test_the_card_is_read_when_it_is_unfolded_and_fetches_nothing_else(qtbot, opened, fake, monkeypatch):
    shown = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: shown.append(url.toString()))
    assert not fake.asked(path="README.md")
    detail = opened.pane.detail
    detail.card_fold.toggle()
    qtbot.waitUntil(lambda: "Made with" in detail.card.raw)
    assert "<img" not in detail.card.raw and "license:" not in detail.card.raw
    assert detail.card.links.isHidden()
    qtbot.waitUntil(lambda: not detail._to_card.isActive())
    assert not detail.card_fold.line.visibleRegion().isEmpty()
    detail.card._view.link_wanted.emit("https://github.com/ggml-org/llama.cpp")
    assert detail.card.links.isVisible()
    assert shown == []


def test_settings_of_a_load_are_those_of_the_library(qtbot, opened, asked):
    opened.pane.controls.apply(WhatIf("q8_0", 2), 8192)
    assert asked.weighing.what_if == WhatIf("q8_0", 2)
    assert asked.settings.value.context == 8192
    asked.weighing.use(WhatIf())
    opened.entered()
    assert opened.pane.controls.kv.currentText() == "f16"


def test_another_machine_is_said_in_the_table(qtbot, opened):
    opened.pane.machine.strip.chosen.emit(OtherMachine(ram_bytes=64 * GIB))
    header = opened.pane.table.model().headerData
    assert header(Column.FIT, Qt.Orientation.Horizontal) == "On that machine"


def test_a_narrow_page_shows_the_list_or_the_choices(qtbot, opened):
    opened.setMinimumSize(1, 1)  # as its place in the window has it
    opened.resize(760, 600)
    assert opened.pane.isVisible() and not opened.list.isVisible()
    opened.pane.back.click()
    assert opened.list.isVisible() and not opened.pane.isVisible()
    opened.list.entered.emit()
    assert opened.pane.isVisible()
    assert opened.escape()
    assert opened.list.isVisible() and opened.list.hasFocus()
    opened.filters.search.setFocus()
    look_for(qtbot, opened, "qwen3")
    assert opened.filters.search.hasFocus()  # who types goes on typing
    opened.resize(1250, 1300)
    assert opened.list.isVisible() and opened.pane.isVisible()


def test_where_there_is_little_room_the_table_lies_on_nothing(qtbot, opened):
    opened.setMinimumSize(1, 1)
    for height in (480, 420, 400):
        opened.resize(930, height)
        qtbot.waitUntil(lambda: cut(opened) == [])
    opened.resize(930, 540)
    opened.pane.machine.open()
    qtbot.waitUntil(lambda: cut(opened) == [])


def test_a_gated_one_says_so_and_why_its_header_is_unknown(qtbot, page, monkeypatch):
    shown = []
    monkeypatch.setattr("weighbridge.ui.remedies.QDesktopServices.openUrl", lambda url: shown.append(url.toString()))
    open_it(qtbot, page, "qwen/qwen3-14b")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.offered.offer is not None)
    detail = page.pane.detail
    assert detail._flags["gated"].isVisible()
    qtbot.waitUntil(detail._note.isVisible)
    assert all(row.is_gated for row in rows(page))


def test_closing_does_not_wait_for_a_hub_that_says_nothing(qtbot, page, fake, asked):
    fake.faults.next(Stall(-1), on="api")
    page.filters.search.setText("qwen3")
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: fake.faults.left == 0)
    page.shut()
    asked.background.close()


@pytest.mark.parametrize("make", [DiscoverPage, LibraryPage])
def test_a_page_that_is_gone_hears_of_nothing(qtbot, asked, make):
    """In another language the window is made anew, while what is shared goes on."""
    page = make(asked)
    page.shut()
    delete(page)
    asked.weighing.weighed.emit(("x",))
    asked.weighing.looked.emit("x")
    asked.bus.account_changed.emit()
    asked.bus.library_changed.emit()


def test_all_can_be_reached_by_keyboard_and_has_a_name(opened):
    opened.filters.fold()
    nameless = [
        each
        for each in opened.findChildren(QWidget)
        if each.isVisible()
        and each.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (each.accessibleName() or getattr(each, "text", lambda: "")())
        and not isinstance(each, QScrollArea)
    ]
    assert nameless == []
    keys = {action.shortcut().toString() for action in opened.actions()}
    assert {"Ctrl+F", "Ctrl+Return", "Alt+Left"} <= keys


def test_the_arrows_and_enter_lead_from_the_list_to_the_queue(qtbot, page, jobs):
    page.list.setFocus()
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: page.discovery.key != "")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.table.chosen.act is Act.GET)
    page.pane.table.setFocus()
    QTest.keyClick(page.pane.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(jobs.asked) == 1)


def test_what_is_out_of_sight_is_not_looked_into(qtbot, page, fake):
    qtbot.waitUntil(lambda: all(row.badge for row in page.list.rows) and not page.discovery.looks.now)
    page.hide()
    page.left()
    fake.requests.clear()
    page._services.bus.library_changed.emit()
    page._services.memories.changed.emit()
    assert not page._draw_later.isActive()
    assert fake.requests == []


def test_a_click_on_the_button_of_a_row_gets_it(qtbot, opened, jobs):
    table = opened.pane.table
    place = next(at for at, row in enumerate(rows(opened)) if row.act is Act.GET)
    table.scrollToTop()
    spot = table.visualRect(table.model().index(place, Column.ACT)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: len(jobs.asked) == 1)


def test_another_hub_is_asked_anew_and_nothing_of_the_first_is_left(qtbot, opened, asked):
    with FakeHub() as other:
        made_hub.fill(other)
        asked.settings.change(hub_endpoint=other.endpoint)
        assert opened.discovery.groups == ()
        assert opened.discovery.key == ""
        opened.entered()
        qtbot.waitUntil(lambda: len(opened.list.rows) == 5)
        assert searches(other)
        opened.shut()


def test_what_was_seen_is_looked_at_anew_when_told(qtbot, page, fake):
    open_it(qtbot, page, "qwen/qwen3-14b")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.detail._note.isVisible())
    fake.repos["Qwen/Qwen3-14B-GGUF"].gated = None
    page.discovery.renew()
    qtbot.waitUntil(lambda: bool(rows(page)) and rows(page)[0].weighed is not None and rows(page)[0].bits is not None)
    qtbot.waitUntil(lambda: rows(page)[0].fit_badge is not None and rows(page)[0].fit_badge[0] != "unknown")


def test_what_was_put_there_since_the_list_was_made_is_seen_when_told(qtbot, page, fake):
    open_it(qtbot, page, "qwen/qwen3-0.6b")
    qtbot.waitUntil(lambda: {"Q8_0", "Q4_K_M"} <= set(titles(page)) and not page.discovery.looks.now)
    repo = fake.repos["ggml-org/Qwen3-0.6B-GGUF"]
    repo.commit({"Qwen3-0.6B-Q6_K.gguf": made_hub.gguf_content(made_hub.SMALL, "Q6_K")})
    made_hub.name_hashes(repo, "main")
    page.discovery.renew()
    qtbot.waitUntil(lambda: "Q6_K" in titles(page))


def test_after_signing_in_what_could_not_be_read_is_looked_at_by_itself(qtbot, page, fake, asked):
    open_it(qtbot, page, "qwen/qwen3-14b")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and page.pane.detail._note.isVisible())
    fake.tokens["hf_mine"] = "me"
    fake.repos["Qwen/Qwen3-14B-GGUF"].granted.add("me")
    asked.tokens.keep("hf_mine")
    asked.bus.account_changed.emit()
    qtbot.waitUntil(lambda: bool(rows(page)) and rows(page)[0].weighed is not None and rows(page)[0].bits is not None)
    qtbot.waitUntil(lambda: rows(page)[0].fit_badge is not None and rows(page)[0].fit_badge[0] != "unknown")
    qtbot.waitUntil(lambda: not page.pane.detail._note.isVisible())


def test_who_signs_in_on_another_page_has_nothing_asked_behind_his_back(qtbot, page, fake, asked):
    open_it(qtbot, page, "qwen/qwen3-14b")
    qtbot.waitUntil(lambda: page.pane.table.chosen is not None and not page.discovery.looks.now)
    page.hide()
    page.left()
    fake.requests.clear()
    asked.bus.account_changed.emit()
    assert not page.discovery.looks.now
    assert fake.requests == []


def test_headers_are_kept_of_the_chosen_row_alone_and_come_back(qtbot, opened, fake):
    def read(title):
        row = next(row for row in rows(opened) if row.title == title)
        opened.pane.choose(row.key)
        qtbot.waitUntil(lambda: opened.discovery.is_read(row.offered))
        return row

    wholes = opened.discovery._opened[EIGHT].wholes
    one = read("Q6_K")
    other = read("Q2_K")
    assert [key for key, whole in wholes.items() if whole.heads] == [other.key]
    assert not opened.discovery.is_read(one.offered)
    assert wholes[one.key].chat_template
    fake.requests.clear()
    read("Q6_K")
    assert [key for key, whole in wholes.items() if whole.heads] == [one.key]
    assert fake.requests == []  # it is kept on disk


def test_how_many_calls_are_left_is_said(qtbot, page, fake):
    fake.limits["api"] = 300
    look_for(qtbot, page, "qwen3-0.6b")
    qtbot.waitUntil(lambda: page.status.endswith("calls left"))
