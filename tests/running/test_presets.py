from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import NotFound, Refused
from weighbridge.library.model import Model
from weighbridge.running.choose import Asked, Defaults, default_load
from weighbridge.running.load_settings import applied, command_line, differing, refusal
from weighbridge.running.presets import PresetLoads, Presets
from weighbridge_engines.api import Engine, Load
from weighbridge_engines.llama_settings import CONTROLS, checked


def engine(said=None):
    return Engine(
        id="llama_server",
        title="llama.cpp",
        formats=frozenset({"gguf"}),
        capabilities=frozenset(),
        install="-",
        missing=lambda: None,
        controls=CONTROLS,
        check=checked,
        said=said,
    )


def model(name="a"):
    path = Path(f"/models/{name}.gguf")
    return Model(name, name, path, (path,), "gguf", "Q4_0", 1)


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "weighbridge.sqlite3")
    yield made
    made.close()


@pytest.fixture
def presets(database):
    return Presets(database)


def test_a_preset_is_kept(database, presets):
    presets.save(model(), "  long   texts ", {"context": 8192, "split": (3, 1)})
    found = Presets(database).of(model())
    assert [(one.name, one.values, one.is_default) for one in found] == [
        ("long texts", {"context": 8192, "split": (3, 1)}, False)
    ]
    assert Presets(database).of(model("b")) == ()


def test_saving_again_takes_the_place_and_stays_the_default(presets):
    presets.save(model(), "one", {"context": 8192})
    presets.make_default(model(), "one")
    presets.save(model(), "one", {"context": 2048})
    assert presets.default(model()).values == {"context": 2048}


def test_one_preset_is_the_default(database, presets):
    for name in ("one", "two"):
        presets.save(model(), name, {})
        presets.make_default(model(), name)
    assert [one.is_default for one in Presets(database).of(model())] == [False, True]
    presets.make_default(model(), None)
    assert Presets(database).default(model()) is None


def test_renamed_and_removed(database, presets):
    presets.save(model(), "one", {"slots": 2})
    presets.save(model(), "two", {})
    presets.make_default(model(), "one")
    with pytest.raises(Refused, match=r"preset\.exists"):
        presets.rename(model(), "one", "two")
    presets.rename(model(), "one", "three")
    presets.remove(model(), "two")
    assert [(one.name, one.values, one.is_default) for one in Presets(database).of(model())] == [
        ("three", {"slots": 2}, True)
    ]
    with pytest.raises(NotFound, match=r"preset\.unknown"):
        presets.remove(model(), "one")


@pytest.mark.parametrize("name", ["", "  ", "x" * 61])
def test_a_name_that_cannot_be(presets, name):
    with pytest.raises(Refused, match=r"preset\.name"):
        presets.save(model(), name, {})


def test_listeners_hear_of_each_change(presets):
    heard = []
    leave = presets.subscribe(heard.append)
    presets.save(model(), "one", {})
    presets.make_default(model(), "one")
    leave()
    presets.remove(model(), "one")
    assert heard == [(model().path, "gguf")] * 2


def test_a_damaged_preset_asks_for_nothing(database, presets):
    presets.save(model(), "one", {"slots": 2})
    with database.transaction() as connection:
        connection.execute("UPDATE presets SET chosen = '[1'")
    assert Presets(database).of(model())[0].values == {}


def test_the_default_preset_is_taken_and_what_is_asked_goes_before_it(presets):
    presets.save(model(), "one", {"context": 8192, "threads": 2, "key_type": "q8_0", "temperature": 0.1})
    presets.make_default(model(), "one")
    in_preset = PresetLoads(presets, {"llama_server": engine()}).in_load
    load = default_load(model(), Defaults(8, in_preset=in_preset))
    assert (load.context, load.threads, load.key_type, load.sampling) == (8192, 2, "q8_0", {"temperature": 0.1})
    load = default_load(model(), Defaults(8, asked=Asked(context=512), in_preset=in_preset))
    assert (load.context, load.threads) == (512, 2)
    assert default_load(model("b"), Defaults(8, in_preset=in_preset)).threads == 7


def test_a_named_preset_goes_before_the_default(presets):
    presets.save(model(), "one", {"slots": 2})
    presets.save(model(), "two", {"slots": 4})
    presets.make_default(model(), "one")
    engines = {"llama_server": engine()}
    assert PresetLoads(presets, engines, {"a": "two"}).in_load(Load("a"), model()).slots == 4
    with pytest.raises(NotFound, match=r"preset\.unknown"):
        PresetLoads(presets, engines, {"a": "three"}).in_load(Load("a"), model())


def test_what_no_longer_is_valid_is_left_out_and_told():
    told = {"gone": 1, "context": 0, "slots": 3, "value_type": "q8_0", "flash_attention": False}
    made = applied(Load("a"), told, engine())
    assert (made.load.slots, made.load.context, made.load.value_type) == (3, None, None)
    assert [(one.code, one.values["name"]) for one in made.left_out] == [
        ("setting.unknown", "gone"),
        ("setting.range", "context"),
        ("setting.needs", "value_type"),
    ]
    assert refusal(made.load, engine()) is None


def test_what_is_asked_for_otherwise():
    base = Load("a", context=4096, threads=3, sampling={"seed": 1})
    asked = Load("a", context=8192, threads=3, extra={"thread_polling": 4})
    assert differing(asked, base, CONTROLS) == {"context": 8192, "seed": None, "thread_polling": 4}
    assert applied(base, differing(asked, base, CONTROLS), engine()).load == asked


def test_the_command_line_can_be_pasted():
    made = engine(said=lambda load: ["llama-server", "-m", f"/my models/{load.model}"])
    assert command_line(Load("a.gguf"), made) == "llama-server -m '/my models/a.gguf'"
    assert command_line(Load("a.gguf"), engine()) is None
