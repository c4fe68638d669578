"""What loads really took: kept, bounded, and read back whatever somebody did to it."""

import json
import os

import pytest

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import HOST, Estimate, Share, Term
from weighbridge.estimates.plan import Plan
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.library.model import Model
from weighbridge.running import observations
from weighbridge.running.devices import Told
from weighbridge.running.observations import Observation, Observations, Recorder, Situation, build_of, situation
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Device, Load

MIB = 1 << 20
BUILD = ("1", ("A Processor",))
LOAD = Load("m.gguf", context=4096)
ESTIMATE = Estimate(
    Plan(),
    (
        Share(HOST, {Term.WEIGHTS: 90 * MIB, Term.KV: 40 * MIB, Term.ENGINE: 150 * MIB}),
        Share("cuda0", {Term.WEIGHTS: 10 * MIB, Term.ENGINE: 320 * MIB}),
    ),
)


@pytest.fixture
def database(tmp_path):
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


def made(name="a", **changes):
    values = {
        "files": name,
        "architecture": "llama",
        "engine_id": "e",
        "version": "1",
        "devices": ("cpu",),
        "load": "{}",
    }
    told = {"Host": {Term.WEIGHTS: 92 * MIB}, "CUDA0": {Term.KV: MIB}}
    return Observation(Situation(**{**values, **changes}), told, 300 * MIB, {Term.WEIGHTS: 90, Term.KV: None}, 5.0)


def test_what_is_kept_is_read_back_newest_first(database):
    kept = Observations(database)
    for one in (made("a"), made("b", version=None), made("c", architecture=None)):
        kept.keep(one)
    assert kept.all() == (made("c", architecture=None), made("b", version=None), made("a"))


@pytest.mark.parametrize("version", ["1", None])
def test_a_newer_one_of_the_same_situation_takes_the_place_of_the_older(database, version):
    kept = Observations(database)
    older, newer = made(version=version), made(version=version)
    for one in (older, made("b"), newer):
        kept.keep(one)
    assert [one.situation.files for one in kept.all()] == ["a", "b"]


def test_their_number_is_bounded(database, monkeypatch):
    monkeypatch.setattr(observations, "MOST", 3)
    kept = Observations(database)
    for number in range(5):
        kept.keep(made(str(number)))
    assert [one.situation.files for one in kept.all()] == ["4", "3", "2"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("devices", "{"), ("told", "[]"), ("told", '{"Host": {"air": 1}}'), ("estimated", "5"), ("resident_bytes", "x")],
)
def test_a_damaged_row_is_no_observation(database, column, value):
    kept = Observations(database)
    kept.keep(made("a"))
    with database.transaction() as connection:
        connection.execute(f"UPDATE observations SET {column} = ?", (value,))
    kept.keep(made("b"))
    assert [one.situation.files for one in kept.all()] == ["b"]


@pytest.mark.parametrize(
    ("estimated", "bytes_"), [({}, None), ({Term.KV: None, Term.WEIGHTS: 5}, None), ({Term.KV: 2, Term.WEIGHTS: 5}, 7)]
)
def test_an_unknown_estimate_is_unknown(estimated, bytes_):
    assert Observation(made().situation, {}, 1, estimated).estimate_bytes == bytes_


def model(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"x" * 10)
    os.utime(path, (5, 5))
    info = ModelInfo("gguf", Kind.CHAT, architecture="llama")
    return Model("m", "M", path, (path,), "gguf", None, 10, info)


def running(**changes):
    held = {"Host": {"weights_bytes": 92 * MIB, "kv_bytes": 40 * MIB, "other_bytes": 1}}
    values = {"held": held, "memory_bytes": 250 * MIB, **changes}
    return Running("m", "M", "llama_server", State.READY, LOAD, **values)


def test_a_build_is_known_by_its_version_and_devices():
    devices = (
        Device("CUDA0", "RTX 3090", "gpu"),
        Device("CPU", "A Processor", "cpu"),
        Device("CUDA1", "RTX 3090", "gpu"),
    )
    told = [Told("other", "Other", "7", ()), Told("e", "E", "1", devices), Told("sick", "Sick", "1", None)]
    assert build_of(told, "e") == ("1", ("A Processor", "RTX 3090", "RTX 3090"))
    assert build_of(told, "sick") is None
    assert build_of(told, "absent") is None


def record(database, tmp_path, now=None, describe=lambda model, running: ESTIMATE, build=lambda engine_id: BUILD):
    kept = Observations(database)
    recorder = Recorder(kept, describe, build)
    recorder.loaded(model(tmp_path), now or running())
    recorder.close()
    recorder.loaded(model(tmp_path), running())  # closed in between
    return kept.all()


def test_a_load_that_is_ready_is_observed(database, tmp_path):
    (one,) = record(database, tmp_path)
    assert one.situation == situation(model(tmp_path), LOAD, "llama_server", *BUILD)
    assert one.situation.architecture == "llama"
    assert json.loads(one.situation.load)["context"] == 4096
    assert one.told == {"Host": {Term.WEIGHTS: 92 * MIB, Term.KV: 40 * MIB}}
    assert one.resident_bytes == 250 * MIB
    # What an engine takes of a card for itself is not measured, so it is not compared.
    assert one.estimate_bytes == (90 + 40 + 150 + 10) * MIB


def test_a_situation_is_the_same_for_other_names_and_threads_only(tmp_path):
    one = model(tmp_path)
    first = situation(one, Load("a", alias="b", threads=1, context=5), "e", *BUILD)
    assert situation(one, Load("c", alias="d", threads=2, context=5), "e", *BUILD) == first
    assert situation(one, Load("a", context=6), "e", *BUILD) != first
    one.path.write_bytes(b"other")
    assert situation(one, Load("a", context=5), "e", *BUILD) != first


@pytest.mark.parametrize(
    "changes",
    [
        {"now": running(memory_bytes=None)},
        {"now": running(held={})},
        {"build": lambda engine_id: None},
    ],
)
def test_what_cannot_be_told_is_not_observed(database, tmp_path, changes):
    assert record(database, tmp_path, **changes) == ()


def test_a_load_without_an_estimate_is_observed(database, tmp_path):
    (one,) = record(database, tmp_path, describe=lambda model, running: None)
    assert one.estimate_bytes is None


def test_a_fault_of_an_estimate_is_logged_and_nothing_more(database, tmp_path, caplog):
    def describe(model, running):
        raise KeyError("x")

    assert record(database, tmp_path, describe=describe) == ()
    assert "not observed" in caplog.text
