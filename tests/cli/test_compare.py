"""`weighbridge compare` over the echo engine, and once over a real one."""

import json
from dataclasses import replace

import pytest

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.bench.run import Bench
from weighbridge.bench.workload import names
from weighbridge.cli.compare_entries import Wanted, needs_bytes, wanted
from weighbridge.cli.main import run
from weighbridge.running import recording
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.echo import ENGINE

ECHOES = {"echo": ENGINE, "other": replace(ENGINE, id="other", title="Another echo")}


@pytest.fixture(autouse=True)
def unasked(here, monkeypatch):
    """No engine is asked what it can use, which takes a process for each."""
    monkeypatch.setattr(recording, "with_engines_here", lambda machine, devices: (machine, ()))


@pytest.fixture
def echo(home):
    """Puts a model into the library."""

    def make(name, **script):
        path = home / "data" / "models" / f"{name}.echo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tps": 0, **script}), encoding="utf-8")
        return path

    return make


def compared(capsys, *words):
    """The exit code, and the JSON that is printed."""
    code = run(["compare", *words, "--json"], catalogue)
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "ids", "expected"),
    [
        (["a:echo", "b"], [], [Wanted("a", ("echo",)), Wanted("b")]),
        (["llama3:8b", "llama3:8b:other"], [], [Wanted("llama3:8b"), Wanted("llama3:8b", ("other",))]),
        (["a", "b:echo"], ["echo", "other"], [Wanted("a", ("echo", "other")), Wanted("b", ("echo",))]),
        (["C:\\m\\a.gguf", ":echo"], [], [Wanted("C:\\m\\a.gguf"), Wanted(":echo")]),
    ],
)
def test_what_words_mean(words, ids, expected):
    assert wanted(words, ids, ECHOES) == tuple(expected)


def test_a_table_verdicts_answers_and_conditions(echo, capsys):
    echo("a", text="one two three")
    echo("b", text="one TWO three")
    assert run(["compare", "a", "b", "--turns", "1"], catalogue) == 0
    out, err = capsys.readouterr()
    assert "b beside a:" in out and "another answer from token 2 on (character 5)." in out
    assert "a:\n  one two three\n" in out
    assert "One request at a time" in out
    assert "a: Context 4,096" in out
    assert err.splitlines()[:3] == ["a: loading", "a: warming up", "a: turn 1 of 1"]


def test_as_json_with_a_failure_among_them(echo, tmp_path, capsys):
    echo("a")
    echo("bad", fail_at="load", fail_log=["no such thing"])
    asked = ("--prompt", "good morning", "--tokens", "5", "--turns", "2", "--report", str(tmp_path / "r.json"))
    code, told = compared(capsys, "bad", "a", *asked)
    assert code == 1
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == told
    bad, good = told["columns"]
    assert (bad["error"]["code"], bad["turns"], bad["error"]["log"][-1]) == ("engine.ended", [], "no such thing")
    assert [turn["text"] for turn in good["turns"]] == ["good morning"] * 2
    assert (told["workload"]["prompt"], told["workload"]["tokens"]) == ("good morning", 5)
    assert good["engine"]["engine_id"] == "echo"
    assert told["plan"] == {
        "turns": 2,
        "warm_up": True,
        "interleaved": False,
        "fresh": "asked",
        "sampling": "greedy",
        "seed": None,
    }


def test_one_model_by_several_engines_and_a_file_from_elsewhere(tmp_path, capsys):
    path = tmp_path / "stray.echo"
    path.write_text('{"tps": 0}', encoding="utf-8")
    code, told = compared(capsys, str(path), "--engines", "echo,llama_server", "--turns", "1", "--no-warm-up")
    able, unable = told["columns"]
    assert (code, able["name"], unable["name"]) == (1, "echo", "llama_server")
    assert unable["left_out"] is False
    assert (able["model"]["model_id"], able["engine"]["title"], len(able["turns"])) == ("stray", "Echo (for trials)", 1)
    assert unable["error"]["code"] == "engine.not_for_format"


def test_taking_turns_with_a_report(echo, tmp_path, capsys):
    echo("a")
    echo("b")
    report = tmp_path / "report.md"
    asked = ("--interleave", "--workload", "code", "--context", "512", "--turns", "2", "--no-warm-up")
    code, told = compared(capsys, "a", "b", *asked, "--report", str(report))
    assert (code, told["plan"]["interleaved"], told["workload"]["name"]) == (0, True, "code")
    assert [len(column["turns"]) for column in told["columns"]] == [2, 2]
    assert told["columns"][0]["settings"][0]["effective"] == 512
    assert report.read_text("utf-8").startswith("# Comparison\n")


