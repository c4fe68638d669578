"""Whether a model as it is loaded sees pictures."""

from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.library.model import Model
from weighbridge.running.sight import Blind, blindness, sees, sees_alone
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.llama_program import program

ENGINES = catalogue()
ALONE, SEEING = Load("/m.gguf"), Load("/m.gguf", projector="/p.gguf")


def test_llama_server_sees_with_a_projector():
    assert blindness(ENGINES["llama_server"], ALONE) is Blind.PROJECTOR
    assert blindness(ENGINES["llama_server"], SEEING) is None


def test_so_does_a_program():
    made = program("/usr/bin/llama-server", "b1", {"--mmproj"}, "own")
    assert (blindness(made, ALONE), blindness(made, SEEING)) == (Blind.PROJECTOR, None)


@pytest.mark.parametrize("engine_id", ["echo", "llama_cpp", "mlx", "exllamav3", "onnx_genai", "openvino"])
def test_an_engine_that_sees_nothing(engine_id):
    assert blindness(ENGINES[engine_id], SEEING) is Blind.ENGINE


@pytest.mark.parametrize("engine_id", ["vllm", "sglang", "transformers", "endpoint"])
def test_where_no_projector_is_taken_the_model_sees_by_itself_or_the_answer_says_that_it_does_not(engine_id):
    assert blindness(ENGINES[engine_id], ALONE) is None


@pytest.mark.parametrize(
    ("engine_id", "load", "told"),
    [
        ("llama_server", ALONE, False),
        ("llama_server", SEEING, True),
        ("mlx", ALONE, False),
        ("vllm", ALONE, None),
        ("transformers", ALONE, None),
    ],
)
def test_without_a_projector_the_answer_tells_where_the_engine_takes_none(engine_id, load, told):
    model = Model("m", "m", Path("/m"), (Path("/m"),), "gguf", None, 1)
    assert sees(model, load, alone=sees_alone(ENGINES[engine_id])) is told


def test_an_engine_that_cannot_is_not_asked_for_a_projector():
    blind = replace(ENGINES["llama_server"], capabilities=frozenset())
    assert blindness(blind, ALONE) is Blind.ENGINE
