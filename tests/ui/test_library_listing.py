"""How a large library comes into the table: rows are made elsewhere, and what stands there stays."""

import pytest

from weighbridge.ui import library_rows
from weighbridge.ui.pages.library import LibraryPage


@pytest.fixture
def page(qtbot, full, monkeypatch):
    """All is listed off the GUI thread, as where there are many models."""
    monkeypatch.setattr(library_rows, "FEW", 0)
    monkeypatch.setattr(full.library, "read_all", lambda task: None)
    made = LibraryPage(full)
    qtbot.addWidget(made)
    made.resize(1100, 700)
    made.show()
    qtbot.waitUntil(made._rescan.isEnabled)
    yield made
    made.shut()


def ids(page):
    model = page.table.model()
    return [model.row(place).model.id for place in range(model.rowCount())]


def test_what_is_known_stands_before_the_scan_is_over(qtbot, full, monkeypatch):
    full.library.scan()
    monkeypatch.setattr(full.library, "scan", lambda task: None)
    page = LibraryPage(full)
    qtbot.addWidget(page)
    assert len(ids(page)) == len(full.library.models) > 0
    page.shut()


def test_a_scan_that_finds_the_same_changes_no_row(qtbot, full, page):
    model = page.table.model()
    before, told = [model.row(place) for place in range(model.rowCount())], []
    model.modelReset.connect(lambda: told.append("reset"))
    model.layoutChanged.connect(lambda: told.append("moved"))
    with qtbot.waitSignal(full.bus.library_changed):
        page.rescan()
    after = [model.row(place) for place in range(model.rowCount())]
    assert told == []
    assert all(one.model is other.model for one, other in zip(before, after, strict=True))


def test_what_is_chosen_stays_chosen_while_models_come(qtbot, full, page):
    page.table.choose("Qwen3-8B-Q4_K_M")
    scrolled = page.table.verticalScrollBar().value()
    some = next(full.paths.models.rglob("Qwen3-8B-Q4_K_M.gguf"))
    with some.open("rb") as file:
        (some.parent / "Added-1B-Q4_K_M.gguf").write_bytes(file.read(64))
    page.rescan()
    qtbot.waitUntil(lambda: "Added-1B-Q4_K_M" in ids(page))
    assert page.table.chosen.model.id == "Qwen3-8B-Q4_K_M"
    assert page.table.verticalScrollBar().value() == scrolled


def test_what_is_weighed_while_rows_are_made_is_not_lost(qtbot, full, page):
    full.memories.start()
    page.rescan()
    qtbot.waitUntil(page._rescan.isEnabled)
    qtbot.waitUntil(lambda: all(full.weighing.choice(model) for model in full.library.models))
    model = page.table.model()
    qtbot.waitUntil(lambda: all(model.row(place).choice is not None for place in range(model.rowCount())))


def test_only_rows_in_sight_count_as_seen_before_anything_is_laid_out(qtbot, full, page):
    page.table.resize(400, 1)
    assert len(page.table.seen) <= 2
