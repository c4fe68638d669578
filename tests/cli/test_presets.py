"""`weighbridge presets`, and `--preset` of `fit`, `run` and `serve`."""

import json

import pytest
from tests.cli.fitting import CASES, FILE_BYTES
from tests.running.test_presets import engine

from weighbridge.cli.main import run


@pytest.fixture
def model(home, here):
    """A model of the library with its whole length and no weights."""
    path = home / "data" / "models" / "a.gguf"
    path.parent.mkdir(parents=True)
    head = sorted(CASES.glob("*.gguf.head"))[0]
    path.write_bytes(head.read_bytes())
    with path.open("r+b") as file:
        file.truncate(FILE_BYTES[head.name])
    return path


def engines():
    return {"llama_server": engine()}


def test_kept_listed_made_the_default_and_forgotten(model, capsys):
    assert run(["presets"], engines) == 0
    assert capsys.readouterr().out == "There are no presets.\n"
    values = ["context=8192", "key_type=q8_0", "flash_attention=on", "temperature=0.2"]
    assert run(["presets", "set", "a", "small", *values], engines) == 0
    assert run(["presets", "default", "a", "small"], engines) == 0
    run(["presets", "ls", "a"], engines)
    line = capsys.readouterr().out.splitlines()[1].split("  ")
    assert line == ["a", "    small (default)", "context=8192 key_type=q8_0 flash_attention=on temperature=0.2"] or (
        " ".join(line).split()[:3] == ["a", "small", "(default)"]
    )
    run(["presets", "ls", "--json"], engines)
    told = json.loads(capsys.readouterr().out)
    assert told == [
        {
            "id": "a",
            "preset": "small",
            "default": True,
            "settings": {"context": 8192, "key_type": "q8_0", "flash_attention": True, "temperature": 0.2},
        }
    ]
    assert run(["presets", "rm", "a", "small"], engines) == 0
    assert run(["presets", "rm", "a", "small"], engines) == 1
    assert "has no preset called small" in capsys.readouterr().err


def test_each_word_tells_as_json_what_the_model_has_now(model, capsys):
    def told(*words):
        assert run(["presets", *words, "--json"], engines) == 0
        return [(one["preset"], one["default"], one["settings"]) for one in json.loads(capsys.readouterr().out)]

    assert told("set", "a", "two", "slots=2") == [("two", False, {"slots": 2})]
    assert told("default", "a", "two") == [("two", True, {"slots": 2})]
    assert told() == told("ls", "a") == [("two", True, {"slots": 2})]
    assert told("rm", "a", "two") == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("context=0", "Context cannot be 0. It goes from 2 to"),
        ("colour=red", "There is no setting called colour."),
        ("threads=many", "Threads cannot be many."),
    ],
)
def test_a_wrong_value_is_refused_with_its_range(model, capsys, value, said):
    assert run(["presets", "set", "a", "wrong", value], engines) == 1
    assert said in capsys.readouterr().err


def weighed(capsys, *options):
    assert run(["fit", "a", "--json", *options], engines) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_fit_weighs_as_the_preset_says(model, capsys):
    plain, _ = weighed(capsys)
    run(["presets", "set", "a", "long", "context=2048", "slots=2"], engines)
    named, told = weighed(capsys, "--preset", "long")
    assert (named["plan"]["context"], named["plan"]["slots"], told) == (2048, 2, "")
    assert weighed(capsys)[0]["plan"] == plain["plan"]
    run(["presets", "default", "a", "long"], engines)
    assert weighed(capsys)[0]["plan"]["slots"] == 2
    assert weighed(capsys, "--slots", "3")[0]["plan"]["slots"] == 3


def test_a_preset_that_is_not_there(model, capsys):
    assert run(["fit", "a", "--preset", "none"], engines) == 1
    assert "has no preset called none" in capsys.readouterr().err
    assert run(["run", "a", "Hello", "--preset", "none"], engines) == 1
    assert "has no preset called none" in capsys.readouterr().err
    assert run(["serve", "--preset", "none"], engines) == 1
    assert "--preset means nothing without --model" in capsys.readouterr().err


def test_what_of_a_preset_is_not_used_is_told(home, model, capsys):
    from weighbridge.base.database import Database
    from weighbridge.library.recognise_path import recognise_path
    from weighbridge.running.presets import Presets

    database = Database(home / "data" / "weighbridge.sqlite3")
    Presets(database).save(recognise_path(model), "old", {"gone": 1, "slots": 2})
    database.close()
    found, told = weighed(capsys, "--preset", "old")
    assert found["plan"]["slots"] == 2
    assert told.startswith("There is no setting called gone.")
