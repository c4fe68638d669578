"""A speed and what it rests on, in words."""

from dataclasses import replace

import pytest
from tests.choices.made_speeds import FAST_RTX, TABLES, here, weighed
from tests.choices.test_speeds import READ_BYTES
from tests.estimates.made_blueprints import GIB
from tests.estimates.speed.made_paces import pace

from weighbridge.base.units import THIN
from weighbridge.choices.speed_words import (
    basis_of_decode_in_words,
    basis_of_prefill_in_words,
    figures_in_words,
    first_token_in_words,
    speed_in_words,
    why_unknown_in_words,
)
from weighbridge.choices.speeds import Speedometer, speeds_of
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.speed.decode import decode
from weighbridge.estimates.speed.speed import Speed, SpeedBasis
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.estimates.speed.work import Work
from weighbridge.hardware.described import GIVEN
from weighbridge.hardware.machine import Bandwidth, Memory, MemoryKind


def plain(said):
    return said.replace(THIN, " ")


def decode_basis(surroundings, known=None):
    known = known or speeds_of(weighed(surroundings), surroundings, TABLES).decode
    return [plain(line) for line in basis_of_decode_in_words(known, surroundings.machine)]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (58.2, 66.4, "58 – 66 tok/s"),
        (2447.2, 6264.4, "2,447 – 6,264 tok/s"),
        (9.6, 10.4, "9.6 – 10.4 tok/s"),
        (0.87, 1.46, "0.87 – 1.46 tok/s"),
        (0.004, 0.0061, "0.0040 – 0.0061 tok/s"),
        (60.1, 60.3, "60 tok/s"),
    ],
)
def test_a_range(low, high, said):
    known = Speed(low, (low + high) / 2, high, 1024)
    assert plain(speed_in_words(known)) == said
    assert f"{figures_in_words(known)} tok/s" == said


def test_what_was_measured_is_one_figure():
    known = Speed(60.0, 61.44, 63.0, 1024, SpeedBasis.MEASURED, runs=1)
    assert plain(speed_in_words(known)) == "61.4 tok/s measured"
    assert figures_in_words(known) == "61.4 measured"


def test_unknown_is_a_word_and_no_0():
    assert speed_in_words(None) == "unknown"
    assert first_token_in_words(Speeds(), 512) == "unknown"


@pytest.mark.parametrize(
    ("prompt", "said"), [(20, "0.27 – 0.33 s"), (200, "1.9 – 2.3 s"), (2000, "18 – 22 s"), (0, "0.09 – 0.11 s")]
)
def test_until_the_first_token(prompt, said):
    known = Speeds(Speed(9, 10, 11, 0), Speed(90, 100, 110, 0))
    assert plain(first_token_in_words(known, prompt)) == said


def test_what_a_speed_on_a_processor_rests_on():
    token_s = 0.010 + READ_BYTES / 50e9 + 41_943_040 / 100e9
    assert decode_basis(here()) == [
        "Writing with 1,024 tokens in the cache: calculated.",
        "A Processor: 100 GB/s of bandwidth, measured here on 2026-11-30.",
        "For each token 2.1 GB of weights are read at 50 % of it (42.9 ms). "
        "Of the cache 42 MB are read at 100 % of it (419 µs).",
        "Starting 10 layers takes 1,000 µs each (10.0 ms).",
        "Constants of cpu, measured: 3 measurements (runs of a test); within 25 %.",
        f"That is {token_s * 1e3:.1f} ms a token, {1 / token_s:.0f} tok/s.",
        "Two of three times it is 15 – 23 tok/s.",
    ]


def test_what_one_on_a_card_rests_on():
    lines = decode_basis(here(FAST_RTX))
    assert lines[1] == "NVIDIA GeForce RTX 3090: 1,000 GB/s of bandwidth, published (its maker)."
    assert "Constants of cuda, ada: made; within 25 %." in lines
    assert not [line for line in lines if line.startswith("Starting")]  # these cost nothing to start