def test_where_not_all_fit_at_once_they_go_one_by_one(echo, capsys, monkeypatch):
    monkeypatch.setattr("weighbridge.running.scales.available_bytes", lambda: 1)
    echo("a")
    code, told = compared(capsys, "a", "--interleave", "--turns", "1", "--no-warm-up", "--anyway")
    assert (code, told["plan"]["interleaved"]) == (0, False)
    assert told["cautions"][0]["code"] == "compare.no_room_for_all"


def test_ctrl_c_prints_what_is_done(echo, capsys, monkeypatch):
    echo("a", text="done")
    echo("b")
    answer = Bench._answer

    def interrupted(self, step, work, task):
        if work.entry.model.id == "b":
            raise KeyboardInterrupt
        return answer(self, step, work, task)

    monkeypatch.setattr(Bench, "_answer", interrupted)
    code, told = compared(capsys, "a", "b", "--turns", "1", "--no-warm-up")
    assert (code, told["stopped"]) == (130, True)
    assert [(len(column["turns"]), column["left_out"]) for column in told["columns"]] == [(1, False), (0, True)]


def test_speeds_of_turns_are_kept_as_those_of_run(echo, capsys, monkeypatch):
    monkeypatch.setattr(recording, "build_of", lambda told, engine_id: ("1", ("A Processor",)))
    echo("steady", tps=400)
    code, told = compared(capsys, "steady", "--prompt", "word " * 40, "--turns", "2", "--no-warm-up")
    assert code == 0
    database = Database(default_paths().database)
    kept = SpeedObservations(database).all()
    database.close()
    assert [one.decode_tps for one in reversed(kept)] == [turn["decode_tps"] for turn in told["columns"][0]["turns"]]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nope"], "model.unknown"),
        (["a", "--engines", "echo,nope"], "compare.engine"),
        (["a:nope"], "compare.engine"),
        (["a", "--workload", "nope"], "compare.workload"),
        (["a", "--prompt", " "], "compare.no_prompt"),
        (["a", "--prompt-file", "/nowhere/prompt.txt"], "file.unreadable"),
        (["a", "--report", "r.pdf"], "compare.report_kind"),
        (["a", "--report", "/nowhere/r.md"], "compare.report_folder"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_loaded(echo, capsys, words, code):
    echo("a", fail_at="load")
    status, told = compared(capsys, *words)
    assert (status, told["error"]["code"]) == (1, code)


@pytest.mark.parametrize("words", [[], ["a", "--turns", "0"], ["a", "--prompt", "x", "--workload", "code"]])
def test_words_that_the_command_does_not_know(words, capsys):
    assert run(["compare", *words], catalogue) == 2


def test_the_help_names_all_workloads(capsys):
    assert run(["compare", "--help"], catalogue) == 0
    shown = capsys.readouterr().out
    assert [name for name in names() if name not in shown] == []


def test_what_is_not_calculated_is_needed_by_the_size_of_its_files(echo):
    from weighbridge.bench.plan import Entry
    from weighbridge.library.recognise_path import recognise_path
    from weighbridge_engines.api import Load

    model = recognise_path(echo("a"))
    entry = Entry("a", model, Load(str(model.path)))
    assert needs_bytes([entry], lambda model, load: None) == [2 * model.size_bytes]
    assert needs_bytes([entry], lambda model, load: 77) == [77]


@pytest.mark.engine
def test_a_real_model_reads_its_prompt_anew_at_each_turn_and_answers_alike(smollm2, capsys):
    words = (f"{smollm2}:llama_server", "--tokens", "17", "--turns", "2", "--context", "512", "--no-warm-up")
    code, told = compared(capsys, *words)
    (column,) = told["columns"]
    assert (code, column["error"]) == (0, None)
    first, second = column["turns"]
    assert first["text"] == second["text"] != ""
    assert first["cached_tokens"] == second["cached_tokens"] == 0
    assert first["prompt_tokens"] == second["prompt_tokens"] > 20
    assert (first["output_tokens"], first["finish"], first["by_engine"]) == (17, "length", True)
    assert column["memory"]["peak_bytes"] >= column["memory"]["resident_bytes"] > 90 << 20
    assert 5 < column["model"]["bits_per_weight"] < 6
    assert column["load_ms"] > 0
