"""Keeping what loads really took: the recorder over this machine's parts."""

import pytest
from tests.choices.made_surroundings import LOAD, loaded, machine, model, told
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import Term
from weighbridge.hardware.measured import Measurements
from weighbridge.running import recording
from weighbridge.running.observations import Observations
from weighbridge.running.recording import machine_recorders
from weighbridge_engines import api

TABLE = {"Host": {"weights_bytes": 3 * GIB, "kv_bytes": GIB}}


class Devices:
    """Counts how often the engines are asked."""

    def __init__(self, *answers):
        self.answers = answers
        self.asked = 0

    def told(self, here):
        assert here.devices == ()
        self.asked += 1
        return self.answers


@pytest.fixture
def database(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "detect", machine)
    one = Database(tmp_path / "w.sqlite3")
    yield one
    one.close()


def recorded(database, devices, blueprint_of, *loads):
    recorders = machine_recorders(database, blueprint_of, devices, Measurements.within(database.path.parent))
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
