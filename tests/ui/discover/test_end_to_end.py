"""From a name that is pasted to a row of the Library, with the real program over the fake Hub."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from tests.fake_hub import FakeHub, Stall
from tests.fake_hub.examples import add_all

from weighbridge.base.paths import default_paths
from weighbridge.ui.discover.rows import Act
from weighbridge.ui.program import Program
from weighbridge_engines.echo import ENGINE


@pytest.fixture
def tiny():
    with FakeHub() as made:
        add_all(made)
        yield made


@pytest.fixture
def program(qtbot, qapp, home, tiny, monkeypatch):
    for name in ("HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "hugging"))
    made = Program(qapp, default_paths(), lambda: {ENGINE.id: ENGINE})
    made.settings.change(hub_endpoint=tiny.endpoint)
    made.open()
    qtbot.waitUntil(lambda: bool(made.window.pages))
    made.window.show_page("discover")
    yield made
    made.close()
    made.window.deleteLater()


@pytest.fixture
def page(program):
    return program.window.pages["discover"]


def enter(page, words):
    page.filters.search.setText(words)
    QTest.keyClick(page.filters.search, Qt.Key.Key_Return)


def test_pasted_got_and_opened_in_the_library(qtbot, program, page):
    page.entry.button.click()
    enter(page, "hf.co/tiny/Tiny-GGUF:Q8_0")
    table = page.pane.table
    qtbot.waitUntil(lambda: table.chosen is not None and table.chosen.title == "Q8_0")
    assert table.chosen.act is Act.GET
    page.pane.act()
    qtbot.waitUntil(lambda: table.chosen is not None and table.chosen.act is Act.OPEN)
    page.pane.act()
    assert program.window.page_name == "library"
    chosen = program.window.pages["library"].table
    qtbot.waitUntil(lambda: chosen.chosen is not None and chosen.chosen.model.path.name == "Tiny-Q8_0.gguf")


def test_closing_the_window_waits_neither_for_a_search_nor_for_a_look(qtbot, program, page, tiny):
    page.entry.button.click()
    qtbot.waitUntil(lambda: len(page.list.rows) > 0 and not page.discovery.looks.now)
    tiny.faults.next(Stall(-1), on="api", times=2)
    enter(page, "tiny/Big-GGUF")
    qtbot.waitUntil(lambda: bool(tiny.asked(path="/api/models/tiny/Big-GGUF")))
    assert page.discovery.is_opening
    program.close()  # the answer never comes; what waits for it is given up
    assert not page.discovery.is_opening
