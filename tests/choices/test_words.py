"""What a weighed model says of itself."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import LOAD, NOT_HERE, RTX, around, engine, model, unseen
from tests.estimates.made_blueprints import GIB, MIB, card, made, ram

from weighbridge.base.units import THIN
from weighbridge.choices import words
from weighbridge.choices.choice import weigh
from weighbridge.choices.runner import runner_for
from weighbridge.estimates.estimate import HOST, Basis, Estimate, Place, PlaceKind, Share, Term
from weighbridge.estimates.fit import Fit, Remedy, Verdict, fit
from weighbridge.estimates.plan import Plan
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo

PLAN = Plan(context=4096)
SOME = Estimate(PLAN, (Share(HOST, {Term.WEIGHTS: 4 * GIB}),), least_bytes=4 * GIB)


def said(sentence):
    return sentence.replace(THIN, " ")


def found(verdict, left_gib=None, **changes):
    left = None if left_gib is None else int(left_gib * GIB)
    return replace(Fit(verdict, SOME, left), **changes)


@pytest.mark.parametrize(
    ("one", "badge"),
    [
        (found(Verdict.FITS, 4.9), "Fits · 4.9 GiB left"),
        (found(Verdict.TIGHT, 0.25), "Tight · 256.0 MiB left"),
        (found(Verdict.NO, -3.5), "No · 3.5 GiB short"),
        (found(Verdict.UNKNOWN, -3.5), "Unknown"),
        (None, "Unknown"),
        (found(Verdict.PARTIAL, 1, gpu_layers=24, all_layers=49), "Partial · 24 of 49 layers"),
        (found(Verdict.FITS, 4.9, gpu_layers=0, all_layers=49), "Fits on the processor · 4.9 GiB left"),
        (found(Verdict.TIGHT, 0.5, gpu_layers=0, all_layers=49), "Tight on the processor · 512.0 MiB left"),
        (found(Verdict.FITS, 4.9, gpu_layers=49, all_layers=49), "Fits · 4.9 GiB left"),
    ],
)
def test_a_badge(one, badge):
    assert said(words.verdict_in_words(one)) == badge


def test_the_badge_of_a_mixture_in_parts():
    mixture = made(layer_bytes=100 * MIB, expert_bytes=GIB)
    part = fit(mixture, PLAN, [ram(30), card(8)])
    assert words.verdict_in_words(part) == "Partial · experts of 5 layers in RAM"
    nearly = replace(part, estimate=replace(part.estimate, plan=replace(part.plan, cpu_experts=1)))
    assert words.verdict_in_words(nearly) == "Partial · experts of 1 layer in RAM"
    less = fit(made(layer_bytes=GIB, expert_bytes=GIB), PLAN, [ram(40), card(6)])
    assert words.verdict_in_words(less) == "Partial · 5 of 11 layers"


def test_where_it_is_tightest():
    assert words.where_in_words(found(Verdict.NO, -1)) == ""
    assert words.where_in_words(found(Verdict.NO, -1, place=ram(1))) == "in RAM"
    assert words.where_in_words(found(Verdict.NO, -1, place=card(1, "RTX 3090"))) == "on RTX 3090"
    both = Place(HOST, "Apple M3", PlaceKind.UNIFIED)
    assert words.where_in_words(found(Verdict.NO, -1, place=both)) == "on Apple M3"
    assert (words.place_in_words(ram(1)), words.place_in_words(both)) == ("RAM", "Apple M3")


@pytest.mark.parametrize(
    ("changes", "verdict", "sentence"),
    [
        ({"key_type": "q8_0", "value_type": "q8_0"}, Verdict.FITS, "It fits with a KV cache in q8_0."),
        ({"context": 2048}, Verdict.TIGHT, "It fits with a context of 2,048 tokens."),
        ({"slots": 1}, Verdict.PARTIAL, "It fits in part with 1 slot."),
        (
            {"slots": 1, "key_type": "q8_0", "context": 2048},
            Verdict.FITS,
            "It fits with 1 slot and a KV cache in q8_0 and a context of 2,048 tokens.",
        ),
    ],
)
def test_a_remedy(changes, verdict, sentence):
    plan = replace(PLAN, slots=4)
    assert words.remedy_in_words(Remedy(replace(plan, **changes), verdict), plan) == sentence


def test_elsewhere():
    elsewhere = weigh(model(), made(), LOAD, around(unseen(RTX))).elsewhere
    assert (
        said(words.elsewhere_in_words(elsewhere))
        == "Fits · 10.2 GiB left on RTX 3090 with the CUDA build of llama.cpp (install)"
    )


def test_who_runs_it():
    assert words.runner_in_words(runner_for("gguf", [engine()])) == "Llama"
    assert words.runner_in_words(runner_for("gguf", [engine(missing=NOT_HERE)])) == "Llama (install)"
    assert words.runner_in_words(runner_for("awq", [engine()])) == "vLLM (not part of this program)"
    assert words.runner_in_words(runner_for("pickle", [engine()])) == "no known engine"


def test_the_whole_need():
    assert said(words.total_in_words(SOME)) == "4.0 GiB"
    assert said(words.total_in_words(replace(SOME, least_bytes=3 * GIB))) == "3.0 GiB to 4.0 GiB"
    unknown = replace(SOME, shares=(Share(HOST, {Term.WEIGHTS: 4 * GIB, Term.KV: None}),))
    assert said(words.total_in_words(unknown)) == "4.0 GiB + unknown"


def test_the_last_load():
    assert words.last_off_in_words(0.04) == "Last time it took 4.0 % more than was estimated."
    assert words.last_off_in_words(-0.123) == "Last time it took 12.3 % less than was estimated."


def test_parameters():
    def told(**values):
        sentence = words.parameters_in_words(ModelInfo("gguf", Kind.CHAT, **values))
        return sentence and said(sentence)

    assert told() is None
    assert told(parameters=134_515_008) == "134.5 M"
    assert told(parameters=8_190_735_360, active_parameters=8_000_000_000) == "8.2 B"
    mixture = told(parameters=30_532_122_624, active_parameters=3_345_000_000, experts=128)
    assert mixture == "30.5 B, 3.3 B active"


def test_the_settings_stand_beside_the_figure():
    assert words.plan_in_words(PLAN) == "At 4,096 tokens of context, KV cache in f16, 1 slot, batch of 512 tokens"
    divided = replace(PLAN, context=98_304, slots=4, unified=False, value_type="q8_0")
    assert words.plan_in_words(divided) == (
        "At 98,304 tokens of context, KV cache in f16/q8_0, 4 slots, batch of 512 tokens, 24,576 tokens for each answer"
    )
    assert words.plan_in_words(replace(divided, unified=True)).endswith("batch of 512 tokens, shared")


def test_each_term_basis_and_note_has_words():
    assert [words.term_in_words(term) for term in (Term.KV, Term.ENGINE)] == ["KV cache", "Engine"]
    assert len({words.term_in_words(term) for term in Term}) == len(Term)
    assert len({words.basis_in_words(basis) for basis in Basis}) == len(Basis)
    for note in ("approximate", "upper_bound", "unknown", "weights_by_size"):
        assert words.note_in_words(f"estimate.{note}").endswith(".")
