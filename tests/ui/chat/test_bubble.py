"""Questions in their bubbles."""

from weighbridge.ui.chat.bubble import MOST_SHOWN, Bubble


def test_a_question_is_shown_as_it_was_written(qtbot):
    bubble = Bubble("two\nlines  <b>")
    qtbot.addWidget(bubble)
    assert bubble.toPlainText() == "two\nlines  <b>"


def test_of_a_pasted_book_the_start_is_shown(qtbot):
    bubble = Bubble("m" * (MOST_SHOWN + 1_000_000))
    qtbot.addWidget(bubble)
    bubble.fit(600)
    start, told = bubble.toPlainText().split("\n")
    assert start == "m" * MOST_SHOWN
    assert told == "… and 1,000,000 more characters, sent and kept"
