"""Chips, and the filters of the Library that they stand for."""

import pytest
from tests.ui.test_library_model import row

from weighbridge.ui.library_filters import FITS, NOTED, UNUSED, keeping, offered
from weighbridge.ui.widgets.chips import Chip, Chips


@pytest.fixture
def chips(qtbot):
    made = Chips("Filter")
    qtbot.addWidget(made)
    made.show_chips([Chip("a", "First"), Chip("b", "Second")])
    made.show()
    return made


def test_several_can_be_chosen_and_all_clears(chips):
    told = []
    chips.changed.connect(lambda: told.append(chips.chosen))
    chips.buttons["a"].click()
    chips.buttons["b"].click()
    assert told == [{"a"}, {"a", "b"}]
    assert not chips.buttons[""].isChecked()
    chips.buttons[""].click()
    chips.buttons[""].click()
    assert told[2:] == [frozenset()]
    assert chips.buttons[""].isChecked()


def test_the_menu_offers_the_same_and_its_button_says_what_is_chosen(chips):
    chips._fill_menu()
    first = next(entry for entry in chips._menu.actions() if entry.text() == "First")
    first.trigger()
    assert chips.chosen == {"a"}
    assert chips.buttons["a"].isChecked()
    assert chips.menu_button.accessibleName() == "Filter: First"
    chips.clear()
    assert chips.menu_button.text() == "Filter"


def test_what_is_no_longer_offered_is_no_longer_chosen(chips):
    chips.buttons["a"].click()
    chips.buttons["b"].click()
    chips.show_chips([Chip("b", "Second")])
    assert chips.chosen == {"b"}
    assert set(chips.buttons) == {"", "b"}


def test_only_filters_that_tell_models_apart_are_offered():
    ids = [filter_id for filter_id, _title in offered([row("a"), row("b")])]
    assert ids == [FITS, UNUSED]
    ids = [filter_id for filter_id, _title in offered([row("a", note="x"), row("b", source="added")])]
    assert ids == ["source:added", "source:own", FITS, UNUSED, NOTED]


def test_one_of_the_sources_and_all_of_the_rest():
    rows = [row("a", note="x"), row("b", source="added", note="y"), row("c", source="added", used_s=1.0)]

    def kept(*ids):
        test = keeping(ids)
        return [each.model.id for each in rows if test is None or test(each)]

    assert kept() == ["a", "b", "c"]
    assert kept("source:added") == ["b", "c"]
    assert kept("source:added", "source:own") == ["a", "b", "c"]
    assert kept("source:added", NOTED) == ["b"]
    assert kept(UNUSED, NOTED) == ["a", "b"]
    assert kept("format:mlx") == []
    assert kept(FITS) == []  # none of them is weighed
