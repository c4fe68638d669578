"""Other quantisations of one model."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import GIB, model

from weighbridge.base.errors import BadFile
from weighbridge.choices.family import siblings


def named(title, gib=1.0, layers=32, **changes):
    made = model(title=title, id=title, size_bytes=int(gib * GIB), **changes)
    return replace(made, info=replace(made.info, layers=layers))


MINE = named("Qwen3-8B-Q8_0", 8.5)


@pytest.mark.parametrize(
    "title",
    ["Qwen3-8B-Q4_K_M", "qwen3-8b.IQ2_XXS", "Qwen3-8B-UD-Q3_K_XL", "Qwen3-8B-GGUF-Q4_0", "Qwen3-8B-4bit",
     "Qwen3-8B-exl3-4.0bpw", "Qwen3 8B"],
)  # fmt: skip
def test_the_same_model_in_fewer_bytes(title):
    smaller = named(title, 4)
    assert siblings(MINE, [smaller]) == (smaller,)


@pytest.mark.parametrize("title", ["Qwen3-4B-Q4_K_M", "Qwen3-8B-Base-Q4_K_M", "Qwen2.5-8B-Q4_0", "Llama-3-8B-Q4_0"])
def test_another_model(title):
    assert siblings(MINE, [named(title, 4)]) == ()


def test_neither_larger_nor_damaged_nor_cut_short_and_the_largest_first():
    small, middle = named("Qwen3-8B-Q2_K", 3), named("Qwen3-8B-Q5_K_M", 6)
    damaged = named("Qwen3-8B-Q4_0", 4, problem=BadFile("file.truncated"))
    others = [small, MINE, named("Qwen3-8B-F16", 16), damaged, named("Qwen3-8B-Q4_1", 4, layers=16), middle]
    assert siblings(MINE, others) == (middle, small)
