"""A repository of very many choices, in the page Discover."""

import pytest
from tests.ui.discover import made_hub
from tests.ui.discover.test_page import look_for, rows

from weighbridge.ui.discover.looks import MOST_CHOICES

MANY = 1_200


@pytest.fixture
def many(fake):
    """One repository of MANY choices."""
    made_hub.add_many(fake, "o/many-GGUF", MANY)


def test_so_many_choices_are_shown_as_the_window_can_bear_and_the_rest_is_told(qtbot, page, many):
    look_for(qtbot, page, "o/many-GGUF")
    qtbot.waitUntil(lambda: len(rows(page)) == MOST_CHOICES, timeout=30_000)
    qtbot.waitUntil(lambda: page.pane.said.startswith("700 more choices are not shown: to see one, paste its address"))


def test_the_one_that_is_meant_is_shown_however_many_there_are(qtbot, page, many):
    look_for(qtbot, page, "o/many-GGUF:M01100-Q4_K_M.gguf")
    qtbot.waitUntil(lambda: len(rows(page)) == MOST_CHOICES, timeout=30_000)
    qtbot.waitUntil(lambda: page.pane.table.chosen.offered.offer.variant.files[0].path == "M01100-Q4_K_M.gguf")
