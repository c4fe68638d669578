"""A load that stands still is told as such, and is never ended for it."""

from dataclasses import replace

from weighbridge.choices.load_words import still_in_words
from weighbridge.running.life import Life
from weighbridge.running.state import Running, State, goes_on
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

LOADING = Running("m", "M", "llama_server", State.LOADING, Load("m.gguf"), since_s=100.0, moved_s=110.0)


def test_time_without_a_sign_is_counted_from_the_last_one():
    assert LOADING.still_s(150.0) == 40.0
    assert replace(LOADING, moved_s=0.0).still_s(150.0) == 50.0


def test_what_does_not_load_does_not_stand_still():
    assert replace(LOADING, state=State.READY).still_s(1e6) is None


def test_it_is_said_after_a_while_and_not_before():
    assert still_in_words(LOADING, 139.0) == ""
    assert still_in_words(LOADING, 150.0).startswith("no sign for 40")


def test_a_stage_a_step_a_buffer_or_memory_is_a_sign():
    assert goes_on(LOADING, replace(LOADING, stage="weights"))
    assert goes_on(LOADING, replace(LOADING, steps=(1, 57)))
    assert goes_on(LOADING, replace(LOADING, buffers={"kv_bytes": 1}))
    assert goes_on(LOADING, replace(LOADING, memory_bytes=1 << 21))
    assert not goes_on(LOADING, replace(LOADING, memory_bytes=1000, pid=7))


def test_a_line_of_the_log_is_a_sign(echo, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("weighbridge.running.life.time.monotonic", lambda: now[0])
    life = Life(catalogue()["echo"], echo(), Load("m.echo"), lambda: None)
    now[0] = 140.0
    assert life.running.still_s(140.0) == 40.0
    life.hear([])
    assert life.running.still_s(140.0) == 40.0
    life.hear(["....."])
    assert life.running.still_s(140.0) == 0.0


def test_the_steps_of_a_load_are_no_more_once_it_is_ready(echo):
    engine = replace(catalogue()["echo"], report=lambda line: {"stage": "weights", "done": int(line), "total": 57})
    life = Life(engine, echo(), Load("m.echo"), lambda: None)
    life.hear(["12"])
    assert (life.running.stage, life.running.steps) == ("weights", (12, 57))
    life.become(State.READY, stage="ready")
    assert life.running.steps is None
    life.hear(["13"])
    assert (life.running.stage, life.running.steps) == ("ready", None)
