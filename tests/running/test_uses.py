from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.library.marks import Marks
from weighbridge.library.model import Model
from weighbridge.running.uses import LEAST_S, UseRecorder


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


def model(name):
    path = Path("/models") / name
    return Model(name, name, path, (path,), "gguf", None, 1)


def test_the_last_use_is_written_down_and_not_with_each_answer(database):
    now = [1000.0]
    marks = Marks(database)
    heard = []
    marks.subscribe(heard.append)
    recorder = UseRecorder(marks, lambda: now[0])
    for at in (1000.0, 1001.0, 1000.0 + LEAST_S, 1001.0 + LEAST_S):
        now[0] = at
        recorder.used(model("a"))
    recorder.used(model("b"))
    recorder.close()
    assert Marks(database).of(model("a")).used_s == 1000.0 + LEAST_S
    assert Marks(database).of(model("b")).used_s == 1001.0 + LEAST_S
    assert len(heard) == 3


def test_a_clock_that_was_set_back_is_followed(database):
    times = iter([5000.0, 1000.0])
    recorder = UseRecorder(Marks(database), lambda: next(times))
    recorder.used(model("a"))
    recorder.used(model("a"))
    recorder.close()
    assert Marks(database).of(model("a")).used_s == 1000.0


def test_a_database_that_fails_and_a_recorder_that_is_closed_stop_nobody(database):
    marks = Marks(database)
    database.close()
    recorder = UseRecorder(marks)
    recorder.used(model("a"))
    recorder.close()
    recorder.used(model("b"))
    assert marks.all() == {}
