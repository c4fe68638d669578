"""How fast answers were: kept, bounded, read back whatever somebody did to it, and compared with like alone."""

import os
from dataclasses import replace

import pytest

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.speed.experience import Run
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.library.model import Model
from weighbridge.running import speed_observations
from weighbridge.running.observations import Situation
from weighbridge.running.speed_observations import (
    SpeedObservation,
    SpeedObservations,
    bandwidths_of,
    runs_of,
    speed_situation,
)
from weighbridge_engines.api import Load

NOW = Situation("a", "llama", "e", "1", ("cpu",), "load")
GBS = {HOST: 20.0}


@pytest.fixture
def database(tmp_path):
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


def made(files="a", tps=50.0, **changes):
    of_situation = {name: changes.pop(name) for name in list(changes) if hasattr(NOW, name)}
    one = SpeedObservation(
        replace(NOW, files=files, **of_situation), False, 1200, tps, 100, 250.0, 40.0, 200.0, 0.1, 5.0
    )
    return replace(one, **{"bandwidths": GBS, **changes})


def files_of(observations):
    return [one.situation.files for one in observations]


def test_what_is_kept_is_read_back_newest_first(database):
    kept = SpeedObservations(database)
    nothing = dict.fromkeys(("prompt_tokens", "prefill_tps", "calculated_prefill_tps", "busy", "calculated_decode_tps"))
    for one in (made("a"), made("b", mixed=True, version=None, architecture=None), made("c", bandwidths={}, **nothing)):
        kept.keep(one)
    assert kept.all() == (
        made("c", bandwidths={}, **nothing),
        made("b", mixed=True, version=None, architecture=None),
        made("a"),
    )


def test_each_answer_has_its_row(database):
    kept = SpeedObservations(database)
    for tps in (50.0, 50.0, 51.0):
        kept.keep(made(tps=tps))
    assert [one.decode_tps for one in kept.all()] == [51.0, 50.0, 50.0]


def test_their_number_is_bounded(database, monkeypatch):
    monkeypatch.setattr(speed_observations, "MOST", 3)
    kept = SpeedObservations(database)
    for number in range(5):
        kept.keep(made(str(number)))
    assert files_of(kept.all()) == ["4", "3", "2"]


def test_a_model_that_answers_all_day_leaves_the_runs_of_others_and_its_own_long_prompts(database, monkeypatch):
    monkeypatch.setattr(speed_observations, "MOST_OF_A_LOAD", 2)
    kept = SpeedObservations(database)
    kept.keep(made("other"))
    kept.keep(made(load="another", version=None))
    kept.keep(made(tps=None))
    for tps in (1.0, 2.0, 3.0, 4.0):
        kept.keep(made(tps=tps, prefill_tps=None))
    assert [(one.decode_tps, one.prefill_tps) for one in kept.all()] == [
        (4.0, None),
        (3.0, None),
        (None, 250.0),
        (50.0, 250.0),
        (50.0, 250.0),
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("devices", "{"),
        ("devices", "5"),
        ("bandwidths", "[]"),
        ("bandwidths", '{"host": -1}'),
        ("bandwidths", "[" * 100_000),
        ("decode_tps", "fast"),
        ("decode_tps", 0),
        ("calculated_prefill_tps", -3.0),
        ("prefill_tps", float("inf")),
        ("depth", "x"),
        ("prompt_tokens", "x"),
        ("busy", "x"),
        ("at", "x"),
    ],
)
def test_a_damaged_row_is_no_observation(database, column, value):
    kept = SpeedObservations(database)
    kept.keep(made("a"))
    with database.transaction() as connection:
        connection.execute(f"UPDATE speeds SET {column} = ?", (value,))
    kept.keep(made("b"))
    assert files_of(kept.all()) == ["b"]


def test_rows_of_another_formula_do_not_count(database, monkeypatch):
    kept = SpeedObservations(database)
    monkeypatch.setattr(speed_observations, "FORMULA", 7)
    kept.keep(made("old"))
    monkeypatch.setattr(speed_observations, "FORMULA", 8)
    kept.keep(made("new"))
    assert files_of(kept.all()) == ["new"]


