"""Keeping what loads really took and how fast answers were: the recorders over this machine's parts."""

import time
from dataclasses import replace
from datetime import date

import pytest
from tests.choices.made_surroundings import LOAD, loaded, machine, model, told
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import HOST, Term
from weighbridge.estimates.speed.speeds import speeds
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.hardware.measured import Measurements
from weighbridge.library.marks import Marks
from weighbridge.running import recording
from weighbridge.running.answered import Answered
from weighbridge.running.observations import Observations
from weighbridge.running.paces import paces_for, speed_tables
from weighbridge.running.places import places_for
from weighbridge.running.plans import plan_of
from weighbridge.running.recording import machine_recorders
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge_engines import api

TENSORS = (Tensor("output.weight", 2, (32, 32), 0, 576),)
TABLE = {"Host": {"weights_bytes": 3 * GIB, "kv_bytes": GIB}}


class Devices:
    """Counts how often the engines are asked."""

    def __init__(self, *answers):
        self.answers = answers
        self.builds = tuple(one.engine_id for one in answers)
        self.asked = 0

    def told(self, here):
        assert here.devices == ()
        self.asked += 1
        return self.answers


@pytest.fixture
def database(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "detect", machine)
    monkeypatch.setattr(recording, "read_in_full", lambda model: replace(model.info, tensors=TENSORS))
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


def recorded(database, devices, blueprint_of, *loads):
    recorders = machine_recorders(
        database, Marks(database), blueprint_of, devices, Measurements.within(database.path.parent)
    )
    try:
        for one in loads:
            recorders.loads.loaded(model(), one)
    finally:
        recorders.close()
    return Observations(database).all()


def test_a_load_is_kept_with_what_had_been_calculated_for_it(database):
    (one,) = recorded(database, Devices(told()), lambda _: made(), loaded(5, load=LOAD, held=TABLE))
    assert (one.situation.engine_id, one.situation.version) == ("llama_server", "1")
    assert one.situation.devices == ("A Processor",)
    assert one.resident_bytes == 5 * GIB
    assert one.told == {"Host": {Term.WEIGHTS: 3 * GIB, Term.KV: GIB}}
    assert one.estimated_bytes[Term.WEIGHTS] == 12 * GIB
    assert one.estimated_bytes[Term.KV] == 4096 * 10 * 4096


def test_the_engines_are_asked_once(database):
    devices = Devices(told())
    loads = [loaded(5, load=LOAD, held=TABLE), loaded(6, load=LOAD, held=TABLE)]
    (one,) = recorded(database, devices, lambda _: made(), *loads)
    assert (one.resident_bytes, devices.asked) == (6 * GIB, 1)


def test_what_lies_on_a_card_is_estimated_there(database, monkeypatch):
    card = api.Device("CUDA0", "RTX 3090", "gpu", 24 * GIB, 22 * GIB)
    seen = []
    monkeypatch.setattr(recording, "estimate", lambda blueprint, plan, places: seen.extend(places))
    load = loaded(5, load=LOAD, held=TABLE, engine_id="llama_server")
    recorded(database, Devices(told(card, engine_id="llama_server")), lambda _: made(), load)
    assert [place.name for place in seen] == ["", "RTX 3090"]


def test_a_load_is_estimated_as_the_engine_that_ran_it_loads(database, monkeypatch):
    seen = []
    monkeypatch.setattr(recording, "estimate", lambda blueprint, plan, places: seen.append(plan))
    load = loaded(5, load=LOAD, held=TABLE, engine_id="mlx")
    recorded(database, Devices(told(engine_id="mlx")), lambda _: made(), load)
    assert [(plan.engine, plan.batch) for plan in seen] == [("mlx", 2048)]


def test_a_model_of_which_nothing_is_known_is_kept_without_an_estimate(database):
    (one,) = recorded(database, Devices(told()), lambda _: None, loaded(5, held=TABLE))
    assert one.estimate_bytes is None


