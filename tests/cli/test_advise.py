"""`weighbridge advise`: the questions with their answers, and the advice, in words and as JSON."""

import json
from dataclasses import replace

import pytest
from tests.cli.fitting import CARD, ENGINE
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.units import THIN
from weighbridge.choices.advice.questions import QUESTIONS
from weighbridge.cli.main import run


def advise(*arguments):
    return run(["advise", *arguments], lambda: {"llama_server": ENGINE})


def said(capsys, *arguments):
    assert advise(*arguments) == 0
    return capsys.readouterr().out


def told(capsys, *arguments):
    return json.loads(said(capsys, *arguments, "--json"))


def answer(values, name):
    return next(one for question in values["questions"] for one in question["answers"] if one["name"] == name)


def test_it_prints_ten_questions_with_answers_and_the_advice(here, home, capsys):
    out = said(capsys).replace(THIN, " ")
    lines = out.splitlines()
    assert [line[:3] for line in lines if "?" in line[:70]][:10] == [f"{number:2}." for number in range(1, 11)]
    assert "    No card: the processor (A Processor, 32.0 GiB)" in lines
    assert "    Context: 4,096 tokens (from the settings)" in lines
    for title in ("Hardware", "Engine", "Format", "Quantisation", "Settings"):
        assert title in lines
    assert lines[lines.index("Engine") + 1] == "  llama.cpp"


@pytest.mark.parametrize(
    "options",
    [
        ["--gpu", "RTX 3090", "--gpus", "2", "--users", "16", "--context", "65536", "--sharing", "agents"],
        ["--gpu", "H100 SXM5 80 GB", "--gpus", "8", "--purpose", "fleet", "--link", "rdma"],
        ["--gpu", "M4 Max 40-core", "--kind", "moe", "--needs", "tools", "--needs", "vision"],
        ["--needs", "adapters"],
    ],
)
def test_nothing_but_a_command_is_wider_than_80_columns(here, home, capsys, options):
    lines = said(capsys, *options).splitlines()
    wide = [line for line in lines if len(line) > 80 and not line.startswith(("    $ ", "For "))]
    assert wide == []
    assert not [line for line in lines if "None" in line]


def test_an_answer_that_is_told_is_no_longer_prefilled(here, home, capsys):
    values = told(capsys, "--users", "8", "--goal", "throughput", "--needs", "tools", "--needs", "vision")
    assert (answer(values, "users")["value"], answer(values, "users")["prefilled"]) == (8, 1)
    assert answer(values, "goal")["value"] == "throughput"
    assert answer(values, "needs")["value"] == ["tools", "vision"]


def test_json_holds_codes_values_words_and_actions(here, home, capsys):
    here(replace(CARD, seen_by=(), compute_capability="8.6"))
    values = told(capsys)
    assert len(values["questions"]) == len(QUESTIONS)
    assert values["hardware"]["what"]["values"]["capability"] == "8.6"
    seen = next(one for one in values["engines"] if one["id"] == "llama_server")
    assert (seen["standing"], seen["action"]["build"]) == ("ready", "llama_server-cuda13")
    assert seen["action"]["command"] == "weighbridge engines install llama_server-cuda13"
    assert values["quant"]["why"][0]["values"]["room_bytes"] > 0
    assert {one["standing"] for one in values["engines"]} <= {"ready", "to_install", "to_attach", "impossible"}
    assert all(reason["message"] for one in values["engines"] for reason in (*one["why"], *one["against"]))


def test_a_model_of_the_library_is_weighed_and_its_command_is_there(here, home, capsys):
    path = home / "data" / "models" / "tiny.Q8_0.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(gguf(LLAMA))
    values = told(capsys)
    assert values["model"]["action"]["command"].startswith("weighbridge run tiny.Q8_0 --engine llama_server")
    assert values["model"]["action"]["load"]["context"] == 4096
    assert told(capsys, "--no-library")["model"] is None


def test_another_machine(here, home, capsys):
    out = said(capsys, "--gpu", "RTX 4090").replace(THIN, " ")
    assert out.startswith("For NVIDIA GeForce RTX 4090 and 32.0 GiB of memory, with the CUDA build:")
    assert "NVIDIA GeForce RTX 4090, 24.0 GiB, 1,010 GB/s, compute capability 8.9" in out


def test_a_described_machine_and_another_kind_do_not_go_together(here, home, capsys):
    assert advise("--gpu", "RTX 4090", "--hardware", "apple") == 1
    assert "--hardware" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--users", "0"], ["--users", "x"], ["--context", "1"], ["--goal", "fame"]])
def test_answers_that_make_no_sense(here, home, capsys, options):
    assert advise(*options) == 2
    assert options[0] in capsys.readouterr().err


def test_a_kind_of_machine_that_is_not_here(here, home, capsys):
    values = told(capsys, "--hardware", "apple")
    assert values["hardware"]["what"]["values"]["bytes"] is None
    assert (answer(values, "room")["value"], answer(values, "hardware")["prefilled"]) == ("unified", "processor")
    assert advise("--help") == 0
    assert "Hardware." not in capsys.readouterr().out
