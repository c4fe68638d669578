"""The report to copy: all that helps, and nothing of whose machine it is."""

from dataclasses import replace
from pathlib import Path

from tests.choices.made_speeds import FAST_RTX, TABLES, here, weighed
from tests.choices.made_surroundings import LOAD, engine

from weighbridge.base.errors import EngineFailed
from weighbridge.choices.finding import Ground, of_failure
from weighbridge.choices.finding_report import LOG_LINES, Here, report

HERE = Here("Weighbridge 1.0 · Python 3.12 · Linux-6.1", "/home/anna", "anna", "annas-box")
KEY = "engine-key-0123456789"
LOG = [
    "old line",
    *["I load_tensors: ..."] * (LOG_LINES - 3),
    "srv load_model: loading model '/home/anna/Models/m.gguf' on annas-box",
    f"api_keys: {KEY} HF_TOKEN=hf_abcdefgh12345678",
    "alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624",
]


def made(load=LOAD):
    surroundings = here(FAST_RTX)
    error = EngineFailed(
        "engine.card_memory_refused", engine="llama.cpp", device="CUDA0", needed_bytes=151851674624, line=LOG[-1]
    )
    finding = of_failure(
        error, weighed(surroundings, load=load, path=Path("/home/anna/m.gguf")), Ground(surroundings, TABLES)
    )
    return report(finding, surroundings.machine, engine(), LOG, HERE, [KEY])


def test_it_says_what_happened_where_and_to_what():
    text = made()
    assert text.startswith("llama.cpp asked for 141.4")
    for part in ("code: engine.card_memory_refused", "Weighbridge 1.0", "A Processor", "NVIDIA GeForce RTX 3090"):
        assert part in text
    assert "context=4096" in text
    assert text.endswith(LOG[-1])


def test_it_holds_the_last_lines_alone():
    text = made()
    assert "old line" not in text
    assert text.count("I load_tensors: ...") == LOG_LINES - 3


def test_it_holds_no_secret_and_no_name():
    text = made(replace(LOAD, projector="/home/anna/p.gguf", extra={"api_key": "of-my-own-12345"}))
    for secret in (KEY, "hf_abcdefgh", "anna", "of-my-own"):
        assert secret not in text
    assert "~/Models/m.gguf" in text
    assert "~/p.gguf" in text
