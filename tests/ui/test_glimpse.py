"""What is shown of the Library before anything of it is known."""

import json
import subprocess
import sys

import pytest
from PySide6.QtWidgets import QLabel

from weighbridge.base.paths import default_paths
from weighbridge.base.settings import Settings
from weighbridge.ui.glimpse import VERSION, Glimpse, keep, read
from weighbridge.ui.program import Program
from weighbridge.ui.widgets.first_sight import FirstSight

ROWS = [
    ("Älteste-7B", "Added", "GGUF", "Q4_0", "4.0 GiB", "32,768"),
    ("b", "Weighbridge", "GGUF", "", "1 B", "unknown"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "glimpse.json"


def test_what_is_kept_is_read_in_the_same_language_alone(path):
    keep(path, "en", ROWS, 140)
    assert read(path, "en") == (ROWS, 140)
    assert read(path, "es") == Glimpse()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff",
        b"[" * 9000,
        json.dumps([VERSION, "en", 0, [["a"]]]).encode(),
        json.dumps([VERSION, "en", 0, [[1, 2, 3, 4, 5, 6]]]).encode(),
        json.dumps([VERSION, "en", -1, ROWS]).encode(),
        json.dumps([VERSION, "en", "far", ROWS]).encode(),
        json.dumps([VERSION, "en", ROWS]).encode(),
    ],
)
def test_what_is_damaged_is_as_if_it_were_not_there(path, written):
    path.parent.mkdir()
    path.write_bytes(written)
    assert read(path, "en") == Glimpse()


def test_a_place_that_cannot_be_written_is_no_fault(path):
    path.parent.write_text("a file where the folder should be")
    keep(path, "en", ROWS)
    assert read(path, "en") == Glimpse()


@pytest.fixture
def program(qtbot, qapp, home):
    keep(default_paths().glimpse, Settings().language, ROWS)
    made = Program(qapp, default_paths(), dict)
    made.speech.use("en")
    yield made
    made.close()
    made.window.deleteLater()


def seen(window):
    shown = window.findChild(FirstSight)
    model = None if shown is None else shown.table.model()
    return [] if model is None else [model.index(row, 0).data() for row in range(model.rowCount())]


def test_rows_of_the_last_look_stand_before_anything_is_built(qtbot, program):
    program.open()
    qtbot.waitUntil(lambda: seen(program.window) == ["Älteste-7B", "b"])
    assert program.services is None
    assert not any(each.text() == "Opening…" and each.isVisible() for each in program.window.findChildren(QLabel))
    qtbot.waitUntil(lambda: program.window.page_name == "library")
    qtbot.waitUntil(lambda: program.window.findChild(FirstSight) is None)


def test_a_scan_puts_what_it_found_in_their_place(qtbot, program):
    path = default_paths().glimpse
    models = default_paths().models
    models.mkdir(parents=True)
    (models / "broken.Q4_0.gguf").write_bytes(b"GGUF")
    program.open()
    qtbot.waitUntil(lambda: [row[0] for row in read(path, Settings().language).rows] == ["broken.Q4_0"])


def test_nothing_that_weighs_or_runs_is_imported_for_them():
    code = (
        "import sys, weighbridge.ui.program, weighbridge_engines.catalogue;"
        "print([name for name in ('weighbridge_engines.api', 'weighbridge.base.explain', 'sqlite3', 'PySide6.QtSvg',"
        "'weighbridge.ui.palette', 'weighbridge.running') if name in sys.modules]);"
        "import weighbridge.ui.glimpse, weighbridge.ui.widgets.first_sight;"
        "print([name for name in sys.modules if name.startswith(('weighbridge.estimates', 'weighbridge.choices',"
        "'weighbridge.hub', 'weighbridge.running.choose', 'weighbridge.chat', 'weighbridge.library.'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]


def test_the_table_of_the_page_takes_the_place_of_the_first_one(qtbot, program):
    program.open()
    qtbot.waitUntil(lambda: program.window.page_name == "library")
    page = program.window.page
    page._body.setCurrentIndex(0)
    qtbot.waitUntil(lambda: page.table_top_px > 100)
    sight = FirstSight(program.theme, Glimpse(ROWS, page.table_top_px))
    qtbot.addWidget(sight)
    sight.resize(page.size())
    sight.show()
    assert sight.table.parentWidget().y() == page.table_top_px
