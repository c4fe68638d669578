"""`weighbridge run` over the echo engine."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.library.made_folders import put_plain

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.cli import progress
from weighbridge.cli.main import run
from weighbridge.running import recording
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.echo import EchoSession, Script
from weighbridge_engines.installed import is_installed

pytestmark = pytest.mark.usefixtures("known_devices")


@pytest.fixture
def parrot(home):
    """A model that is in the library."""
    return echo(home / "data" / "models" / "parrot.echo")


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self):
        return True


def echo(path, **script):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tps": 0, **script}), encoding="utf-8")
    return path


def test_the_answer_on_stdout_and_its_speed_on_stderr(parrot, capsys):
    assert run(["run", "Parrot", "good morning"], catalogue) == 0
    out, err = capsys.readouterr()
    assert out == "good morning\n"
    assert err.startswith("2 tokens at ")


def test_the_prompt_may_come_from_stdin(parrot, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("from the pipe"))
    assert run(["run", "parrot"], catalogue) == 0
    assert capsys.readouterr().out == "from the pipe\n"


def test_as_json_with_a_limit(parrot, capsys):
    assert run(["run", "parrot", "a b c d", "--max-tokens", "2", "--json"], catalogue) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["text"], answer["output_tokens"], answer["fault"]) == ("a b", 2, None)
    assert answer["model"] == "parrot"


def test_how_far_the_load_is_stands_on_a_terminal(home, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PERIOD_S", 0.01)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    echo(home / "data" / "models" / "slow.echo", load_s=0.6)
    assert run(["run", "slow", "x"], catalogue) == 0
    assert capsys.readouterr().out == "x\n"
    assert "Starting the engine · " in terminal.getvalue()
    assert "\r\x1b[K1 token at " in terminal.getvalue()


def test_a_file_outside_of_the_library(tmp_path, capsys):
    path = echo(tmp_path / "elsewhere" / "stray.echo", text="found")
    assert run(["run", str(path), "x"], catalogue) == 0
    assert capsys.readouterr().out == "found\n"


def test_a_folder_outside_of_the_library_and_a_program_of_the_user(home, tmp_path, capsys):
    folder = tmp_path / "elsewhere" / "tiny"
    folder.mkdir(parents=True)
    put_plain(folder)
    described = default_paths().described_programs
    described.parent.mkdir(parents=True, exist_ok=True)
    entry = f'[[program]]\nid = "mine"\ntitle = "Mine"\nformats = ["safetensors"]\nprogram = "{sys.executable}"\n'
    described.write_text(entry + 'argv = ["-m", "my.server", "{model}", "--port", "{port}"]\n')
    assert run(["run", str(folder), "--show-command"], catalogue) == 0
    assert capsys.readouterr().out == f"{sys.executable} -m my.server {folder} --port 8000\n"


def test_the_engine_that_is_named_is_the_one_whose_settings_and_command_count(home, tmp_path, capsys):
    put_plain(tmp_path)
    described = default_paths().described_programs
    described.parent.mkdir(parents=True, exist_ok=True)
    head = '[[program]]\ntitle = "X"\nformats = ["safetensors"]\nargv = ["{model}", "{port}"]\n'
    option = '[[program.option]]\nname = "own"\nkind = "whole"\noption = "--own"\n'
    entries = [f'{head}id = "{name}"\nprogram = "{sys.executable}"\n' for name in ("first", "second")]
    described.write_text(entries[0] + entries[1] + option)
    asked = ["run", str(tmp_path), "--show-command", "--set", "own=3"]
    assert run([*asked, "--engine", "second"], catalogue) == 0
    assert capsys.readouterr().out == f"{sys.executable} {tmp_path} 8000 --own 3\n"
    assert run([*asked, "--engine", "first"], catalogue) == 1


@pytest.mark.skipif(not is_installed("onnxruntime_genai"), reason="onnxruntime-genai is not installed")
def test_a_folder_of_another_engine_is_loaded_with_what_that_engine_takes(home, capsys):
    folder = str(Path(__file__).parents[1] / "data" / "onnx_tiny")
    assert run(["run", folder, "Hi", "--max-tokens", "3", "--threads", "1", "--json"], catalogue) == 0
    assert json.loads(capsys.readouterr().out)["output_tokens"] == 3
    assert run(["run", folder, "Hi", "--gpu-layers", "3"], catalogue) == 1
    assert "gpu_layers" in capsys.readouterr().err


def test_the_time_to_the_first_token_is_without_the_load(home, capsys):
    echo(home / "data" / "models" / "slow.echo", load_s=1.0)
    assert run(["run", "slow", "x", "--json"], catalogue) == 0
    assert json.loads(capsys.readouterr().out)["ttft_ms"] < 1000


def test_how_fast_the_answer_was_is_kept(home, capsys, monkeypatch):
    monkeypatch.setattr(recording, "build_of", lambda told, engine_id: ("1", ("A Processor",)))
    echo(home / "data" / "models" / "steady.echo", tps=400)
    assert run(["run", "steady", "word " * 40, "--json"], catalogue) == 0
    shown = json.loads(capsys.readouterr().out)
    database = Database(default_paths().database)
    (one,) = SpeedObservations(database).all()
    database.close()
    assert one.decode_tps == shown["decode_tps"]
    assert one.depth == shown["context_used"] - shown["output_tokens"] // 2


def test_without_a_database_there_is_an_answer_all_the_same(parrot, home, capsys):
    default_paths().database.mkdir(parents=True)
    assert run(["run", "parrot", "good morning"], catalogue) == 0
    assert capsys.readouterr().out == "good morning\n"


def test_an_unknown_model(parrot, capsys):
    assert run(["run", "nope", "x"], catalogue) == 1
    assert "parrot" in capsys.readouterr().err


def test_a_prompt_longer_than_the_context(parrot, capsys):
    assert run(["run", "parrot", "a b c d e", "--context", "3", "--json"], catalogue) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["prompt_tokens"], error["context"]) == ("context.exceeded", 5, 3)


def test_an_engine_that_dies_amid_its_answer(home, capsys):
    echo(home / "data" / "models" / "mortal.echo", text="a b c", fail_at="token", fail_after=2, fail_how="crash")
    assert run(["run", "mortal", "x"], catalogue) == 1
    out, err = capsys.readouterr()
    assert out.startswith("a b")
    assert "broke off" in err
    assert "crashed (SIGABRT)" in err


@pytest.mark.parametrize("context", ["0", "-1", "x"])
def test_a_context_that_makes_no_sense(parrot, capsys, context):
    assert run(["run", "parrot", "x", "--context", context], catalogue) == 2
    assert f"{context} is not a whole number from 1 up" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["~nobody-of-this-name/x", "a" * 5000, "", "/"])
def test_names_that_are_no_paths(parrot, capsys, name):
    assert run(["run", name, "x"], catalogue) == 1
    assert "parrot" in capsys.readouterr().err


def test_a_prompt_of_any_bytes(parrot, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\xff b\x00"), encoding="utf-8"))
    assert run(["run", "parrot"], catalogue) == 0
    assert run(["run", "parrot", "c\udcff"], catalogue) == 0
    assert capsys.readouterr().out == "a\ufffd b\x00\nc\ufffd\n"


def test_closed_streams(parrot, monkeypatch):
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}", None)
    assert run(["run", "parrot"], catalogue) == 0


@pytest.mark.parametrize("option", ["--temperature=nan", "--top-p=inf", "--max-tokens=0", "--max-tokens=-5"])
def test_numbers_that_mean_nothing(parrot, capsys, option):
    assert run(["run", "parrot", "x", option], catalogue) == 2
    assert option.partition("=")[2] in capsys.readouterr().err


def test_the_engines_own_words_for_an_answer_that_broke_off(home, capsys):
    echo(home / "data" / "models" / "weak.echo", text="a b", repeat=9, fail_at="token", fail_how="error", fail_after=5)
    assert run(["run", "weak", "x"], catalogue) == 1
    assert "echo was told to fail" in capsys.readouterr().err


def test_an_engine_that_is_none_or_cannot_be_hosted_here(parrot, capsys):
    assert run(["run", "parrot", "x", "--engine", "llama_cpp", "--json"], catalogue) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "engine.not_for_format"
    assert run(["run", "parrot", "x", "--in-process", "--json"], catalogue) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "engine.not_in_process"


def test_an_engine_that_is_named_and_one_that_is_hosted_here(parrot, capsys):
    def hosted(load, say, stopped):
        say("echo: context = 64, slots = 1")
        return EchoSession(Script(text="from here", tps=0), 64)

    engines = {"echo": replace(catalogue()["echo"], open_here=hosted)}
    assert run(["run", "parrot", "said", "--engine", "echo"], lambda: engines) == 0
    assert capsys.readouterr().out == "said\n"
    assert run(["run", "parrot", "said", "--in-process"], lambda: engines) == 0
    assert capsys.readouterr().out == "from here\n"
