"""The Library page with models that endpoints serve: the detail, the menu, connecting, the foot."""

import pytest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import running

from weighbridge.base.errors import EngineFailed
from weighbridge.running.endpoints import table
from weighbridge.running.endpoints.endpoint import Listed, Reached
from weighbridge.running.state import State
from weighbridge.ui.models.library_row import Column

SERVED = "qwen3:8b@my-box"


@pytest.fixture
def page(qtbot, library_page, full):
    """With an endpoint that serves two models."""
    owner = full.endpoints.endpoints
    owner.add("http://192.168.1.20:8000", title="My box")
    table.write_reached(owner._database, "my-box", Reached(1.0, None, (Listed("qwen3:8b", 32_768), Listed("other"))))
    owner._read()
    full.library.relist()
    library_page._list()
    qtbot.waitUntil(lambda: library_page.table.place_of(SERVED) is not None)
    library_page.table.choose(SERVED)
    qtbot.waitUntil(lambda: library_page.detail._title.text() == SERVED)
    return library_page


def become(page, full, state, **changes):
    full.supervisor.become(full.bus, running(SERVED, state, engine_id="endpoint", memory_bytes=None, **changes))


def words(page):
    return [action.text() for action in page.detail.more.menu().actions() if action.isVisible() and action.text()]


def test_the_detail_tells_where_it_is_and_nothing_of_memory(page):
    detail = page.detail
    assert detail.place == "My box · http://192.168.1.20:8000/v1"
    assert detail.served.startswith("Called qwen3:8b there")
    assert "32,768" in detail.served
    assert detail.weighed.fit.accessibleName() == "Leaves this computer, stays in your network"
    assert detail.weighed.fit.isVisible()
    assert not detail.weighed.isVisible()
    assert not detail.template.isVisible()


def test_it_is_connected_to_as_its_owner_has_it_and_not_set(page, full):
    load, stop, chat = page.detail.buttons
    assert (load.text(), load.isVisible(), chat.isVisible()) == ("Connect", True, True)
    assert not page.detail._set.isVisible()
    page.controls.slots.setValue(4)
    load.click()
    assert full.supervisor.loads[-1][0] == SERVED
    assert full.supervisor.made[-1].slots == full.supervisor.default_load(page.table.chosen.model).slots
    become(page, full, State.LOADING)
    assert (stop.text(), page.detail._stage.text().split(" · ")[0]) == ("Cancel", "Asking its server")
    become(page, full, State.READY)
    assert (stop.text(), load.isVisible()) == ("Disconnect", False)
    assert not page.detail.pin.isVisible()
    assert not page.detail._settings.isVisible()
    place = page.table.place_of(SERVED)
    assert page.table.model().index(place, Column.STATE).data() == "Connected"


def test_why_it_cannot_be_reached_stands_in_its_panel(page, full):
    error = EngineFailed("endpoint.refused", endpoint="My box", address="http://192.168.1.20:8000/v1")
    become(page, full, State.FAILED, error=error)
    assert page.detail.failure.isVisible()
    assert page.detail.buttons[0].isVisible()


def test_the_menu_offers_what_can_be_done_with_it(page, full):
    assert words(page) == ["Show its endpoint", "Copy its address", "Write a note on the chosen model"]
    shown = []
    full.bus.endpoint_shown.connect(shown.append)
    page.acts.endpoint.trigger()
    page.acts.copy.trigger()
    assert shown == ["my-box"]
    assert QApplication.clipboard().text() == "http://192.168.1.20:8000/v1"
    for act in (page.acts.set, page.acts.reveal, page.acts.verify, page.acts.remove, page.acts.pin):
        assert not act.isEnabled()
    assert page.acts.load.text() == "Connect to the chosen model"


def test_a_file_is_offered_what_files_are(page):
    page.table.choose("Qwen3-0.6B-Q8_0")
    assert words(page) == [
        "Load with settings…",
        "Show in the file manager",
        "Copy the file's path",
        "Verify the chosen model",
        "Write a note on the chosen model",
        "Load beside it",
        "Remove the chosen model…",
    ]
    assert page.detail.served == ""
    assert page.detail.buttons[0].text() == "Load"
    assert page.detail.weighed.isVisible()


def test_a_note_is_written_on_it(page, full):
    page.detail.note_written.emit(page.table.chosen.model, "only at night")
    assert full.marks.of(page.table.chosen.model).note == "only at night"


def test_the_foot_counts_files_alone(qtbot, page):
    qtbot.waitUntil(lambda: "7 models in 1 folder" in page.foot.part("folders").text())


def test_an_endpoint_that_is_gone_has_no_address(qtbot, page, full):
    full.endpoints.endpoints.remove("my-box")
    page._show_chosen()
    assert page.detail.place == "My box"


def test_chips_narrow_it_to_what_leaves(page):
    page.chips.choose(["leaves"])
    model = page.table.model()
    assert [model.index(row, Column.MODEL).data() for row in range(model.rowCount())] == ["other@my-box", SERVED]
