"""Columns and comparisons out of a few words, for tests."""

from __future__ import annotations

from pathlib import Path

from weighbridge.bench.plan import Fresh
from weighbridge.bench.result import Column, Comparison, Held, Runtime, Subject, Turn
from weighbridge.bench.workload import Workload
from weighbridge.hardware.machine import Cpu, Machine, Memory, MemoryKind
from weighbridge.running.state import Setting

GIB = 1 << 30
MACHINE = Machine("linux", Cpu("A Processor", 4, 4, 4), Memory(MemoryKind.DEDICATED, 16 * GIB, 12 * GIB))


def turn(text="one two three", number=1, **changes):
    """An answer of a token a word, at 50 tokens a second."""
    words = text.split(" ")
    pieces = tuple(word if place == 0 else f" {word}" for place, word in enumerate(words))
    told = {
        "output_tokens": len(pieces),
        "prompt_tokens": 40,
        "cached_tokens": 0,
        "decode_tps": 50.0,
        "prompt_tps": 400.0,
        "ttft_ms": 120.0,
        "by_engine": True,
        "read_by_engine": True,
        "finish": "stop",
        "busy": 0.01,
        "alone": True,
    }
    return Turn(number, pieces, **{**told, **changes})


def column(name="a", turns=None, **changes):
    """One that answered twice."""
    subject = Subject(name, Path(f"/m/{name}.gguf"), "gguf", "Q4_0", 100 << 20, 4.5, 135_000_000, "llama")
    told = {
        "runtime": Runtime("llama_server", "llama.cpp", "1.2"),
        "threads": 3,
        "settings": (Setting("context", 4096, 4096), Setting("threads", 3, 3)),
        "load_ms": 900.0,
        "held": Held(300 << 20, 310 << 20),
        "turns": (turn(LONG), turn(LONG, 2)) if turns is None else tuple(turns),
    }
    return Column(name, changes.pop("subject", subject), **{**told, **changes})


LONG = " ".join(f"word{number}" for number in range(20))


def comparison(*columns, **changes):
    """Of these columns."""
    told = {
        "workload": Workload("Why is the sea salty?", 128, "question"),
        "turns": 2,
        "warm_up": True,
        "interleaved": False,
        "fresh": Fresh.ASKED,
        "machine": MACHINE,
        "begun_at": 1_796_000_000.0,
        "version": "0.1.0",
    }
    return Comparison(columns=columns, **{**told, **changes})