def test_an_engine_that_did_not_tell_its_devices_is_not_kept(database):
    assert recorded(database, Devices(), lambda _: made(), loaded(5, held=TABLE)) == ()


ANSWERED = Answered(200, 100, 1300, 2.5, 9.0, by_engine=True, alone=True)


def answered(database, blueprint_of, running, gbs=None):
    """What is kept of an answer, the memory's bandwidth having been measured meanwhile where `gbs` says so."""
    measurements = Measurements.within(database.path.parent)
    recorders = machine_recorders(database, Marks(database), blueprint_of, Devices(told()), measurements)
    try:
        if gbs is not None:
            measurements.keep(machine(), gbs, date(2026, 1, 2))
        recorders.speeds.answered(model(), running, ANSWERED)
    finally:
        recorders.close()
    return SpeedObservations(database).all()[0]


def test_an_answer_is_kept_with_what_was_calculated_from_the_bandwidth_measured_by_then(database):
    load = replace(LOAD, threads=4)
    one = answered(database, lambda _: made(), loaded(5, load=load), gbs=20.0)
    here = replace(machine(), bandwidth=Measurements.within(database.path.parent).of(machine()).memory)
    places = places_for(here, "llama_server")
    paces = paces_for(here, "llama_server", places, 4, speed_tables())
    expected = speeds(made(), plan_of(load, "llama_server"), places, paces, depth=1200)
    assert one.calculated_decode_tps == pytest.approx(expected.decode.mid_tps)
    # 11 GiB of weights, at no more than 20 GB/s.
    assert 1.0 < one.calculated_decode_tps < 20e9 / (11 * GIB)
    assert (one.bandwidths, one.depth, one.mixed) == ({HOST: 20.0}, 1200, False)
    assert (one.situation.version, one.situation.devices) == ("1", ("A Processor",))


def test_a_speed_is_calculated_by_the_full_header(database):
    asked = []
    answered(database, asked.append, loaded(5, load=LOAD))
    assert [one.info.tensors for one in asked] == [TENSORS]


def test_without_a_bandwidth_nothing_is_calculated(database):
    one = answered(database, lambda _: made(expert_bytes=GIB), loaded(5, load=LOAD))
    assert (one.decode_tps, one.calculated_decode_tps, one.bandwidths, one.mixed) == (2.5, None, {}, True)


def test_of_a_model_that_is_not_understood_only_what_was_measured_is_kept(database):
    one = answered(database, lambda _: None, loaded(5, load=LOAD), gbs=20.0)
    assert (one.decode_tps, one.calculated_decode_tps, one.bandwidths) == (2.5, None, {HOST: 20.0})


def test_the_machine_is_looked_at_once_for_both(database):
    devices = Devices(told())
    recorders = machine_recorders(
        database, Marks(database), lambda _: made(), devices, Measurements.within(database.path.parent)
    )
    try:
        recorders.loads.loaded(model(), loaded(5, load=LOAD, held=TABLE))
        recorders.speeds.answered(model(), loaded(5, load=LOAD), ANSWERED)
    finally:
        recorders.close()
    assert (len(Observations(database).all()), len(SpeedObservations(database).all()), devices.asked) == (1, 1, 1)


def test_a_build_that_has_come_into_use_is_asked(database):
    devices = Devices(told())
    recorders = machine_recorders(
        database, Marks(database), lambda _: made(), devices, Measurements.within(database.path.parent)
    )
    recorders.loads.loaded(model(), loaded(5, held=TABLE))
    while not Observations(database).all():
        time.sleep(0.01)
    devices.builds = ("llama_server-cuda13",)
    recorders.loads.loaded(model(), replace(loaded(6, held=TABLE), build="llama_server-cuda13"))
    recorders.close()
    assert devices.asked == 2
    assert len(Observations(database).all()) == 1  # one of each situation: both told the same devices


def test_a_load_by_a_build_that_is_not_in_use_any_more_is_not_kept(database):
    load = replace(loaded(5, held=TABLE), build="llama_server-cuda13")
    assert recorded(database, Devices(told()), lambda _: made(), load) == ()
