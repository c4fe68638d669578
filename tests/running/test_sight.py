"""Whether a model as it is loaded sees pictures."""

from dataclasses import replace

import pytest

from weighbridge.running.sight import Blind, blindness
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


def test_an_engine_that_cannot_is_not_asked_for_a_projector():
    blind = replace(ENGINES["llama_server"], capabilities=frozenset())
    assert blindness(blind, ALONE) is Blind.ENGINE