def test_another_number_of_threads_is_another_load(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"x" * 10)
    os.utime(path, (5, 5))
    one = Model("m", "M", path, (path,), "gguf", None, 10, ModelInfo("gguf", Kind.CHAT, architecture="llama"))
    first = speed_situation(one, Load("a", alias="b", threads=1, context=5), "e", "1", ("cpu",))
    assert speed_situation(one, Load("c", alias="d", threads=1, context=5), "e", "1", ("cpu",)) == first
    assert speed_situation(one, Load("a", threads=1, context=99), "e", "1", ("cpu",)) == first
    assert speed_situation(one, Load("a", threads=2, context=5), "e", "1", ("cpu",)) != first
    assert first.architecture == "llama"


def test_a_calculation_rests_on_the_memory_and_the_cards_that_the_engine_sees():
    def card(name, engine, bandwidth):
        memory = Memory(MemoryKind.DEDICATED, None, None)
        return Device(name, "nvidia", name, memory, bandwidth=bandwidth, seen_by=(Sight(engine, "CUDA0"),))

    cards = (
        card("cuda0", "e", Bandwidth(900.0, 900.0, "")),
        card("cuda1", "e", None),
        card("cuda2", "other", Bandwidth(5.0, 5.0, "")),
    )
    machine = Machine("Linux", Cpu("A", 1, 1, 1), Memory(MemoryKind.SHARED, None, None), cards)
    assert bandwidths_of(machine, "e") == {"cuda0": 900.0}
    assert bandwidths_of(replace(machine, bandwidth=Bandwidth(20.0, 80.0, "")), "e") == {HOST: 40.0, "cuda0": 900.0}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"architecture": None}, True),
        ({"files": "b"}, False),
        ({"load": "other"}, False),
        ({"version": "2"}, False),
    ],
)
def test_a_run_is_of_the_same_where_files_load_and_version_are(changes, same):
    writing, reading = runs_of([made(mixed=True, **changes)], NOW, GBS)
    assert writing == (Run(50.0, 40.0, mixed=True, same=same),)
    assert reading == (Run(250.0, 200.0, mixed=True, same=same),)


@pytest.mark.parametrize(
    "changes",
    [
        {"engine_id": "other"},
        {"devices": ("cpu", "gpu")},
        {"bandwidths": {}},
        {"bandwidths": {HOST: 20.0, "cuda0": 900.0}},
        {"bandwidths": {HOST: 22.5}},
        {"bandwidths": {"cuda0": 20.0}},
    ],
)
def test_what_ran_on_or_was_calculated_with_something_else_says_nothing(changes):
    assert runs_of([made(**changes)], NOW, GBS) == ((), ())


def test_a_bandwidth_measured_again_is_never_quite_the_same():
    assert len(runs_of([made(bandwidths={HOST: 21.5}), made(bandwidths={HOST: 18.5})], NOW, GBS)[0]) == 2


def test_runs_of_writing_and_of_reading_are_told_apart():
    past = [made(tps=None), made(calculated_decode_tps=None), made(prefill_tps=None), made(calculated_prefill_tps=None)]
    writing, reading = runs_of(past, NOW, GBS)
    assert (len(writing), len(reading)) == (2, 2)


def test_others_count_to_a_number_and_own_runs_all_the_same():
    others = [made(f"m{number // 5}", tps=1.0 + number) for number in range(100)]
    own = [made(tps=200.0 + number) for number in range(6)]
    writing, _ = runs_of([*others, *own], NOW, GBS)
    # Three of each of six models, the newest, and two of a seventh.
    first = [1.0, 2.0, 3.0, 6.0, 7.0, 8.0, 11.0, 12.0, 13.0, 16.0, 17.0, 18.0, 21.0, 22.0, 23.0, 26.0, 27.0, 28.0]
    assert [run.measured_tps for run in writing if not run.same] == [*first, 31.0, 32.0]
    assert [run.measured_tps for run in writing if run.same] == [200.0, 201.0, 202.0, 203.0, 204.0, 205.0]
