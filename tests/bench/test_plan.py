"""What is measured, and in which order."""

from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.bench.plan import Act, Entry, Fresh, Plan, Step, body, fit_together, names_of, steps, with_own_ids
from weighbridge.bench.workload import Workload
from weighbridge.library.model import Model
from weighbridge_engines.api import UNCACHED, Dialect, Load
from weighbridge_engines.catalogue import catalogue

ENGINES = catalogue()
WORKLOAD = Workload("Why?", 64)


def entry(name, engine_id="llama_server", knowing=True):
    model = Model(name, name, Path(f"/m/{name}"), (), "gguf", None, 1)
    engine = replace(ENGINES[engine_id], dialect=Dialect(uncached=UNCACHED if knowing else {}))
    return Entry(f"{name} · {engine_id}", model, Load(f"/m/{name}", alias=name, engine=engine_id), engine)


def short(plan):
    return " ".join(f"{step.act[0]}{step.entry}{step.turn or ''}" for step in steps(plan))


@pytest.mark.parametrize(
    ("changes", "order"),
    [
        ({}, "l0 w0 a01 e0 l1 w1 a11 e1"),
        ({"turns": 2, "warm_up": False}, "l0 a01 a02 e0 l1 a11 a12 e1"),
        ({"turns": 2, "interleaved": True}, "l0 w0 l1 w1 a01 a11 a12 a02 e0 e1"),
        ({"turns": 3, "interleaved": True, "warm_up": False}, "l0 l1 a01 a11 a12 a02 a03 a13 e0 e1"),
    ],
)
def test_the_order_of_steps(changes, order):
    assert short(Plan((entry("a"), entry("b")), WORKLOAD, **changes)) == order


def test_the_same_model_twice_has_two_ids_and_names():
    made = with_own_ids([entry("a"), entry("a"), entry("a", "llama_cpp"), entry("a")])
    assert [one.name for one in made] == [
        "a · llama_server",
        "a · llama_server #2",
        "a · llama_cpp",
        "a · llama_server #3",
    ]
    assert [one.model.id for one in made] == ["a", "a #2", "a #3", "a #4"]
    assert [one.load.alias for one in made] == [one.model.id for one in made]


def asked(plan, turn, place=0, act=Act.ASK):
    return body(plan, plan.entries[place], Step(act, place, turn))


def test_engines_that_know_how_are_asked_to_read_the_prompt_anew():
    plan = Plan((entry("a"), entry("b")), WORKLOAD, turns=2)
    assert plan.fresh is Fresh.ASKED
    first, second = asked(plan, 1), asked(plan, 2)
    assert first == second
    assert first["messages"] == [{"role": "user", "content": "Why?"}]
    assert (first["cache_prompt"], first["temperature"], first["max_tokens"]) == (False, 0, 64)
    assert "seed" not in first


def test_where_one_knows_not_how_all_prompts_but_the_first_differ_for_all_alike():
    plan = Plan((entry("a"), entry("b", knowing=False)), WORKLOAD, turns=2, seed=5)
    assert plan.fresh is Fresh.PREFIXED
    words = [[asked(plan, turn, place)["messages"][0]["content"] for place in (0, 1)] for turn in (1, 2, 3)]
    assert words[0] == ["Why?", "Why?"]
    assert words[1][0] == words[1][1] != words[2][0]
    assert words[1][0].endswith("Why?") and words[1][0][:5] != "Why?"
    assert "cache_prompt" in asked(plan, 1, 0) and "cache_prompt" not in asked(plan, 1, 1)
    assert asked(plan, 1)["seed"] == 5


def test_a_warm_up_is_short_and_leaves_no_start_of_the_prompt_behind():
    plan = Plan((entry("a"),), WORKLOAD)
    warm = asked(plan, 0, act=Act.WARM_UP)
    assert warm["max_tokens"] == 16
    assert not warm["messages"][0]["content"].startswith("Why?")


@pytest.mark.parametrize(
    ("needs", "available", "fits"), [([4, 5], 9, True), ([4, 5], 8, False), ([4, 5], None, True), ([], 0, True)]
)
def test_what_fits_together(needs, available, fits):
    assert fit_together(needs, available) is fits


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        ([("a", "x"), ("a", "y")], ["x", "y"]),
        ([("a", "x"), ("b", "x")], ["a", "b"]),
        ([("a", "x"), ("b", "y")], ["a · x", "b · y"]),
        ([("a", "x"), ("a", "x")], ["a · x", "a · x"]),
        ([("a", ""), ("a", "x")], ["a", "x"]),
        ([("a", "")], ["a"]),
    ],
)
def test_names_are_as_short_as_they_can_be(pairs, names):
    assert names_of(pairs) == names
