"""What commands tell of a load that failed, or will not fit."""

import json
import sys
from dataclasses import replace

import pytest
from tests.cli.fitting import ENGINE

from weighbridge.base.units import THIN
from weighbridge.cli import diagnosis
from weighbridge.cli.main import run
from weighbridge_engines.catalogue import catalogue


@pytest.fixture
def parrot(home):
    def put(**script):
        path = home / "data" / "models" / "parrot.echo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tps": 0, **script}), encoding="utf-8")
        return path

    return put


def test_a_failed_load_says_what_can_be_done_with_commands(here, parrot, capsys):
    parrot(fail_at="load", fail_log=["tensor 'x' data is not within the file bounds, model is corrupted or incomplete"])
    assert run(["run", "parrot", "x"], catalogue) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "damaged or incomplete" in err
    assert "    weighbridge verify parrot" in err
    assert "is not within the file bounds" in err


def test_a_failed_load_as_json(here, parrot, capsys):
    parrot(fail_at="load", fail_how="crash", fail_log=["failed to allocate CPU buffer of size 4718592000"])
    assert run(["run", "parrot", "x", "--json"], catalogue) == 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert (told["code"], told["needed_bytes"]) == ("engine.memory_refused", 4718592000)
    assert told["log"][-1].startswith("failed to allocate")


def test_serve_ends_where_the_model_that_it_was_told_to_load_cannot_be_loaded(here, parrot, capsys):
    parrot(fail_at="load", fail_log=["unknown model architecture: 'brandnew9'"])
    assert run(["serve", "--model", "parrot", "--port", "0"], catalogue) == 1
    assert "brandnew9" in capsys.readouterr().err


def test_what_will_not_fit_is_a_choice_before_it_is_loaded(home, here, headed, capsys):
    here(free_gib=5.5, total_gib=8)
    path = headed("llama-3.1-8b")
    engines = {"llama_server": ENGINE}
    assert run(["run", path, "x", "--context", "131072"], lambda: engines) == 1
    err = capsys.readouterr().err.replace(THIN, " ")
    assert "of the system's memory as it would be loaded" in err
    assert "weighbridge run llama-3.1-8b --context" in err
    assert err.rstrip().endswith("add --anyway.")


def test_the_choice_as_json(home, here, headed, capsys):
    here(free_gib=5.5, total_gib=8)
    arguments = ["run", headed("llama-3.1-8b"), "x", "--context", "131072", "--json"]
    assert run(arguments, lambda: {"llama_server": ENGINE}) == 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["code"] == "load.does_not_fit"
    assert told["missing_bytes"] > 0
    assert told["fixes"][0]["kind"] == "load"


def test_anyway_is_anyway(home, here, headed, capsys):
    here(free_gib=5.5, total_gib=8)
    arguments = ["run", headed("llama-3.1-8b"), "x", "--context", "131072", "--anyway"]
    ends = replace(ENGINE, open=None, command=lambda load, port: [sys.executable, "-c", "raise SystemExit(3)"])
    assert run(arguments, lambda: {"llama_server": ends}) == 1
    err = capsys.readouterr().err
    assert "as it would be loaded" not in err
    assert "ended by itself with status 3" in err


def test_a_look_ahead_that_fails_stands_in_nobodys_way(known_devices, parrot, capsys, monkeypatch):
    def fails(engines):
        raise OSError("no such sensor")

    parrot()
    monkeypatch.setattr(diagnosis.looked_at, "surroundings", fails)
    assert run(["run", "parrot", "good morning"], catalogue) == 0
    assert capsys.readouterr().out == "good morning\n"
