"""A real load against the table that the engine told of it before, and the observation that is made of it."""

from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.observations import Observations, Recorder
from weighbridge.running.sizing import Sizing, Table
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

MIB = 1 << 20
WAIT_S = 120
pytestmark = pytest.mark.engine


@pytest.fixture
def observed(smollm2, tmp_path):
    """Loads SmolLM2, tells what was observed and what the engine runs with, and ends it."""
    database = Database(tmp_path / "w.sqlite3")
    kept = Observations(database)
    recorder = Recorder(kept, lambda model, running: None, lambda engine_id: ("1", ("A Processor",)))
    supervisor = Supervisor(catalogue(), Defaults(cores=2), loaded=recorder.loaded)
    library = Library([smollm2.parent])
    library.scan()
    model = library.resolve("SmolLM2-135M-Instruct.Q4_1")

    def load(**values):
        made = Load(str(model.path), alias=model.id, threads=1, **values)
        running = supervisor.load(model, made).result(WAIT_S)
        supervisor.close()
        recorder.close()
        (one,) = kept.all()
        return made, running, one

    yield load
    supervisor.close()
    database.close()


@pytest.mark.parametrize(
    "values",
    [
        {"context": 2000, "batch": 64},
        {"context": 4096, "batch": 512, "micro_batch": 128, "slots": 4},
        {"context": 4096, "slots": 2, "unified": False, "key_type": "q8_0", "value_type": "q4_0"},
        {"context": 1024, "flash_attention": False, "mapped": False},
    ],
    ids=["plain", "slots", "cache types", "no flash attention"],
)
def test_a_load_takes_what_was_told_before(observed, smollm2, tmp_path, values):
    load, running, one = observed(**values)
    table = Sizing(catalogue(), tmp_path, lambda: None).table("llama_server", [Path(smollm2)], load)
    assert isinstance(table, Table)
    (row,) = table.rows
    told = {term.value: amount / MIB for term, amount in one.told["Host"].items()}
    assert row.model_bytes // MIB == int(told["weights"])
    assert row.context_bytes // MIB == int(told["kv"])
    assert row.compute_bytes // MIB == int(told["compute"])
    assert one.resident_bytes == running.memory_bytes
    settings = {setting.name: setting for setting in running.settings}
    for name in values:
        if name != "context":
            assert settings[name].effective == settings[name].requested, name
