"""`weighbridge fit`: how fast a model will be, on this machine or on one that is described."""

from datetime import date
from pathlib import Path

import pytest
from tests.choices.made_surroundings import machine
from tests.cli.fitting import fit, said, told
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.cli.surroundings import surroundings
from weighbridge.hardware import detect as detected
from weighbridge.hardware.machine import Bandwidth
from weighbridge.hardware.measured import Measurements
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.speed_observations import SpeedObservation, SpeedObservations, speed_situation
from weighbridge_engines.api import Load

MEASURED = Bandwidth(50.0, 50.0, "", "2026-11-30")


@pytest.fixture
def measured(here):
    """A machine whose memory was measured, with a processor of which something is known."""
    here(bandwidth=MEASURED, extensions=("AVX2",))


def test_a_range_with_all_that_it_rests_on(measured, headed, capsys):
    answer = told(capsys, headed("qwen3-8b"), "--threads", "16")
    speed = answer["decode_tps"]
    assert speed["low"] < speed["mid"] < speed["high"]
    basis, (place,) = speed["basis"], speed["basis"]["places"]
    assert (basis["kind"], basis["runs"], basis["depth"]) == ("calculated", 0, 1024)
    assert place["bandwidth_gbs"] == {"low_gbs": 50, "high_gbs": 50, "source": "", "measured_on": "2026-11-30"}
    assert (place["device"], place["layers"], place["cache_bytes"]) == ("A Processor", 36, 1024 * 147_456)
    row = place["constants"]
    reading_s = place["weight_bytes"] / (50e9 * row["streaming"]) + place["cache_bytes"] / (
        50e9 * row["cache_streaming"]
    )
    assert place["seconds"] == pytest.approx(36e-6 * row["layer_us"] + reading_s)
    assert speed["mid"] == pytest.approx(1 / place["seconds"])
    assert 4.0e9 < place["weight_bytes"] < answer["model"]["size_bytes"]  # all but the table of the input


def test_the_first_token_of_a_prompt(measured, headed, capsys):
    answer = told(capsys, headed("qwen3-8b"))
    reading, writing = answer["prefill_tps"]["mid"], answer["decode_tps"]["mid"]
    assert (answer["prompt"], answer["speed_problem"], answer["changes"]) == (512, None, [])
    assert answer["ttft_s"] == pytest.approx(512 / reading + 1 / writing)
    assert answer["ttft_range_s"]["low"] < answer["ttft_s"] < answer["ttft_range_s"]["high"]
    longer = told(capsys, headed("qwen3-8b"), "--prompt", "2048")
    assert longer["prompt"] == 2048
    assert longer["ttft_s"] > 4 * answer["ttft_s"]


def test_a_fuller_cache_is_slower(measured, headed, capsys):
    depths = ("0", "4096", "16384")
    answers = [told(capsys, headed("qwen3-8b"), "--context", "16384", "--depth", depth) for depth in depths]
    speeds = [answer["decode_tps"] for answer in answers]
    assert [speed["basis"]["depth"] for speed in speeds] == [0, 4096, 16384]
    assert speeds[0]["mid"] > speeds[1]["mid"] > speeds[2]["mid"]
    assert speeds[2]["basis"]["places"][0]["cache_bytes"] == 16384 * 147_456


def test_fewer_threads_are_slower(measured, headed, capsys):
    few, many = (told(capsys, headed("qwen3-8b"), "--threads", count)["decode_tps"]["mid"] for count in ("1", "16"))
    assert few < many


def test_in_words(measured, headed, capsys):
    out = said(capsys, headed("qwen3-8b"), "--threads", "16")
    lines = out.splitlines()
    writing = next(number for number, line in enumerate(lines) if line.startswith("Writes "))
    assert lines[writing].endswith(" tok/s.")
    assert " – " in lines[writing]
    assert lines[writing + 2] == "  A Processor: 50 GB/s of bandwidth, measured here on 2026-11-30."
    assert "Of the cache 151 MB are read at " in lines[writing + 3]
    assert "the first token of an answer to 512 tokens comes after " in out
    assert "What does it" not in out
    assert lines[-1] == "Run by: llama.cpp"


def test_unknown_is_told_with_what_to_do(here, headed, capsys):
    answer = told(capsys, headed("qwen3-8b"))
    assert (answer["decode_tps"], answer["prefill_tps"], answer["ttft_s"]) == (None, None, None)
    assert answer["speed_problem"]["code"] == "speed.no_ram_bandwidth"
    assert "weighbridge hardware --measure" in said(capsys, headed("qwen3-8b"))


