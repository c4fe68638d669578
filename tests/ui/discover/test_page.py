"""The page Discover: what it asks, when, and what it shows of it."""


def test_nothing_is_asked_before_the_button_was_pressed(fresh, fake):
    assert fresh.entry.isVisible()
    assert fake.requests == []


def test_what_is_offered_first_is_weighed_and_sorted(qtbot, page, fake):
    qtbot.waitUntil(lambda: all(row.badge for row in page.list.rows))
    assert [row.title for row in page.list.rows] == ["Qwen3-8B", "Qwen3-0.6B", "Qwen3-14B"]


def test_a_model_opens_into_one_table(qtbot, page, fake):
    page.list.choose("qwen/qwen3-8b")
    qtbot.waitUntil(lambda: len(page.pane.table.seen) > 10)
