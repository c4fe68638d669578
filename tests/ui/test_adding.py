"""Adding files and folders: dropped on the window, or chosen."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from tests.ui.made_library import keys, put

from weighbridge.library.model import ADDED
from weighbridge.ui.dropping import Dropping, local_paths

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction


@pytest.fixture
def page(library_page, full):
    full.settings.subscribe(lambda new: use(full, new))
    return library_page


def use(full, new):
    """What the program does where the folders change."""
    from weighbridge.library.places import Root

    added = [Root(Path(each), ADDED) for each in (*new.model_folders, *new.model_files)]
    full.library.use_roots([full.paths.models, *added])
    full.bus.scan_wanted.emit()


@pytest.fixture
def outside(tmp_path):
    return tmp_path / "outside"


def made(folder, name="New-1B-Q4_0.gguf"):
    return put(folder, name, keys("llama", 4, 4096, 4, 64, 8), 1 << 20)


def listed(page):
    model = page.table.model()
    return [model.index(place, 0).data() for place in range(model.rowCount())]


def test_a_file_is_added_where_it_lies_shown_and_undone(page, full, qtbot, outside):
    path = made(outside)
    page.chips.buttons["unused"].click()
    full.bus.add_wanted.emit([path])
    qtbot.waitUntil(lambda: "New-1B-Q4_0" in listed(page))
    qtbot.waitUntil(lambda: page.table.chosen.model.path == path)
    assert page.table.chosen.model.source == ADDED
    assert full.settings.value.model_files == (str(path),)
    assert page.question.what == "Added: New-1B-Q4_0.gguf. Nothing was copied or moved."
    page.question.buttons[0].click()
    qtbot.waitUntil(lambda: "New-1B-Q4_0" not in listed(page))
    assert full.settings.value.model_files == ()
    assert path.exists()


def test_a_folder_is_added_and_its_first_model_shown(page, full, qtbot, outside, monkeypatch):
    made(outside / "deep", "A-1B-Q4_0.gguf")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(outside))
    page._adding.choose_folder()
    qtbot.waitUntil(lambda: page.table.chosen.model.title == "A-1B-Q4_0")
    assert full.settings.value.model_folders == (str(outside),)


def test_what_is_no_model_is_refused_with_its_reason(page, full, qtbot, outside, monkeypatch):
    outside.mkdir()
    (outside / "notes.txt").write_text("x")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(outside / "notes.txt")], ""))
    page._adding.choose_files()
    qtbot.waitUntil(page.errors.isVisible)
    assert "not a GGUF file" in page.errors.shown_report.what
    assert full.settings.value.model_files == ()
    page.errors.hide()
    full.bus.add_wanted.emit([outside, outside / "notes.txt"])
    qtbot.waitUntil(page.errors.isVisible)
    assert "not a GGUF file" in page.errors.shown_report.whole
    assert f"There is no model in {outside}" in page.errors.shown_report.whole


def test_what_is_here_already_is_only_shown(page, full, qtbot):
    page.table.choose("Qwen3-8B-Q4_K_M")
    known = next(model for model in full.library.models if model.id == "Qwen3-0.6B-Q8_0")
    full.bus.add_wanted.emit([known.path])
    qtbot.waitUntil(lambda: page.table.chosen.model.id == known.id)
    assert not page.errors.isVisible()


def test_what_was_taken_off_the_list_is_on_it_again(page, full, qtbot):
    page.table.choose("Qwen3-0.6B-Q8_0")
    model = page.table.chosen.model
    page.shelf.take_off(model)
    full.bus.add_wanted.emit([model.path])
    qtbot.waitUntil(lambda: model.title in listed(page))
    assert full.library.off_list == ()


def test_looking_through_a_large_folder_is_given_up_by_esc(page, full, qtbot, outside, monkeypatch):
    from weighbridge.ui import adding

    def look(paths, library, home, task):
        while True:
            task.wait(0.01)

    monkeypatch.setattr(adding, "look_at", look)
    outside.mkdir()
    full.bus.add_wanted.emit([outside])
    assert page.question.what == "Looking for models in outside…"
    page.question.hide()
    assert page.escape()
    qtbot.waitUntil(lambda: not page._adding.busy)
    assert not page.errors.isVisible()


def dragged(*urls):
    data = QMimeData()
    data.setUrls([QUrl(url) for url in urls])
    return data


def test_files_that_fall_on_the_window_are_taken_and_never_moved(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    told = []
    Dropping(window).dropped.connect(told.append)
    data = dragged("file:///m/a%20b.gguf", "https://example.com/x.gguf")
    entering = QDragEnterEvent(QPoint(1, 1), COPY, data, LEFT, NONE)
    QApplication.sendEvent(window, entering)
    assert entering.isAccepted()
    falling = QDropEvent(QPointF(1, 1), COPY, data, LEFT, NONE)
    QApplication.sendEvent(window, falling)
    assert falling.dropAction() == Qt.DropAction.CopyAction
    assert told == [[Path("/m/a b.gguf")]]


def test_addresses_of_other_machines_are_not_taken(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    Dropping(window)
    data = dragged("https://example.com/x.gguf")  # an event does not keep it
    entering = QDragEnterEvent(QPoint(1, 1), COPY, data, LEFT, NONE)
    entering.ignore()
    QApplication.sendEvent(window, entering)
    assert not entering.isAccepted()
    assert local_paths(QMimeData()) == []
