import json
import os
import subprocess
import sys

import pytest

from weighbridge import __main__, __version__
from weighbridge.base.errors import Cancelled, EngineFailed, NotFound
from weighbridge.cli import main


class Command:
    """A command that does what a test says."""

    def __init__(self, act):
        self.act = act

    def add(self, subparsers):
        parser = subparsers.add_parser("act")
        parser.add_argument("--json", action="store_true")
        parser.set_defaults(run=self.act)


def run_act(monkeypatch, act, *options):
    monkeypatch.setattr(main, "COMMANDS", (Command(act),))
    return main.run(["act", *options], dict)


def fail(arguments):
    raise NotFound("model.unknown", name="x", served=["a", "b"])


def interrupt(arguments):
    raise KeyboardInterrupt


def cancel(arguments):
    raise Cancelled


def test_an_error_is_told_in_words_on_stderr(monkeypatch, capsys):
    assert run_act(monkeypatch, fail) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("There is no model x here. There is: a, b.")


def test_an_error_is_told_as_json(monkeypatch, capsys):
    assert run_act(monkeypatch, fail, "--json") == 1
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert (error["code"], error["name"], error["served"]) == ("model.unknown", "x", ["a", "b"])
    assert error["message"].startswith("There is no model x")
    assert err == ""


@pytest.mark.parametrize("act", [interrupt, cancel])
def test_an_interruption_is_no_error(monkeypatch, capsys, act):
    assert run_act(monkeypatch, act) == 130
    assert capsys.readouterr() == ("", "Stopped.\n")


def test_an_interruption_before_a_command_runs_leaves_no_trace(monkeypatch, capsys):
    def read_in(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["weighbridge", "ls"])
    monkeypatch.setattr(main, "run", read_in)
    assert __main__.main() == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["ls", "--nonsense"], ["--language", "xx", "ls"]])
def test_a_command_that_makes_no_sense_ends_with_2(argv, capsys):
    assert main.run(argv, dict) == 2
    assert "usage: weighbridge" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["fit"], ["engines", "install"], ["presets", "set"]])
def test_the_help_of_a_command_says_what_it_does(command, capsys):
    assert main.run([*command, "--help"], dict) == 0
    alone = capsys.readouterr().out
    assert main.run([*command[:-1], "--help"], dict) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(f"    {command[-1]} "))
    assert f"\n\n{line.removeprefix(f'    {command[-1]} ').strip()}\n\n" in alone


def test_the_version(capsys):
    assert main.run(["--version"], dict) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("command", ["hardware", "ls"])
def test_a_command_brings_nothing_heavy(command, home):
    code = f"""
import sys
from weighbridge.cli.main import run
run([{command!r}, "--json"], dict)
heavy = {{"PySide6", "uvicorn", "starlette", "huggingface_hub", "httpx2", "xllamacpp", "numpy"}}
sys.exit(",".join(heavy & {{name.partition(".")[0] for name in sys.modules}}) or 0)
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stderr) == (0, "")


def test_a_reader_that_goes_away_is_no_traceback(home):
    code = "import sys; from weighbridge.cli.main import run; sys.exit(run(['ls', '--json'], dict))"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    with child.stderr:
        assert child.stderr.read() == b""
    assert child.wait(60) == 1


def test_names_that_the_terminal_lacks_are_no_error(home):
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    (folder / "модель.gguf").write_bytes(b"")
    code = "import sys; from weighbridge.cli.main import run; sys.exit(run(['ls'], dict))"
    child = subprocess.run(
        [sys.executable, "-c", code],
        env={"WEIGHBRIDGE_HOME": str(home), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert child.returncode == 0
    assert b"??????" in child.stdout


def test_the_last_lines_of_an_engine_are_told(monkeypatch, capsys):
    def act(arguments):
        raise EngineFailed("engine.ended", ("first \x1b[2J", "last"), engine="Echo", exit_code=3)

    assert run_act(monkeypatch, act) == 1
    assert capsys.readouterr().err.endswith("  first \ufffd[2J\n  last\n")
    assert run_act(monkeypatch, act, "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["log"] == ["first \x1b[2J", "last"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux")  # noqa: PTH110
def test_a_full_disk_is_told_without_a_trace(home):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "weighbridge", "ls"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=30)
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
