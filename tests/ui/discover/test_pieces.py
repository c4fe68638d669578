"""What Discover decides without a window: queries, rows, cards."""

from dataclasses import replace

import pytest
from tests.made_downloads import file, job

from weighbridge.base.errors import Refused
from weighbridge.choices.counts import Counts
from weighbridge.choices.offered import Offered
from weighbridge.hub.groups import Group
from weighbridge.hub.hits import Hit, Sort
from weighbridge.hub.jobs import State
from weighbridge.hub.looking import Spot
from weighbridge.ui.discover.card_text import plain_markdown
from weighbridge.ui.discover.group_row import GroupRow, fitting, in_order_of
from weighbridge.ui.discover.rows import Act, ChoiceRow, progress_in_words
from weighbridge.ui.discover.weighed_rows import Standing, group_rows
from weighbridge.ui.discover.wish import BILLION, Wish


def test_words_are_one_query_and_each_chosen_format_is_one():
    assert [(each.words, each.format) for each in Wish("qwen3 ").queries()] == [("qwen3", None)]
    assert [each.format for each in Wish("qwen3", ("exl3", "mlx")).queries()] == ["exl3", "mlx"]
    assert [each.format for each in Wish("qwen3", ("gguf", "exl2", "exl3", "mlx")).queries()] == [None]


def test_without_words_what_most_take_and_what_more_and_more_do():
    assert [(each.format, each.sort) for each in Wish().queries()] == [
        ("gguf", Sort.DOWNLOADS),
        ("gguf", Sort.TRENDING),
    ]
    assert [(each.format, each.sort) for each in Wish(formats=("mlx",), sort=Sort.MADE).queries()] == [
        ("mlx", Sort.MADE)
    ]


def test_sizes_are_bounds_in_parameters():
    (query,) = Wish("a", size=3).queries()
    assert (query.least_parameters, query.most_parameters) == (5 * BILLION, 10 * BILLION)
    assert Wish(size=3, license="mit").set_aside == 2


@pytest.mark.parametrize(
    ("card", "shown"),
    [
        ("---\nlicense: mit\n---\n# Title\ntext", "# Title\ntext"),
        ("<h1>Title</h1>text", "# Title\ntext"),
        ('<p align="center"><img src="http://127.0.0.1/x.png"></p>text', "text"),
        ('<a href="https://a.example/b">there</a>', "[there](https://a.example/b)"),
        ('<a href="javascript:alert(1)">there</a>', "there"),
        ("<script>alert(1)</script>text", "text"),
        ("a <!-- not\nshown --> b", "a  b"),
        ("```html\n<div>kept</div>\n```", "```html\n<div>kept</div>\n```"),
        ("1 < 2 and <|im_start|> and <think>", "1 < 2 and <|im_start|> and <think>"),
        ("---\nnever closed", "---\nnever closed"),
    ],
)
def test_a_card_is_shown_without_what_is_only_for_the_page(card, shown):
    assert plain_markdown(card) == shown


@pytest.mark.parametrize("sign", ["<a ", "<!--", "---\n", "<script ", "<", "\n", " ", "</a>", "<a href="])
def test_a_long_card_of_one_sign_is_gone_through_once(sign):
    """Quadratic, each of these took from seconds to minutes."""
    assert len(plain_markdown(sign * 300_000)) <= 200_000
    assert len(plain_markdown("---\n" + sign * 300_000)) <= 200_000


@pytest.mark.parametrize(
    ("card", "lines", "last"),
    [
        ("|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 2_000 + "after", 375 + 3, "after"),
        ("|1|2|3|\n" * 25_000, 375 + 2, "…"),
        ("# h\n" * 40_000, 3_000 + 2, "…"),
        ("`" * 100_001, 1, "`" * 10_000 + "…"),
        ("|" * 2_000 + "\nafter", 2, "after"),
        ("```\n" + "a | b\n" * 2_000 + "```", 2_002, "```"),
    ],
    ids=["rows", "rows without end", "headings", "signs", "columns", "code"],
)
def test_what_would_take_seconds_to_draw_is_cut(card, lines, last):
    shown = plain_markdown(card).split("\n")
    assert (len(shown), shown[-1]) == (lines, last)


def test_a_spot_is_looked_into_and_after_a_failure_again():
    row = ChoiceRow(Offered(Spot("o/r", "4.0bpw")))
    assert (row.title, row.act) == ("4.0bpw", Act.LOOK)
    assert replace(row, is_looked_at=True).act is None
    failed = replace(row, failed=Refused("hub.offline"))
    assert (failed.act, failed.fit_badge) == (Act.AGAIN, ("no", "Could not be looked into"))
    assert ChoiceRow(Offered(Spot("o/r"))).title == "r"


def test_a_download_says_how_far_it_is_or_why_it_stands():
    part = file("a.gguf", 8.0, 0.999, State.RUNNING)
    assert progress_in_words(job(1, "o/r", "Q4_0", State.RUNNING, part)) == "99 %"
    assert progress_in_words(job(1, "o/r", "Q4_0", State.PAUSED, part)) == "Paused"
    assert progress_in_words(job(1, "o/r", "Q4_0", State.FAILED, part)) == "Failed"


def group(title, downloads):
    hit = Hit(f"o/{title}", downloads=downloads, tags=("gguf",))
    return Group(None, title, (hit,), ("gguf",), downloads, None, None, False)


def test_without_words_what_fits_is_offered_first_with_its_reason():
    groups = (("a", group("a", 9000)), ("b", group("b", 10)))
    standing = {"a": Standing(Counts(no=2), 2, 1), "b": Standing(Counts(fits=1), 1, 2)}
    asked = group_rows(groups, standing, "", None)
    assert [(row.title, row.reason) for row in asked] == [("a", ""), ("b", "")]
    offered = group_rows(groups, standing, "", 1e9)
    assert [(row.title, row.badge, row.detail) for row in offered] == [
        ("b", ("fits", "1 fits"), "2 formats · 1 choice"),
        ("a", ("no", "none fits"), "1 format · 2 choices"),
    ]
    assert offered[1].reason == "9,000 downloads a month"
    assert offered[0].spoken == "b. 2 formats · 1 choice. 1 fits. 10 downloads a month"


def test_what_was_looked_into_in_part_is_counted_at_least():
    groups = (("a", group("a", 9000)), ("b", group("b", 10)))
    standing = {
        "a": Standing(Counts(no=2), 2, 1, is_all=False),
        "b": Standing(Counts(fits=3, no=1), 4, 2, is_all=False),
    }
    rows = group_rows(groups, standing, "", None)
    assert [(row.badge, row.detail) for row in rows] == [
        (("no", "none of 2 fits"), "1 format · 2+ choices"),
        (("fits", "3+ fit"), "2 formats · 4+ choices"),
    ]
    assert "Open it" in rows[0].tip
    assert "Open it" not in GroupRow("a", "a", 1, 2).tip


@pytest.mark.parametrize(("room", "shown"), [(99, "one · two · three"), (15, "one · two"), (4, "one"), (1, "one")])
def test_what_has_no_room_goes_by_parts(room, shown):
    assert fitting("one · two · three", lambda part: len(part) <= room) == shown


def test_what_is_offered_stays_in_its_place():
    made = [GroupRow(key, key) for key in "abc"]
    assert [row.key for row in in_order_of(made, ["c", "a"])] == ["c", "a", "b"]
