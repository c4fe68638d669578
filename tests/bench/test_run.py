"""A plan carried out over the echo engine."""

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from weighbridge.base.errors import Cancelled, Refused
from weighbridge.base.task import Task
from weighbridge.bench.plan import Act

WAIT_S = 30


def test_each_is_loaded_measured_and_ended(bench, echo):
    made = bench(echo("a", text="the answer", load_s=0.2), echo("b", tps=200), turns=2)
    made.run(Task())
    first, second = made.columns
    assert [turn.text for turn in first.turns] == ["the answer"] * 2
    assert [turn.text for turn in second.turns] == ["one two three"] * 2
    assert [turn.number for turn in first.turns] == [1, 2]
    assert not first.left_out and first.error is None
    assert first.load_ms >= 200
    assert first.held.resident_bytes > 1 << 20
    assert first.held.peak_bytes >= first.held.resident_bytes
    assert first.held.peak_seen is (sys.platform not in ("linux", "win32"))
    assert (first.used("context"), first.runtime.engine_id, first.subject.format) == (4096, "echo", "echo")
    turn = second.turns[0]
    assert (turn.output_tokens, turn.prompt_tokens, turn.cached_tokens, turn.finish) == (3, 3, 0, "stop")
    assert turn.by_engine and turn.ttft_ms > 0 and turn.decode_tps > 0
    assert made.supervisor.running() == ()
    assert [step.act for step in made.told[:4]] == [Act.LOAD, Act.WARM_UP, Act.ASK, Act.ASK]


def test_the_warm_up_is_no_turn_and_its_speed_is_not_kept(bench, echo):
    kept = []

    @contextmanager
    def attend(model, reading):
        yield
        kept.append(reading())

    made = bench(echo("a"), turns=1, attend=attend)
    made.run(Task())
    warm, measured = kept
    assert warm is None
    assert measured.output_tokens == 3


def test_what_fails_says_why_and_the_others_go_on(bench, echo):
    refused = replace(echo("r"), refused=Refused("compare.no_prompt"))
    entries = (
        echo("load", fail_at="load"),
        echo("dies", text="a b c", fail_at="token", fail_after=2, fail_how="crash"),
        refused,
        echo("lives"),
    )
    made = bench(*entries, warm_up=False)
    made.run(Task())
    assert [column.error and column.error.code for column in made.columns] == [
        "engine.ended",
        "engine.crashed",
        "compare.no_prompt",
        None,
    ]
    assert [len(column.turns) for column in made.columns] == [0, 0, 0, 1]
    assert [step.act for step in made.told if step.entry == 2] == []  # nothing is begun or ended that was refused
    assert not any(column.left_out for column in made.columns)


def test_turns_before_a_failure_are_kept(bench, echo, tmp_path):
    entry = echo("a", text="fine")
    made = bench(entry, turns=3, warm_up=False)
    told = made.told

    def end_it(step):
        told.append(step)
        if step.turn == 2:
            made.supervisor.stop(entry.model.id).result(WAIT_S)
            entry.model.path.write_text("{", encoding="utf-8")

    made._around = replace(made._around, told=end_it)
    made.run(Task())
    (column,) = made.columns
    assert [turn.text for turn in column.turns] == ["fine"]
    assert column.error.code == "engine.bad_model_file"


def test_all_at_once_take_turns(bench, echo):
    made = bench(echo("a"), echo("b"), turns=2, interleaved=True, warm_up=False)
    seen = []
    made._around = replace(made._around, told=lambda step: seen.append((step, len(made.supervisor.running()))))
    made.run(Task())
    asked = [(step.entry, running) for step, running in seen if step.act is Act.ASK]
    assert asked == [(0, 2), (1, 2), (1, 2), (0, 2)]
    assert all(len(column.turns) == 2 and all(turn.alone for turn in column.turns) for column in made.columns)
    assert made.supervisor.running() == ()


def test_a_cancel_keeps_what_is_done(bench, echo):
    made = bench(echo("a"), echo("b", text="x " * 60, tps=5), echo("c"), warm_up=False)
    task = Task()

    def cancel_amid_b():
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s and not any(step.entry == 1 and step.act is Act.ASK for step in made.told):
            time.sleep(0.02)
        task.cancel()

    canceller = threading.Thread(target=cancel_amid_b)
    canceller.start()
    with pytest.raises(Cancelled):
        made.run(task)
    canceller.join()
    assert [(len(column.turns), column.left_out) for column in made.columns] == [(1, False), (0, True), (0, True)]


def test_the_same_model_twice_is_two_columns(bench, echo):
    made = bench(echo("a"), echo("a"), interleaved=True, warm_up=False)
    made.run(Task())
    assert [column.name for column in made.columns] == ["a", "a #2"]
    assert [column.subject.model_id for column in made.columns] == ["a", "a"]
    assert [column.turns[0].text for column in made.columns] == ["one two three"] * 2
