from itertools import pairwise

import pytest

from weighbridge.chat.meter import Meter, Reading, guess_tokens
from weighbridge.chat.stream import Delta, Done, PromptProgress, StreamFault, Timings, Usage


class Clock:
    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def written(meter, clock, pieces, every_s):
    """Feed `pieces`, one each `every_s`; the first comes at once."""
    for number, piece in enumerate(pieces):
        if number:
            clock.now_s += every_s
        meter.feed(piece)


@pytest.mark.parametrize("kind", ["text", "reasoning"])
def test_the_wait_for_the_first_token_is_no_part_of_the_speed(kind):
    clock = Clock()
    meter = Meter(clock)
    clock.now_s += 15
    written(meter, clock, [Delta(**{kind: " word"})] * 43, 1 / 26)
    reading = meter.reading()
    assert reading.decode_tps == pytest.approx(26)
    assert reading.now_tps == pytest.approx(26)
    assert reading.ttft_ms == pytest.approx(15_000)
    assert (reading.output_tokens, reading.source) == (43, "counted")


def test_several_tokens_a_piece_are_counted_as_tokens():
    clock = Clock()
    meter = Meter(clock)
    clock.now_s += 2
    written(meter, clock, [Delta(" the quick fox")] * 21, 0.1)
    assert meter.reading().decode_tps == pytest.approx(30)
    meter.feed(Usage(prompt_tokens=7, completion_tokens=84))
    meter.feed(Done())
    reading = meter.reading()
    assert (reading.output_tokens, reading.context_used) == (84, 91)
    assert reading.decode_tps == pytest.approx(84 * (20 / 21) / 2)


def test_pieces_that_come_in_a_heap_have_no_speed():
    clock = Clock()
    meter = Meter(clock)
    clock.now_s += 3
    written(meter, clock, [Delta(" word")] * 40, 0.0001)
    meter.feed(Usage(prompt_tokens=7, completion_tokens=44))
    meter.feed(Done())
    reading = meter.reading()
    assert (reading.decode_tps, reading.now_tps, reading.output_tokens) == (None, None, 44)
    assert reading.ttft_ms == pytest.approx(3_000)


def test_the_engines_figures_are_preferred():
    clock = Clock()
    meter = Meter(clock)
    meter.feed(PromptProgress(total=50, cache=10, processed=30, time_ms=100))
    assert meter.reading() == Reading(
        source="counted", prompt_progress=(30, 50), prompt_tps=200.0, context_used=30, prompt_read=20, output_tokens=0
    )
    clock.now_s += 0.5
    for number in range(1, 31):
        clock.now_s += 0.1
        meter.feed(Delta("three tokens each"))
        meter.feed(Timings(40, 10, 160.0, number * 3, number * 60.0, 250.0, 49.0))
    reading = meter.reading()
    assert reading.source == "engine"
    assert reading.now_tps == pytest.approx(50)
    assert (reading.decode_tps, reading.prompt_tps) == (49.0, 250.0)
    assert (reading.output_tokens, reading.context_used, reading.prompt_read) == (90, 140, 40)
    assert reading.ttft_ms == pytest.approx(600)


def test_the_speed_now_follows_a_change():
    clock = Clock()
    meter = Meter(clock)
    written(meter, clock, [Delta("a")] * 100, 0.01)
    assert meter.reading().now_tps == pytest.approx(100)
    written(meter, clock, [Delta("a")] * 30, 0.1)
    assert meter.reading().now_tps == pytest.approx(10)


def test_a_slow_engine_has_a_speed_and_a_silent_one_sinks():
    clock = Clock()
    meter = Meter(clock)
    written(meter, clock, [Delta("a")] * 4, 4.0)
    assert meter.reading().now_tps == pytest.approx(0.25)
    clock.now_s += 20
    assert meter.reading().now_tps == pytest.approx(0.05)


@pytest.mark.parametrize("end", [Done(), StreamFault("stream.interrupted")])
def test_the_reading_stands_after_the_end(end):
    clock = Clock()
    meter = Meter(clock)
    written(meter, clock, [Delta("a")] * 11, 0.1)
    meter.feed(end)
    before = meter.reading()
    clock.now_s += 60
    assert meter.reading() == before
    assert before.now_tps == pytest.approx(10)


def test_nothing_is_known_before_anything_came():
    assert Meter(Clock()).reading() == Reading(source="counted")


def test_one_token_has_no_speed():
    clock = Clock()
    meter = Meter(clock)
    clock.now_s += 1
    meter.feed(Delta("a"))
    assert meter.reading().decode_tps is None
    meter.feed(Timings(prompt_n=4, predicted_n=1, predicted_ms=0.001, decode_tps=1_000_000.0))
    assert (meter.reading().decode_tps, meter.reading().now_tps) == (None, None)


def test_timings_that_come_only_at_the_end_replace_the_count():
    clock = Clock()
    meter = Meter(clock)
    written(meter, clock, [Delta("a")] * 5, 0.1)
    meter.feed(Timings(prompt_n=4, predicted_n=12, predicted_ms=400.0, decode_tps=30.0))
    assert meter.reading().output_tokens == 12
    assert meter.reading().decode_tps == 30.0


def test_pieces_stand_for_at_least_one_token():
    assert [guess_tokens(Delta(text)) for text in ("", "ing", " word", "();", "\n\n", " a b c")] == [1, 1, 1, 1, 1, 3]


def test_progress_and_output_never_go_back():
    clock = Clock()
    meter = Meter(clock)
    seen = []
    for number in range(1, 20):
        meter.feed(Timings(prompt_n=4, predicted_n=number, predicted_ms=number * 10.0))
        seen.append(meter.reading().output_tokens)
    assert all(later > earlier for earlier, later in pairwise(seen))
