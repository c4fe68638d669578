"""Who runs a format, whether or not it is part of the program."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import NOT_HERE, RTX, engine, machine, model

from weighbridge.base.errors import Refused
from weighbridge.choices.runner import CALCULATED, RUN_BY, runner_for
from weighbridge.choices.words import lacking_in_words, runner_in_words
from weighbridge_engines.api import Cause, Hardware


@pytest.mark.parametrize("format_id", RUN_BY)
def test_each_format_names_the_first_that_runs_it(format_id):
    runner = runner_for(format_id, [])
    assert (runner.engine_id, runner.title) == next(iter(RUN_BY[format_id].items()))
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
    assert set(CALCULATED) <= {engine_id for known in RUN_BY.values() for engine_id in known}


def test_an_engine_that_is_handed_in_runs_what_it_says_under_its_own_title():
    handed = [engine("vllm", formats=("awq",))]
    assert runner_for("awq", handed).title == "Vllm"
    assert runner_for("awq", handed).installed
    assert runner_for("gptq", handed).missing.code == "engine.not_ours"


def refusing(engine_id, missing=None):
    return replace(
        engine(engine_id, missing), suits=lambda facts: Cause("engine.bad_architecture", {"a": facts.architecture})
    )


def test_one_that_suits_and_is_to_be_installed_before_one_that_does_not_suit():
    runner = runner_for("gguf", [refusing("llama_server"), engine("openvino", NOT_HERE)], model=model())
    assert (runner.engine_id, runner.missing, runner.suits) == ("openvino", NOT_HERE, True)


def test_where_none_suits_the_reason_of_the_first_is_told():
    for engine_id in (None, "llama_server"):
        runner = runner_for("gguf", [refusing("llama_server")], engine_id, model())
        assert (runner.installed, runner.suits) == (False, False)
        assert runner.missing.values == {"a": "llama"}
    assert runner_for("gguf", [refusing("llama_server")]).installed


def test_what_needs_a_card_that_is_not_here_runs_nothing():
    needing = replace(engine("vllm", formats=("awq",)), hardware=Hardware(frozenset({"nvidia"}), processor=False))
    bare = replace(machine(), problems=(Cause("hardware.no_card"),))
    runner = runner_for("awq", [needing], machine=bare)
    assert (runner.installed, runner.missing.code) == (False, "program.needs_card")
    assert runner_in_words(runner) == "Vllm (needs a card that is not here)"
    assert (lacking_in_words(runner), lacking_in_words(None)) == ("Needs another card", "")
    other = engine("other", NOT_HERE, formats=("awq",))
    assert runner_for("awq", [needing, other], machine=bare).engine_id == "other"
    assert runner_for("awq", [needing, other], "vllm", machine=bare).missing.code == "program.needs_card"
    assert runner_for("awq", [needing, other]).installed


def test_what_computes_on_cards_alone_is_not_to_be_installed_where_there_is_none():
    bare = replace(machine(), problems=(Cause("hardware.no_card"),))
    to_install = engine("exllamav3", NOT_HERE, formats=("exl3",))
    assert runner_for("exl3", [to_install], machine=bare).missing.code == "program.needs_card"
    assert runner_for("exl3", [to_install], machine=machine()).missing == NOT_HERE  # nobody knows
    assert runner_for("exl3", [to_install], machine=machine(RTX)).missing == NOT_HERE
    assert runner_for("exl3", [engine("exllamav3", formats=("exl3",))], machine=bare).installed
