"""A comparison in words, as JSON and as a page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bench.made import LONG, column, comparison, turn

from weighbridge.base.errors import EngineFailed
from weighbridge.base.units import THIN
from weighbridge.bench.plan import Fresh
from weighbridge.bench.report import as_json, as_markdown, fenced, json_text
from weighbridge.bench.result import Held, Subject
from weighbridge.bench.score import Sameness
from weighbridge.bench.words import (
    answers,
    comparison_in_words,
    conditions,
    figures,
    headline,
    held_in_words,
    limits,
    notes,
    sameness_in_words,
    settings,
)
from weighbridge.running.state import Setting


def plain(rows):
    """Cells with plain spaces."""
    return [tuple(cell.replace(THIN, " ") for cell in row) for row in rows]


SLOW = column(
    "b", [turn(LONG + "!", number, decode_tps=25.0, prompt_tps=440.0) for number in (1, 2)], held=Held(210 << 20)
)


def test_the_figures_of_each_that_answered():
    told = figures(comparison(column("a"), column("gone", [])))
    (row,) = plain(told.rows)
    assert row == (
        "a",
        "50.0 tok/s",
        "400.0 tok/s",
        "0.12 s",
        "0.90 s",
        "300.0 MiB",
        "310.0 MiB",
        "40",
        "20",
        "its end",
    )
    assert len(row) == len(told.head)


def test_a_range_and_the_sign_of_what_was_counted_here():
    turns = [turn(LONG, decode_tps=48.0, by_engine=False, finish="length"), turn(LONG, 2, decode_tps=52.0)]
    (row,) = plain(figures(comparison(column("a", turns))).rows)
    assert row[1] == "~50.0 tok/s (48.0 – 52.0)"
    assert row[-2:] == ("~20", "its end, the limit")


def test_the_conditions_of_all():
    padded = column("a", settings=(Setting("context", 4000, 4096, "setting.padded"), Setting("threads", 3, None)))
    rows = conditions(comparison(padded, column("gone", [], settings=(), runtime=None))).rows
    rows = plain(rows)
    assert rows[0][1:11] == (
        "gguf Q4_0",
        "135.0 M",
        "4.50",
        "100.0 MiB",
        "1.2",
        "llama_server",
        "CPU",
        "3 (asked)",
        "4,000 → 4,096",
        "1 %",
    )
    assert rows[1][5:11] == ("unknown", "", "unknown", "unknown", "unknown", "unknown")
    experts = replace(column("a").subject, parameters=30_500_000_000, active_parameters=3_300_000_000)
    on_card = column("a", subject=experts, held=Held(1 << 30, on_devices={"CUDA0": 4 << 30}))
    assert plain(conditions(comparison(on_card)).rows)[0][2:8:5] == ("30.5 B, 3.3 B active", "CUDA0")


def test_what_an_engine_says_that_it_computes_on_and_what_it_has_no_use_for():
    chosen = (Setting("threads", 3, None, "setting.not_of_engine"), Setting("device", None, "GPU.1"))
    (row,) = plain(conditions(comparison(column("a", settings=chosen))).rows)
    assert row[7:9] == ("GPU.1", "not used")


def test_all_settings_of_each_load():
    told = (Setting("context", 4000, 4096, "setting.padded"), Setting("flash_attention", None, True))
    (line,) = settings(comparison(column("a", settings=told), column("gone", [], settings=())))
    assert line == "a: Context 4,000 → 4,096, Flash attention on"
    assert line in as_markdown(comparison(column("a", settings=told)))


def test_verdicts_as_sentences():
    (said,) = comparison_in_words(comparison(column("a"), SLOW))
    assert said == (
        "b beside a: writes at 50 % of the speed, reads 1.10 times as fast, 30 % less memory, the same answer as far as"
        " the shorter goes (129 characters)."
    )
    (back,) = comparison_in_words(comparison(SLOW, column("a")))
    assert back.startswith("a beside b: writes 2.0 times as fast, reads at 91 % of the speed, 43 % more memory")
    (same,) = comparison_in_words(comparison(column("a"), column("b")))
    assert same == "b beside a: writes as fast, reads as fast, as much memory, the same answer."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Sameness(False, character=7), "another answer from character 8 on"),
        (Sameness(False, character=7, token=3), "another answer from token 3 on (character 8)"),
        (Sameness(False, spaces=True, character=7, token=3), "the same words with other spaces"),
        (Sameness(False, shorter=True, character=0, token=1), "one of the two answers is empty"),
    ],
)
def test_where_answers_part_in_words(answer, said):
    assert sameness_in_words(answer) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "asked to read the prompt anew"),
        ({"fresh": Fresh.PREFIXED}, "begins with a number of its own"),
        ({"fresh": Fresh.PREFIXED, "turns": 1}, "The prompt was new to each engine."),
        ({"interleaved": True}, "all loaded, in turns"),
        ({"warm_up": False}, "without a warm-up"),
    ],
)
def test_how_it_was_measured_is_said(changes, said):
    place, how = headline(comparison(column("a"), **changes))
    assert "A Processor, 4 cores, 16.0 GiB" in place.replace(THIN, " ")
    assert said in how


def test_failures_doubts_and_limits_are_noted():
    broken = column("c", [], error=EngineFailed("engine.crashed", ("last words",), engine="E", signal="SIGABRT"))
    left = column("d", [], left_out=True)
    failed, stopped, *_, last = notes(comparison(column("a"), broken, left))
    assert failed.startswith("c failed: E crashed")
    assert stopped == "Stopped before the end: d."
    assert last == limits()


def test_answers_are_told_once():
    told = answers(comparison(column("a"), column("b"), SLOW))
    assert told == ((("a", "b"), LONG), (("b",), LONG + "!"))


def test_memory_of_cards_stands_beside():
    told = held_in_words(Held(1 << 30, on_devices={"CUDA0": 2 << 30}))
    assert told.replace(THIN, " ") == "1.0 GiB + 2.0 GiB CUDA0"
    assert held_in_words(Held()) == "unknown"


def test_json_holds_all_and_is_stable():
    error = EngineFailed("engine.crashed", ("last words",), engine="E", signal="SIGABRT")
    told = json.loads(json_text(comparison(column("a"), SLOW, column("c", [], error=error))))
    assert list(told) == [
        "form",
        "weighbridge",
        "begun_at",
        "machine",
        "workload",
        "plan",
        "stopped",
        "columns",
        "verdicts",
        "cautions",
        "limits",
    ]
    assert (told["form"], told["begun_at"]) == (1, "2026-11-30T00:53:20+00:00")
    first, _, third = told["columns"]
    assert list(first) == [
        "name",
        "model",
        "engine",
        "settings",
        "load_ms",
        "memory",
        "figures",
        "turns",
        "error",
        "left_out",
    ]
    assert first["model"]["path"] == "/m/a.gguf"
    assert first["settings"][0] == {
        "name": "context",
        "requested": 4096,
        "effective": 4096,
        "reason": None,
        "differs": False,
    }
    assert first["figures"]["decode_tps"] == {"median": 50.0, "least": 50.0, "most": 50.0, "count": 2}
    assert first["turns"][1]["text"] == LONG
    assert third["figures"] is None
    assert (third["error"]["code"], third["error"]["log"]) == ("engine.crashed", ["last words"])
    (verdict,) = told["verdicts"]
    assert (verdict["column"], verdict["baseline"], verdict["writing"]["times"]) == ("b", "a", 0.5)


def test_unknown_is_null():
    bare = column("a", [turn(decode_tps=None, prompt_tokens=None, busy=None)], load_ms=None, held=Held(), runtime=None)
    told = as_json(comparison(bare))["columns"][0]
    assert (told["load_ms"], told["engine"], told["memory"]["resident_bytes"]) == (None, None, None)
    assert (told["figures"]["decode_tps"], told["turns"][0]["prompt_tokens"]) == (None, None)


def test_what_answers_from_elsewhere_has_neither_path_nor_size():
    told = comparison(column("a", subject=Subject("a", Path("/nowhere"), "endpoint", None, None, endpoint="A server")))
    assert conditions(told).rows[0][-1] == "A server"
    model = as_json(told)["columns"][0]["model"]
    assert (model["path"], model["size_bytes"], model["endpoint"]) == (None, None, "A server")


def test_a_page_takes_no_sign_of_a_name_or_an_answer_for_its_own():
    nasty = column("a|b *c*\n<d>", [turn("```\n# no\x1b head")])
    page = as_markdown(comparison(replace(nasty, name="a|b *c*\n<d>")))
    assert "a\\|b \\*c\\*\ufffd\\<d\\>" in page
    assert "````text\n```\n# no\ufffd head\n````" in page
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("#") and "no" not in line] == [
        "# Comparison",
        "## Conditions",
        "## Prompt",
        "## Answers",
    ]


def test_a_fence_is_longer_than_any_within():
    assert fenced("a ```` b") == "`````text\na ```` b\n`````"
    assert fenced("") == "```text\n\n```"