def test_a_card_is_described_by_name(here, headed, capsys):
    path = headed("qwen3-8b")
    answer = told(capsys, path, "--gpu", "RTX 4090", "--ram", "32")
    (place,) = answer["decode_tps"]["basis"]["places"]
    assert (answer["verdict"], place["device"]) == ("fits", "NVIDIA GeForce RTX 4090")
    assert place["bandwidth_gbs"]["low_gbs"] == pytest.approx(1008, rel=0.01)
    assert place["constants"]["api"] == "cuda"
    assert 100 < answer["decode_tps"]["mid"] < 180
    assert answer["prefill_tps"]["mid"] > 1000
    out = said(capsys, path, "--gpu", "RTX 4090", "--ram", "32")
    assert "For NVIDIA GeForce RTX 4090 and 32.0 GiB of memory, with the CUDA build:" in out
    assert "1,010 GB/s of bandwidth, published (" in out


def test_several_cards(here, headed, capsys):
    answer = told(capsys, headed("llama-3.3-70b"), "--gpu", "RTX 3090", "--gpus", "2", "--ram", "64")
    assert answer["verdict"] in ("fits", "tight")
    assert [place["device"] for place in answer["decode_tps"]["basis"]["places"]] == ["NVIDIA GeForce RTX 3090"] * 2
    out = said(capsys, headed("llama-3.3-70b"), "--gpu", "RTX 3090", "--gpus", "2", "--ram", "64")
    assert "NVIDIA GeForce RTX 3090 (1), bytes" in out and "NVIDIA GeForce RTX 3090 (2), bytes" in out


def test_a_laptop_card_is_slower_than_the_one_of_its_name(here, headed, capsys):
    path = headed("qwen3-8b")
    laptop, desktop = (told(capsys, path, "--gpu", name)["decode_tps"] for name in ("RTX 4090 Laptop GPU", "RTX 4090"))
    assert laptop["basis"]["places"][0]["bandwidth_gbs"]["low_gbs"] == 576
    assert laptop["mid"] < 0.75 * desktop["mid"]


def test_a_card_that_nobody_knows(here, headed, capsys):
    assert fit(headed("qwen3-8b"), "--gpu", "Foo 9000") == 1
    assert "Foo 9000" in capsys.readouterr().err


def test_one_of_which_only_the_memory_is_told_fits_and_has_no_speed(here, headed, tmp_path, capsys):
    file = tmp_path / "machine.json"
    file.write_text('{"ram_gib": 32, "gpus": [{"name": "Foo 9000", "memory_gib": 24}]}')
    answer = told(capsys, headed("qwen3-8b"), "--machine", str(file))
    assert (answer["verdict"], answer["decode_tps"]) == ("fits", None)
    assert answer["speed_problem"]["device"] == "Foo 9000"
    assert "The bandwidth of Foo 9000 is not known." in said(capsys, headed("qwen3-8b"), "--machine", str(file))


def test_a_described_bandwidth_counts(here, headed, tmp_path, capsys):
    file = tmp_path / "machine.json"
    file.write_text('{"ram_gib": 32, "memory_gbs": 80, "cpu": {"cores": 32, "extensions": ["AVX2"]}}')
    (place,) = told(capsys, headed("qwen3-8b"), "--machine", str(file))["decode_tps"]["basis"]["places"]
    assert place["bandwidth_gbs"]["low_gbs"] == 80
    assert "80 GB/s of bandwidth, as described." in said(capsys, headed("qwen3-8b"), "--machine", str(file))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--gpus", "2"), "--gpus means nothing without --gpu"),
        (("--machine", "m.json", "--gpu", "RTX 4090"), "--machine and --gpu do not go together"),
        (("--machine", "m.json", "--ram", "8"), "--machine and --ram do not go together"),
        (("--exact", "--ram", "8"), "do not go together"),
        (("--machine", "not-here.json"), "not-here.json could not be read"),
        (("--ram", "0.25"), "ram_gib is 0.25; it may be 0.5 to 16384"),
    ],
)
def test_descriptions_that_make_no_sense(here, headed, capsys, arguments, words):
    assert fit(headed("qwen3-8b"), *arguments) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("--want", "0"), ("--want", "nan"), ("--want", "fast"), ("--depth", "-1"), ("--prompt", "0"), ("--ram", "x")],
)
def test_figures_that_make_no_sense(here, headed, capsys, arguments):
    assert fit(headed("qwen3-8b"), *arguments) == 2
    assert arguments[0] in capsys.readouterr().err