def test_a_figure_that_was_described_is_not_called_published():
    told = here(replace(FAST_RTX, bandwidth=Bandwidth(900.0, 900.0, GIVEN)))
    assert "900 GB/s of bandwidth, as described." in decode_basis(told)[1]


def test_a_name_that_stands_for_several_products_has_a_range():
    wide = here(replace(FAST_RTX, bandwidth=Bandwidth(300.0, 600.0, "two makers")))
    assert "300 to 600 GB/s of bandwidth, published (two makers)." in decode_basis(wide)[1]


def test_each_place_is_told_by_itself():
    small = replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 2 * GIB, int(1.9 * GIB)))
    lines = decode_basis(here(small))
    assert [line.split(":")[0] for line in lines if "of bandwidth" in line] == [
        "A Processor",
        "NVIDIA GeForce RTX 3090",
    ]


def test_where_threads_compute_longer_than_memory_is_read_that_is_told():
    slow = replace(pace(HOST, 100.0), parameters_per_s=1e9)
    known = decode([Work(HOST, 0, 0, 10**9, 0, parameters=2e9)], {HOST: slow}, 0)
    (said,) = [line for line in decode_basis(here(), known) if line.startswith("For each token")]
    assert said.startswith("For each token 1.0 GB of weights are read at 100 % of it (10.0 ms). ")
    assert said.endswith("Its threads take longer to compute with them: 2.00 s.")


def test_runs_are_counted():
    known = speeds_of(weighed(here()), here(), TABLES).decode
    corrected = replace(known.times(1.2, 0.1), basis=SpeedBasis.CORRECTED, runs=3)
    lines = decode_basis(here(), corrected)
    assert lines[0].endswith("in the cache: calculated, and put right by 3 runs on this machine.")
    assert lines[-2] == "Runs on this machine make it 22 tok/s."
    measured = replace(known.times(1.2, 0.1), basis=SpeedBasis.MEASURED, runs=1)
    assert decode_basis(here(), measured)[0].endswith("in the cache: measured in 1 run here.")


def test_what_the_speed_of_a_prompt_rests_on():
    on_card = here(FAST_RTX)
    known = speeds_of(weighed(on_card), on_card, TABLES).prefill
    lines = [plain(line) for line in basis_of_prefill_in_words(known, 512)]
    assert lines[0] == "Reading a prompt of 512 tokens: calculated."
    assert lines[1].startswith(
        "NVIDIA GeForce RTX 3090: 36 TFLOPS in half precision, published; a prompt reaches 1.00 times that; "
    )
    assert lines[2] == "Constants of cuda, ada: made; within 50 %."


def test_a_card_computes_what_lies_in_ram_too():
    small = here(replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 2 * GIB, int(1.9 * GIB))))
    known = speeds_of(weighed(small), small, TABLES).prefill
    lines = [plain(line) for line in basis_of_prefill_in_words(known, 512)]
    assert lines[1].startswith("NVIDIA GeForce RTX 3090 computes what lies in RAM too, copied for each batch: ")
    assert len([line for line in lines if line.startswith("Constants")]) == 1


def test_vectors_of_a_processor():
    known = here()
    able = replace(known, machine=replace(known.machine, cpu=replace(known.machine.cpu, extensions=("AVX2",))))
    lines = basis_of_prefill_in_words(speeds_of(weighed(able), able, TABLES).prefill, 512)
    assert plain(lines[1]).startswith("A Processor: its threads reach 0.45 TFLOPS in a prompt; ")


def test_unknown_says_why_and_what_to_do():
    cause = Speedometer(here(bandwidth=None), TABLES).why_unknown(weighed(here(bandwidth=None)))
    said = why_unknown_in_words(cause)
    assert said.startswith("Speed unknown. The bandwidth of the memory of this machine has not been measured.")
    assert "weighbridge hardware --measure" in said
    odd = here(replace(FAST_RTX, name="Foo 9000", bandwidth=None))
    said = why_unknown_in_words(Speedometer(odd, TABLES).why_unknown(weighed(odd)))
    assert said.startswith("Speed unknown. The bandwidth of Foo 9000 is not known. Measure it")
