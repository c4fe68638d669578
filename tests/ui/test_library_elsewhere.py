"""What the Library says of models that endpoints serve: in its rows, its filters and its foot."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from tests.ui.served_elsewhere import BOX, HERE, HOSTED, file, served

from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.library.disk import disk_use
from weighbridge.library.marks import Mark
from weighbridge.ui.elsewhere_words import endpoint_titles, leaving_in_words, served_in_words, where_it_goes
from weighbridge.ui.library_filters import FITS, LEAVES, UNUSED, keeping, offered
from weighbridge.ui.models.arranging import arranged
from weighbridge.ui.models.library_model import LibraryModel
from weighbridge.ui.models.library_row import Column, LibraryRow, shown
from weighbridge.ui.widgets.cells import CELL_ROLE

THIN = "\u202f"


def rows(*models):
    return [LibraryRow(model) for model in models]


def names(model):
    return [model.row(place).model.title for place in range(model.rowCount())]


def test_a_row_tells_where_it_is_and_nothing_that_it_would_take_here():
    row = LibraryRow(served())
    told = {column.name: shown(row, column) for column in Column}
    assert told == {
        "MODEL": "qwen3:8b@my-box",
        "SOURCE": "My box",
        "FORMAT": "served",
        "QUANT": "–",
        "SIZE": "–",
        "DISK": "–",
        "CONTEXT": "32,768",
        "MEMORY": "–",
        "FIT": "Leaves to your network",
        "SPEED": "–",
        "RUNNER": "",
        "USED": "never",
        "STATE": "",
    }
    assert not row.fits


@pytest.mark.parametrize(
    ("endpoint", "badge", "glyph"),
    [
        (HERE, ("fits", "On this computer"), "check"),
        (BOX, ("tight", "Leaves to your network"), "network"),
        (HOSTED, ("partial", "Leaves this computer"), "network"),
    ],
)
def test_how_far_it_goes_is_said_by_words_and_a_glyph(endpoint, badge, glyph):
    made = LibraryModel()
    made.show_rows(rows(served(endpoint)), 4096)
    cell = made.index(0, Column.FIT).data(CELL_ROLE)
    assert (cell.badge, cell.glyph) == (badge, glyph)
    assert made.index(0, Column.FIT).data(Qt.ItemDataRole.AccessibleTextRole) == badge[1]
    assert made.index(0, Column.MEMORY).data(Qt.ItemDataRole.ToolTipRole) == where_it_goes(served(endpoint).remote)


def test_a_context_that_no_server_tells_is_a_dash():
    assert shown(LibraryRow(served(context=None)), Column.CONTEXT) == "–"


@pytest.mark.parametrize("column", [Column.SIZE, Column.QUANT])
@pytest.mark.parametrize("order", [Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder])
def test_it_sorts_behind_what_has_such_figures(column, order):
    made = LibraryModel()
    made.show_rows(rows(served(), file("b"), file("a")), 4096)
    made.sort(column, order)
    assert names(made) == ["b", "a", "qwen3:8b@my-box"]


def test_the_nearest_sorts_first():
    made = LibraryModel()
    made.show_rows(rows(served(HOSTED), served(BOX), served(HERE), file()), 4096)
    made.sort(Column.FIT)
    assert names(made) == ["qwen3:8b@ollama", "qwen3:8b@my-box", "qwen3:8b@openrouter", "qwen3-0.6b"]


def test_it_is_found_by_its_endpoint_and_not_by_a_path():
    searched = LibraryRow(served()).searched
    assert "my box" in searched
    assert "null" not in searched


def test_each_endpoint_is_offered_once_and_what_leaves_too():
    found = offered(rows(file(), served(HERE, "a"), served(HERE, "b"), served(BOX), served(HOSTED)))
    assert [title for _, title in found] == [
        "Weighbridge",
        "My box",
        "Ollama",
        "OpenRouter",
        "Fits",
        "Leaves this computer",
        "Never used",
    ]


def test_endpoints_of_one_title_are_one_filter():
    other = replace(BOX, id="my-box-2")
    models = [served(BOX, "a"), served(other, "b")]
    found = dict((title, name) for name, title in offered(rows(file(), *models)))
    assert list(map(keeping([found["My box"]]), rows(*models, file()))) == [True, True, False]


def test_an_endpoint_called_as_a_program_whose_files_are_here_is_told_from_it():
    titles = [title for _, title in offered(rows(file(source="ollama"), served(HERE)))]
    assert titles[:2] == ["Ollama", "Ollama (server)"]
    assert endpoint_titles([], ["Ollama"]) == {}


def test_nothing_leaves_where_all_is_here():
    assert LEAVES not in [name for name, _ in offered(rows(file(), served(HERE)))]


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        ([FITS], []),
        ([LEAVES], ["qwen3:8b@my-box", "qwen3:8b@openrouter"]),
        ([LEAVES, "endpoint:My box"], ["qwen3:8b@my-box"]),
        (["source:own", "endpoint:Ollama"], ["qwen3-0.6b", "qwen3:8b@ollama"]),
    ],
)
def test_filters_keep_what_they_say(chosen, kept):
    test = keeping(chosen)
    listed = rows(file(), served(HERE), served(BOX), served(HOSTED))
    assert [row.model.title for row in listed if test(row)] == kept


def test_what_was_used_there_is_no_longer_never_used():
    used = LibraryRow(served(), mark=Mark(used_s=1.0))
    assert not keeping([UNUSED])(used)


def test_formats_are_those_of_files():
    made = arranged(rows(served(), file(), file("other")))
    assert Column.FORMAT not in made.used
    assert Column.SOURCE in made.used
    assert [name for name, _ in offered(made.rows) if name.startswith("format:")] == []


def test_what_is_elsewhere_takes_no_room_and_is_in_no_folder(tmp_path):
    use = disk_use([served()], [tmp_path], Task())
    assert use.of_model == {}
    assert [folder.models for folder in use.folders] == [0]


def test_a_note_on_it_stays(services):
    services.marks.write_note(served(), "slow at night")
    services.marks.used(served(), 5.0)
    services.marks.reload()
    assert services.marks.of(served()) == Mark(note="slow at night", used_s=5.0)
    assert services.marks.of(served(name="other")) == Mark()


@pytest.mark.parametrize(
    ("remote", "said"),
    [
        (served().remote, "Called qwen3:8b there, for chat, 32,768 tokens of context."),
        (
            served(context=None, kind=Kind.EMBEDDING).remote,
            "Called qwen3:8b there, for embeddings. How much context it has is not told.",
        ),
        (served(kind=None).remote, "Called qwen3:8b there, 32,768 tokens of context."),
        (
            replace(served(kind=None).remote, sees=True),
            "Called qwen3:8b there, 32,768 tokens of context, takes pictures.",
        ),
        (
            replace(served(kind=None).remote, sees=False),
            "Called qwen3:8b there, 32,768 tokens of context, takes no pictures.",
        ),
    ],
)
def test_what_its_server_says_is_said(remote, said):
    assert served_in_words(remote).replace("\u202f", " ").replace("\xa0", " ") == said


def test_who_answers_is_said():
    assert where_it_goes(served(HERE).remote) == "Ollama answers, on this computer."
    assert where_it_goes(served(BOX).remote) == "What you write leaves this computer: My box answers, in your network."
    assert where_it_goes(served(HOSTED).remote) == "What you write leaves this computer: OpenRouter answers."
    assert [leaving_in_words(each) for each in (file(), served(HERE), served(BOX))] == ["", "", "leaves this computer"]