def test_a_machine_file_that_is_no_text(here, headed, tmp_path, capsys):
    file = tmp_path / "machine.json"
    file.write_bytes(b"\xff\xfe")
    assert fit(headed("qwen3-8b"), "--machine", str(file)) == 1
    assert "is no JSON object" in capsys.readouterr().err


def test_what_would_make_it_fit_the_cheapest_first(here, headed, capsys):
    here(free_gib=9, total_gib=16, bandwidth=MEASURED)
    path = headed("qwen3-8b")
    answer = told(capsys, path, "--context", "40960")
    assert (answer["verdict"], answer["decode_tps"], answer["speed_problem"]["code"]) == (
        "no", None, "speed.does_not_fit",
    )  # fmt: skip
    assert [change["kind"] for change in answer["changes"]] == ["settings", "memory", "card"]
    first, memory, card = answer["changes"]
    assert first["load"] == {"key_type": "q8_0", "value_type": "q8_0"}
    assert first["verdict"] == "fits"
    assert first["decode_tps"]["mid"] > 0
    assert memory["memory_bytes"] == 24 << 30
    assert card["card"]
    out = said(capsys, path, "--context", "40960")
    assert "What does it, the cheapest first:\n  KV cache in q8_0: Fits · " in out


def test_what_would_make_it_faster(measured, headed, capsys):
    path = headed("qwen3-8b")
    assert told(capsys, path, "--want", "1", "--threads", "16")["changes"] == []
    changes = told(capsys, path, "--want", "40", "--threads", "16")["changes"]
    assert [change["kind"] for change in changes] == ["card"]
    assert changes[0]["decode_tps"]["mid"] >= 40
    assert "No single change known here does it." in said(capsys, path, "--want", "100000")


def test_a_smaller_quantisation_of_the_library(here, home, tmp_path, capsys):
    here(free_gib=4, total_gib=16, bandwidth=MEASURED)
    folder = home / "data" / "models"
    large = sparse(tmp_path / "tiny-Q8_0.gguf", 8 << 30)
    sparse(folder / "tiny-Q4_0.gguf", 2 << 30)
    sparse(folder / "tiny-Q2_K.gguf", 1 << 30)
    sparse(folder / "other-Q4_0.gguf", 2 << 30)
    (change,) = [change for change in told(capsys, large)["changes"] if change["kind"] == "quant"]
    assert (change["model"], change["verdict"]) == ("tiny-Q4_0", "fits")
    assert change["decode_tps"]["mid"] > 0
    assert "tiny-Q4_0 instead, 2.0 GiB, which is here: Fits · " in said(capsys, large)


def sparse(path, size_bytes):
    """A model that takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA))
    with path.open("r+b") as file:
        file.truncate(size_bytes)
    return str(path)


def test_what_ran_here_takes_the_place_of_the_formula(measured, headed, capsys):
    path = headed("qwen3-8b")
    before = told(capsys, path)
    load = Load.from_json({**before["load"], "model": path, "extra": {}})
    now = speed_situation(recognise_path(Path(path)), load, "llama_server", "1", ("A Processor",))
    mid = before["decode_tps"]["mid"]
    one = SpeedObservation(now, False, 1024, 1.5 * mid, None, None, mid, None, 0.0, 0.0, {"host": 50.0})
    database = Database(default_paths().database)
    SpeedObservations(database).keep(one)
    database.close()
    after = told(capsys, path)["decode_tps"]
    assert (after["basis"]["kind"], after["basis"]["runs"]) == ("measured", 1)
    assert after["mid"] == pytest.approx(1.5 * mid)
    assert f"Writes {1.5 * mid:.1f} tok/s measured." in said(capsys, path)
    described = told(capsys, path, "--ram", "64")["decode_tps"]
    assert described["basis"]["kind"] == "calculated"  # what ran here tells nothing of another machine


def test_a_measured_bandwidth_is_used(headed, monkeypatch, home, capsys):
    monkeypatch.setattr(detected, "detect", machine)
    assert surroundings({}).machine.bandwidth is None
    Measurements.within(default_paths().data).keep(machine(), 42.0, date(2026, 11, 30))
    assert surroundings({}).machine.bandwidth == Bandwidth(42.0, 42.0, "", "2026-11-30")
