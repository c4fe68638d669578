import os
import threading
from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, Refused
from weighbridge.formats.variant import Role
from weighbridge.library.marks import MAX_NOTE, Mark, Marks
from weighbridge.library.model import Model


def model(name="a.gguf", form="gguf"):
    path = Path("/models") / name
    return Model(path.stem, path.stem, path, (path,), form, None, 1)


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def marks(database):
    return Marks(database)


def test_what_was_never_marked_bears_nothing(marks):
    assert marks.of(model()) == Mark()
    assert marks.all() == {}


def test_marks_survive_the_program(marks, database):
    marks.write_note(model(), "for code")
    marks.used(model(), 1234.5)
    marks.take_off(model())
    marks.choose_part(model(), Role.PROJECTOR, Path("/models/mmproj.gguf"))
    marks.choose_part(model(), Role.DRAFT, None)
    kept = Mark("for code", 1234.5, True, {Role.PROJECTOR: Path("/models/mmproj.gguf"), Role.DRAFT: None})
    assert marks.of(model()) == kept
    assert Marks(database).of(model()) == kept


def test_a_mark_belongs_to_path_and_format_and_not_to_a_name(marks):
    marks.write_note(model(form="mlx"), "four bits")
    assert marks.of(model(form="gguf")).note == ""
    assert marks.of(model("elsewhere/a.gguf", "mlx")).note == ""


def test_back_on_the_list(marks, database):
    marks.take_off(model())
    assert marks.of(model()) == Mark(off_list=True)
    marks.put_back(model())
    for read in (marks, Marks(database)):
        assert read.of(model()) == Mark()


def test_what_is_fetched_once_more_is_on_the_list_again(marks):
    names = ("repo/a.gguf", "repo/sub/b.gguf", "repository/c.gguf", "d.gguf")
    for name in names:
        marks.take_off(model(name))
    marks.put_back_below(Path("/models/repo"))
    marks.put_back_below(Path("/models/d.gguf"))
    assert [marks.of(model(name)).off_list for name in names] == [False, False, True, False]


def test_what_another_process_wrote_is_kept(marks, database):
    other = Marks(database)
    other.write_note(model(), "of the other")
    marks.used(model(), 5.0)
    assert Marks(database).of(model()) == Mark("of the other", 5.0)
    marks.reload()
    assert marks.of(model()).note == "of the other"


def test_names_that_are_no_text_and_notes_that_are_no_text(marks, database):
    strange = model(os.fsdecode(b"caf\xe9.gguf"))
    marks.write_note(strange, "half \ud83d of a pair")
    marks.choose_part(strange, Role.PROJECTOR, strange.path)
    mark = Marks(database).of(strange)
    assert mark.note == "half � of a pair"
    assert mark.parts == {Role.PROJECTOR: strange.path}


def test_a_note_that_is_too_long_is_not_cut_but_refused(marks):
    marks.write_note(model(), "x" * MAX_NOTE)
    with pytest.raises(Refused) as refused:
        marks.write_note(model(), "y" * (MAX_NOTE + 1))
    assert (refused.value.code, refused.value.values) == ("note.too_long", {"count": MAX_NOTE + 1, "most": MAX_NOTE})
    assert marks.of(model()).note == "x" * MAX_NOTE


def test_a_damaged_choice_leaves_the_note(marks, database):
    marks.write_note(model(), "kept")
    for damaged in ("{", "[1]", '{"no role": null}', "7"):
        with database.transaction() as connection:
            connection.execute("UPDATE marks SET parts = ?", (damaged,))
        assert Marks(database).of(model()) == Mark("kept")


def test_listeners_hear_of_each_change_until_they_leave(marks):
    heard = []
    leave = marks.subscribe(heard.append)
    marks.write_note(model(), "a")
    leave()
    marks.write_note(model(), "b")
    assert heard == [(Path("/models/a.gguf"), "gguf")]


def test_what_cannot_be_written_is_not_believed(marks, database):
    marks.write_note(model(), "kept")
    database.close()
    with pytest.raises(BadFile) as caught:
        marks.write_note(model(), "lost")
    assert caught.value.code == "database.failed"
    assert marks.of(model()).note == "kept"


def test_many_threads_at_once(marks, database):
    def write(number):
        for turn in range(5):
            marks.write_note(model(f"{number}.gguf"), f"{number} {turn}")
            marks.used(model(f"{number}.gguf"), float(turn))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {mark.note for mark in Marks(database).all().values()} == {f"{number} 4" for number in range(8)}
