"""An answer's way into the table."""

import logging

import pytest
from tests.estimates.made_blueprints import GIB

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile
from weighbridge.estimates.speed.speed import Speed
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.library.model import Model
from weighbridge.running.answered import Answered
from weighbridge.running.speed_observations import SpeedObservations, speed_situation
from weighbridge.running.speed_recording import Calculated, SpeedRecorder
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Load

LOAD = Load("m.gguf", context=4096, threads=3)
RUNNING = Running("m", "M", "e", State.READY, LOAD)
ANSWERED = Answered(200, 100, 300, 61.4, 250.0, by_engine=True, alone=True, busy=0.1)
BUILD = ("1", ("A Processor",))
CALCULATED = Calculated({"host": 20.0}, True, Speeds(Speed(30.0, 40.0, 50.0, 200), Speed(100.0, 200.0, 400.0, 100)))


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"x" * 10)
    return Model("m", "M", path, (path,), "gguf", None, GIB)


@pytest.fixture
def database(tmp_path):
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


def recorded(database, model, one=ANSWERED, calculate=lambda *_: CALCULATED, build=lambda _: BUILD):
    kept = SpeedObservations(database)
    recorder = SpeedRecorder(kept, calculate, build, cores=64)
    recorder.answered(model, RUNNING, one)
    recorder.close()
    recorder.answered(model, RUNNING, ANSWERED)  # closed in between
    return kept.all()


def test_an_answer_is_kept_beside_what_was_calculated(database, model):
    asked = []

    def calculate(*told):
        asked.append(told)
        return CALCULATED

    (one,) = recorded(database, model, calculate=calculate)
    assert asked == [(model, RUNNING, 200, 100)]
    assert one.situation == speed_situation(model, LOAD, "e", *BUILD)
    assert (one.decode_tps, one.prefill_tps) == (61.4, 250.0)
    assert (one.calculated_decode_tps, one.calculated_prefill_tps) == (40.0, 200.0)
    assert (one.depth, one.prompt_tokens, one.busy, one.mixed) == (200, 100, 0.1, True)
    assert one.bandwidths == {"host": 20.0}
    assert one.at > 1e9


def test_only_what_was_measured_is_compared(database, model):
    (one,) = recorded(database, model, Answered(5, 100, 105, 61.4, 250.0, by_engine=True, alone=True))
    assert (one.decode_tps, one.calculated_decode_tps) == (None, None)
    assert (one.prefill_tps, one.calculated_prefill_tps) == (250.0, 200.0)


def test_an_answer_of_which_nothing_is_calculated_is_kept(database, model):
    (one,) = recorded(database, model, calculate=lambda *_: Calculated())
    assert (one.decode_tps, one.calculated_decode_tps, one.calculated_prefill_tps) == (61.4, None, None)


def test_who_asked_to_hear_of_it_finds_it_kept(database, model):
    kept, found = SpeedObservations(database), []
    recorder = SpeedRecorder(kept, lambda *_: CALCULATED, lambda _: BUILD, cores=64)
    recorder.subscribe(lambda: found.append(len(kept.all())))
    recorder.answered(model, RUNNING, ANSWERED)
    recorder.answered(model, RUNNING, Answered(0, 0, 0, None, None, by_engine=True, alone=True))
    recorder.close()
    assert found == [1]


def test_an_engine_that_did_not_tell_its_devices_is_not_kept(database, model):
    assert recorded(database, model, build=lambda _: None) == ()


def test_for_an_answer_that_says_nothing_no_machine_is_looked_at(database, model):
    def build(_):
        raise AssertionError

    alone = Answered(200, 100, 300, 61.4, 250.0, by_engine=True, alone=False)
    assert recorded(database, model, alone, build=build) == ()


@pytest.mark.parametrize(
    ("fault", "level"), [(KeyError("x"), logging.ERROR), (BadFile("database.failed", path="x"), logging.INFO)]
)
def test_a_fault_is_logged_and_nothing_more(database, model, caplog, fault, level):
    def calculate(*_):
        raise fault

    caplog.set_level(logging.INFO)
    assert recorded(database, model, calculate=calculate) == ()
    assert [(one.levelno, "was not observed" in one.message) for one in caplog.records] == [(level, True)]
