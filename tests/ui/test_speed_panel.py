"""The speed of a model as the window tells it: figures, the reckoning, why it is unknown."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from tests.choices.made_speeds import FAST_RTX, TABLES, TENTH, here, weighed
from tests.choices.made_surroundings import LOAD, model
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.settings import SettingsStore
from weighbridge.choices.changes import ChangeKind, changes
from weighbridge.choices.choice import weigh
from weighbridge.choices.speeds import Speedometer
from weighbridge.hardware.memory_types import load_memory_types
from weighbridge.ui import changes_view
from weighbridge.ui.speed_view import SpeedView, row_basis, speed_view
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.changes_list import ChangesList
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.speed_panel import SpeedPanel

THIN = "\u202f"


def view_of(around, load=LOAD, blueprint=TENTH, **rest):
    return speed_view(weighed(around, blueprint, load), Speedometer(around, TABLES), around.machine, **rest)


@pytest.fixture
def panel(qtbot, qapp, tmp_path):
    made = SpeedPanel(Theme(qapp, SettingsStore(tmp_path / "settings.toml")))
    qtbot.addWidget(made)
    made.show()
    return made


def test_speed_first_token_and_the_speed_at_the_whole_context():
    view = view_of(here())
    assert [figure.name for figure in view.figures] == ["Speed", "First token, prompt of 512", "At 4,096 tokens"]
    speed, deep = view.figures[0].value, view.figures[2].value
    assert speed.endswith(f"{THIN}tok/s")
    assert int(deep.split(" ")[0]) <= int(speed.split(" ")[0])
    assert "GB/s of bandwidth, measured here on" in view.figures[0].basis.replace(THIN, " ")
    assert f"With the whole context of 4,096 tokens in the cache: {deep}, against {speed} with 1,024 tokens." in (
        view.reasons
    )


def test_a_short_context_has_no_other_speed():
    assert len(view_of(here(), replace(LOAD, context=512)).figures) == 2


def test_what_was_never_measured_can_be_and_says_so():
    around = here()
    around = replace(around, machine=replace(around.machine, bandwidth=None))
    view = view_of(around)
    assert view.figures == ()
    assert view.unknown.startswith("Speed unknown. ")
    assert "--measure" not in view.unknown
    assert view.measurable
    assert not view_of(around, is_other=True).measurable


def test_of_what_does_not_fit_the_verdict_says_enough():
    view = view_of(here(free_gib=0.5, total_gib=16))
    assert (view.figures, view.unknown, view.there) == ((), "", True)


def test_a_row_tells_its_basis_and_nothing_where_there_is_none():
    around = here()
    meter = Speedometer(around, TABLES)
    assert row_basis(weighed(around, TENTH), meter, around.machine) == view_of(around).figures[0].basis
    unmeasured = replace(around, machine=replace(around.machine, bandwidth=None))
    assert row_basis(weighed(unmeasured, TENTH), Speedometer(unmeasured, TABLES), unmeasured.machine) == ""


def test_the_reckoning_unfolds_by_the_keyboard_and_stays_for_the_next_model(panel):
    panel.show_view(view_of(here()))
    assert panel.reasons == ""
    assert panel.fold.accessibleName() == "Why this speed"
    QTest.keyClick(panel.fold, Qt.Key.Key_Space)
    assert panel.fold.accessibleDescription() == "unfolded"
    assert "For each token" in panel.reasons
    panel.show_view(view_of(here(FAST_RTX)))
    assert "RTX" in panel.reasons
    panel.toggle()
    assert panel.reasons == ""


def test_figures_are_named_for_who_hears_them(panel):
    view = view_of(here())
    panel.show_view(view)
    assert [each.accessibleName() for each in panel.figures] == [f"{one.name} {one.value}" for one in view.figures]
    assert panel.figures[0].accessibleDescription() == view.figures[0].basis


def test_measuring_is_asked_for_and_told(panel, qtbot):
    panel.show_view(SpeedView(unknown="Speed unknown.", measurable=True, there=True))
    with qtbot.waitSignal(panel.measure_wanted):
        panel.measure.click()
    panel.show_measuring(True)
    assert (panel.measure.text(), panel.measure.isEnabled()) == ("Measuring…", False)
    panel.show_measuring(False)
    assert panel.measure.isEnabled()


def test_a_wanted_speed_is_told_and_0_is_any(panel):
    heard = []
    panel.speed_wanted.connect(heard.append)
    panel.show_wanted(30.0)
    panel.least.setValue(60)
    panel.least.setValue(0)
    assert heard == [60.0, None]
    assert panel.least.text() == "any"


def test_nothing_is_shown_where_no_speed_can_be_asked_for(panel):
    panel.show_view(SpeedView())
    assert not panel.isVisible()


def listed(around, wanted=None, load=LOAD, blueprint=TENTH):
    """The choice, what was found, what of it is shown, and what stands above it."""
    choice = weigh(model(), blueprint, load, around, with_remedy=True)
    choice = replace(choice, speeds=Speedometer(around, TABLES).of(choice))
    found = changes(choice, around, TABLES, (), (), wanted, load_memory_types())
    shown = changes_view.listed(found, choice, wanted)
    return [one.kind for one in found], [one.kind for one in shown], changes_view.head(found, shown, choice, wanted)


def test_a_speed_that_nothing_reaches_says_so():
    assert listed(here(), wanted=1e4) == ([], [], "No single change known here does it.")


def test_a_speed_that_faster_memory_reaches():
    _, shown, head = listed(here(), wanted=40.0)
    assert shown == [ChangeKind.MEMORY_TYPE, ChangeKind.CARD]
    assert head == f"It would reach 40.0{THIN}tok/s with one of these, the cheapest first:"


def test_what_the_remedy_says_is_not_said_twice():
    tight, load = here(free_gib=12.9, total_gib=16), replace(LOAD, context=32_768)
    found, shown, head = listed(tight, load=load, blueprint=made(layers=10, layer_bytes=GIB))
    assert found[0] is ChangeKind.SETTINGS
    assert shown == found[1:4]
    assert head == "It would fit with one of these, the cheapest first:"


def test_where_nothing_was_looked_for_nothing_is_said():
    assert changes_view.head(None, (), weighed(here()), None) == ""


def test_changes_that_can_be_made_here_have_a_button(qtbot):
    made = ChangesList()
    qtbot.addWidget(made)
    assert made.isHidden()
    heard = []
    made.taken.connect(heard.append)
    rows = [changes_view.ChangeRow("More memory"), changes_view.ChangeRow("KV cache in q8_0", "Apply")]
    made.show_changes(rows, "One of these:")
    assert made.rows == ["More memory", "KV cache in q8_0"]
    (button,) = made.buttons
    assert button.accessibleName() == "Apply: KV cache in q8_0"
    button.click()
    assert heard == [1]


def test_what_has_no_room_goes_to_another_line(qtbot):
    owner = QWidget()
    qtbot.addWidget(owner)
    labels = [QLabel("wide words") for _ in range(3)]
    flow = Flow(*labels, gap=2, line_gap=1)
    owner.setLayout(flow)
    owner.show()
    one, each = flow.sizeHint(), labels[0].sizeHint().width()
    assert flow.heightForWidth(one.width()) == one.height()
    assert flow.heightForWidth(2 * each + 8) == 2 * one.height() + 4
    flow.setGeometry(QRect(0, 0, each, 200))
    assert [label.geometry().top() for label in labels] == [0, one.height() + 4, 2 * (one.height() + 4)]
    labels[1].hide()
    assert flow.heightForWidth(2 * each + 8) == one.height()
