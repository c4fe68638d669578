"""Who runs a format, whether or not it is part of the program."""

import pytest

from weighbridge.base.errors import Refused
from weighbridge.choices.runner import CALCULATED, RUN_BY, TITLES, runner_for


@pytest.mark.parametrize("format_id", RUN_BY)
def test_each_format_names_the_first_that_runs_it(format_id):
    runner = runner_for(format_id, [])
    assert (runner.engine_id, runner.title) == (RUN_BY[format_id][0], TITLES[RUN_BY[format_id][0]])
    assert runner.missing.code == "engine.not_ours"


@pytest.mark.parametrize(
    ("format_id", "engine_id", "title"),
    [("gguf", "llama_cpp", "llama-cpp-python"), ("exl3", "exllamav3", "ExLlamaV3"), ("mlx", "mlx", "MLX")],
)
def test_another_one_may_be_named_where_its_memory_can_be_calculated(format_id, engine_id, title):
    assert runner_for(format_id, [], engine_id).title == title


@pytest.mark.parametrize(("format_id", "engine_id"), [("gguf", "mlx"), ("awq", "vllm"), ("pickle", "llama_server")])
def test_none_is_named_that_does_not_run_the_format_or_cannot_be_calculated(format_id, engine_id):
    with pytest.raises(Refused) as refused:
        runner_for(format_id, [], engine_id)
    assert (refused.value.code, refused.value.values) == (
        "engine.not_for_format",
        {"engine": engine_id, "format": format_id},
    )


def test_what_is_calculated_has_a_title():
    assert set(CALCULATED) <= TITLES.keys()
