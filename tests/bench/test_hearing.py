"""The events of one answer made into a turn."""

import pytest

from weighbridge.bench.hearing import Hearing
from weighbridge.chat.events import Delta, Done, Finish, PromptProgress, StreamFault, Timings, Usage


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


def heard(*events):
    """Each event a tenth of a second after the one before."""
    clock = Clock()
    hearing = Hearing(clock)
    for event in events:
        clock.now_s += 0.1
        hearing.take(event)
    return hearing


def test_an_answer_with_the_figures_of_its_engine():
    timings = Timings(prompt_n=30, cache_n=10, predicted_n=2, predicted_ms=50.0, prompt_tps=300.0, decode_tps=40.0)
    turn = heard(PromptProgress(40, 10, 40), Delta("Hel"), Delta("lo"), timings, Finish("stop"), Done()).turn(2, None)
    assert (turn.number, turn.text, turn.pieces, turn.finish) == (2, "Hello", ("Hel", "lo"), "stop")
    assert (turn.prompt_tokens, turn.cached_tokens, turn.output_tokens) == (40, 10, 2)
    assert (turn.decode_tps, turn.prompt_tps, turn.by_engine, turn.read_by_engine) == (40.0, 300.0, True, True)
    assert turn.ttft_ms == pytest.approx(200)
    assert (turn.busy, turn.alone, turn.answer_ms) == (None, None, None)


def test_an_answer_that_was_counted_here():
    turn = heard(Delta("a"), Delta(" b"), Delta(" c"), Usage(12, 3), Finish("length"), Done()).turn(1, None)
    assert (turn.by_engine, turn.prompt_tokens, turn.cached_tokens) == (False, 12, None)
    assert (turn.decode_tps, turn.output_tokens) == (pytest.approx(10.0), 3)
    assert (turn.prompt_tps, turn.read_by_engine) == (pytest.approx(120.0), False)  # 12 tokens until the first came


def test_zeros_of_an_engine_that_counts_nothing_are_unknown():
    turn = heard(Timings(prompt_n=0, cache_n=0), Delta("a"), Usage(0, 0), Finish("stop"), Done()).turn(1, None)
    assert (turn.prompt_tokens, turn.cached_tokens, turn.cached) == (None, None, None)


def test_the_first_token_of_an_answer_is_told_from_that_of_its_thinking():
    turn = heard(Delta(reasoning="hm"), Delta(reasoning="m"), Delta("so"), Finish("stop"), Done()).turn(1, None)
    assert (turn.reasoning, turn.text) == ("hmm", "so")
    assert (turn.ttft_ms, turn.answer_ms) == (pytest.approx(100), pytest.approx(300))


def test_how_an_answer_broke_off():
    fault = StreamFault("stream.interrupted")
    assert heard(Delta("a"), fault).fault is fault
