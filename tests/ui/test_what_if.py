"""The controls of how models would be loaded."""

import pytest
from tests.ui.cut import cut

from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.what_if import WhatIfBar, stops_to


@pytest.fixture
def bar(qtbot):
    made = WhatIfBar(4096)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_steps_double_up_to_the_longest():
    assert stops_to(8192) == [1024, 2048, 4096, 8192]
    assert stops_to(10_000) == [1024, 2048, 4096, 8192, 10_000]
    assert stops_to(512) == [512]
    assert stops_to(1 << 40)[-1] == 1 << 20


def test_the_slider_stands_at_the_step_nearest_to_the_exact_number(bar):
    bar.show_longest(32_768)
    bar.show_context(9000)
    assert (bar.context.value(), bar.slider.value()) == (9000, 3)
    bar.show_longest(4096)
    assert (bar.context.value(), bar.slider.value(), bar.slider.maximum()) == (9000, 2, 2)


def test_where_nothing_is_stated_the_slider_goes_as_far_as_models_usually_do(bar):
    bar.show_longest(None)
    bar.slider.setValue(bar.slider.maximum())
    assert bar.context.value() == 131_072


def test_what_is_shown_is_told_to_nobody(bar):
    told = []
    bar.context_chosen.connect(told.append)
    bar.show_context(9000)
    bar.show_longest(2048)
    assert told == []


def test_layers_count_only_where_there_is_a_card(bar):
    bar.apply(WhatIf("q8_0", 2, 10, 3), 4096)
    assert bar.what_if == WhatIf("q8_0", 2)
    bar.show_cards(True)
    assert bar.what_if == WhatIf("q8_0", 2, 10, 3)


def test_as_many_rows_as_the_width_asks_for_and_nothing_is_cut(bar):
    bar.show_cards(True)
    high = bar.heightForWidth(4000)
    for width in range(bar.minimumSizeHint().width(), 1200, 50):
        bar.resize(width, bar.heightForWidth(width))
        assert cut(bar) == []
    assert bar.heightForWidth(bar.minimumSizeHint().width()) > 2 * high


def test_what_was_set_elsewhere_is_shown_and_told_to_nobody(bar):
    told = []
    bar.context_chosen.connect(told.append)
    bar.changed.connect(told.append)
    bar.show_settings(WhatIf("q8_0", 2), 9000)
    assert told == []
    assert (bar.what_if, bar.context.value(), bar.reset.isVisible()) == (WhatIf("q8_0", 2), 9000, True)
