"""`weighbridge doctor`, with and without a model."""

import json
import socket
from dataclasses import replace

import pytest

from weighbridge.cli.main import run
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

ECHO = catalogue()["echo"]
ALONE = {"echo": ECHO}


@pytest.fixture
def parrot(home):
    def put(**script):
        path = home / "data" / "models" / "parrot.echo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tps": 0, **script}), encoding="utf-8")

    return put


def doctor(capsys, *arguments, engines=ALONE):
    code = run(["doctor", *arguments, "--json"], lambda: engines)
    return code, json.loads(capsys.readouterr().out)


def of_area(told, area):
    return [one for one in told["checks"] if one["area"] == area]


def test_all_is_looked_at_and_nothing_is_made(home, capsys):
    code, told = doctor(capsys)
    assert code == 0
    assert {one["area"] for one in told["checks"]} >= {"folder", "settings", "database", "port"}
    assert not (home / "data").exists()


def test_without_any_engine_the_exit_code_is_one(home, capsys):
    absent = replace(catalogue()["llama_server"], missing=lambda: Cause("engine.not_installed"))
    code, told = doctor(capsys, engines={"echo": ECHO, "llama_server": absent})
    assert code == 1
    assert [one["cause"]["code"] for one in of_area(told, "engine")] == ["engine.none_installed"]


def test_a_port_that_is_not_free(home, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        (home / "config").mkdir(parents=True)
        (home / "config" / "settings.toml").write_text(f"port = {taken.getsockname()[1]}\n")
        code, told = doctor(capsys)
    [port] = of_area(told, "port")
    assert (code, port["state"], port["cause"]["code"]) == (0, "note", "port.not_free")


def test_a_database_that_is_none(home, capsys):
    (home / "data" / "weighbridge.sqlite3").mkdir(parents=True)
    code, told = doctor(capsys)
    assert code == 1
    assert of_area(told, "database")[0]["state"] == "wrong"


def test_a_trial_load_that_goes_well(parrot, capsys):
    parrot()
    code, told = doctor(capsys, "parrot")
    assert code == 0
    assert told["trial"]["loaded"] is True
    assert told["trial"]["memory_bytes"] > 0


def test_a_trial_load_that_fails_has_its_finding_and_its_report(parrot, capsys):
    parrot(fail_at="load", fail_log=["HF_TOKEN=hf_abcdefgh12345678", "unknown model architecture: 'brandnew9'"])
    code, told = doctor(capsys, "parrot")
    assert code == 1
    assert told["trial"]["finding"]["code"] == "engine.unknown_architecture"
    assert "code: engine.unknown_architecture" in told["trial"]["report"]
    assert "hf_abcdefgh" not in told["trial"]["report"]


def test_in_words(parrot, capsys):
    parrot(fail_at="load", fail_how="exit")
    assert run(["doctor", "parrot", "--report"], lambda: ALONE) == 1
    out = capsys.readouterr().out
    assert "well  Port" in out
    assert "ended by itself with status 1" in out
    assert "weighbridge run parrot" in out
    assert "code: engine.ended" in out
