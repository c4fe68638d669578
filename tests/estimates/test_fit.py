"""Verdicts, in round figures: ten layers of 1 GiB, 1 GiB of input, 1 GiB of output, 4 KiB a token and layer."""

from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import GIB, MIB, card, made, ram

from weighbridge.estimates.estimate import HOST, Basis, Place, PlaceKind, Term
from weighbridge.estimates.fit import Verdict, fit, judged_by, longest_context
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Shape
from weighbridge.estimates.weights import LayerWeights

PLAN = Plan(context=4096)
KV = 4096 * 10 * 4096
NEED = 12 * GIB + KV + 150 * MIB + 4096 * 512 * 2
"""Weights, cache, the engine's process, and the mask of 512 tokens over 4096 cells."""


def left(found):
    return found.left_bytes


def test_what_it_needs_is_the_sum_of_its_terms():
    found = fit(made(), PLAN, [ram(20)])
    assert found.estimate.total_bytes == NEED
    assert found.estimate.term(Term.KV) == KV
    assert left(found) == 20 * GIB - NEED


def test_a_gib_left_fits_and_less_is_tight():
    need_gib = NEED / GIB
    assert fit(made(), PLAN, [ram(need_gib + 1.01, 16)]).verdict is Verdict.FITS
    assert fit(made(), PLAN, [ram(need_gib + 0.99, 16)]).verdict is Verdict.TIGHT
    assert fit(made(), PLAN, [ram(need_gib - 0.01, 16)]).verdict is Verdict.NO


def test_in_a_large_memory_5_percent_must_be_left():
    need_gib = NEED / GIB
    assert fit(made(), PLAN, [ram(need_gib + 3.1, 64)]).verdict is Verdict.TIGHT
    assert fit(made(), PLAN, [ram(need_gib + 3.3, 64)]).verdict is Verdict.FITS


def test_memory_that_is_not_known_is_no_verdict():
    found = fit(made(), PLAN, [ram(None)])
    assert (found.verdict, found.left_bytes) == (Verdict.UNKNOWN, None)


def test_a_header_that_tells_too_little_is_unknown_and_not_too_large():
    unknown = replace(made(), shape=Shape((), Certainty.UNKNOWN))
    assert fit(unknown, PLAN, [ram(96)]).verdict is Verdict.UNKNOWN
    assert fit(unknown, PLAN, [ram(96)]).estimate.total_bytes is None


def test_what_is_known_alone_may_be_too_much():
    unknown = replace(made(), shape=Shape((), Certainty.UNKNOWN))
    assert fit(unknown, PLAN, [ram(8)]).verdict is Verdict.NO


def test_a_range_that_ends_beyond_what_is_free_is_unknown():
    maybe = made(certainty=Certainty.UPPER_BOUND)
    need_gib = NEED / GIB
    assert fit(maybe, PLAN, [ram(need_gib - 0.1)]).verdict is Verdict.UNKNOWN
    assert fit(maybe, PLAN, [ram(need_gib - 0.3)]).verdict is Verdict.NO
    assert fit(maybe, PLAN, [ram(need_gib + 4)]).verdict is Verdict.FITS


def test_a_card_that_holds_all_but_the_input():
    found = fit(made(), PLAN, [ram(30), card(16)])
    assert found.verdict is Verdict.FITS
    assert (found.gpu_layers, found.all_layers) == (11, 11)
    assert found.estimate.share(HOST).terms[Term.WEIGHTS] == GIB
    assert found.estimate.share("card").terms[Term.WEIGHTS] == 11 * GIB


def test_a_card_that_is_too_small_gets_the_last_layers():
    found = fit(made(), PLAN, [ram(30), card(6)])
    assert found.verdict is Verdict.PARTIAL
    assert (found.gpu_layers, found.all_layers) == (5, 11)
    assert found.estimate.share("card").terms[Term.WEIGHTS] == 5 * GIB
    more = fit(made(), replace(PLAN, gpu_layers=7), [ram(30), card(6)])
    assert more.verdict is Verdict.NO


def test_a_card_that_can_hold_nothing_leaves_it_to_host_memory():
    found = fit(made(), PLAN, [ram(30), card(0.25)])
    assert (found.verdict, found.place.id) == (Verdict.FITS, HOST)
    assert (found.gpu_layers, found.all_layers, found.plan.gpu_layers) == (0, 11, 0)
    assert found.estimate.share("card").total_bytes == 0
    assert fit(made(), PLAN, [ram(NEED / GIB + 0.1), card(0.25)]).verdict is Verdict.TIGHT
    assert fit(made(), PLAN, [ram(8), card(0.25)]).verdict is Verdict.NO


def test_a_mixture_of_which_a_card_can_hold_nothing_has_no_experts_to_name():
    found = fit(made(layer_bytes=GIB, expert_bytes=GIB), PLAN, [ram(40), card(0.25)])
    assert (found.verdict, found.plan.gpu_layers, found.plan.cpu_experts) == (Verdict.FITS, 0, 0)


@pytest.mark.parametrize("free", [1.2, 2.5, 4, 7.7, 10, 11.3])
@pytest.mark.parametrize("context", [4096, 131_072])
@pytest.mark.parametrize("expert_bytes", [0, 3 * GIB])
def test_the_most_that_fits_is_on_the_card(free, context, expert_bytes):
    model, plan = made(expert_bytes=expert_bytes), replace(PLAN, context=context)
    found = fit(model, plan, [ram(99), card(free)])
    assert found.estimate.left_bytes(card(free)) >= 0
    one_more = replace(found.plan, gpu_layers=found.gpu_layers + 1)
    if expert_bytes and found.gpu_layers == found.all_layers:
        one_more = replace(found.plan, cpu_experts=found.plan.cpu_experts - 1)
    assert estimate(model, one_more, [ram(99), card(free)]).left_bytes(card(free)) < 0


def test_layers_that_only_predict_are_counted_among_those_of_a_card():
    """llama.cpp counts them, though it does not load them: of the last eleven, it loads nine and the output."""
    weights = made().weights
    predicting = replace(made(), weights=replace(weights, predicting=(LayerWeights(GIB),)))
    whole = fit(predicting, PLAN, [ram(30), card(16)])
    assert (whole.verdict, whole.gpu_layers, whole.all_layers) == (Verdict.FITS, 12, 12)
    found = fit(predicting, PLAN, [ram(30), card(10.6)])
    assert (found.verdict, found.gpu_layers, found.all_layers) == (Verdict.PARTIAL, 11, 12)
    assert found.estimate.share("card").terms[Term.WEIGHTS] == 10 * GIB


def test_a_card_of_which_nothing_is_known_leaves_it_open():
    unknown = replace(card(8), free_bytes=None)
    assert fit(made(), PLAN, [ram(30), unknown]).verdict is Verdict.UNKNOWN


def test_what_the_user_set_is_not_changed():
    found = fit(made(), replace(PLAN, gpu_layers=11), [ram(30), card(6)])
    assert (found.verdict, found.gpu_layers) == (Verdict.NO, 11)


def test_in_parts_it_must_fit_into_host_memory_too():
    assert fit(made(), PLAN, [ram(4), card(6)]).verdict is Verdict.NO


def test_experts_stay_in_host_memory_before_layers_do():
    mixture = made(layer_bytes=100 * MIB, expert_bytes=GIB)
    found = fit(mixture, PLAN, [ram(30), card(8)])
    assert found.verdict is Verdict.PARTIAL
    assert (found.gpu_layers, found.plan.cpu_experts) == (11, 5)
    told = fit(mixture, replace(PLAN, cpu_experts=4), [ram(30), card(8)])
    assert (told.verdict, told.gpu_layers, told.plan.cpu_experts) == (Verdict.PARTIAL, 8, 4)


def test_a_mixture_that_is_too_large_without_experts_keeps_layers_too():
    mixture = made(layer_bytes=GIB, expert_bytes=GIB)
    found = fit(mixture, PLAN, [ram(40), card(6)])
    assert found.verdict is Verdict.PARTIAL
    assert (found.gpu_layers, found.plan.cpu_experts) == (5, 10)


def test_two_cards_share_by_what_is_free():
    found = fit(made(), PLAN, [ram(30), card(12, "one"), card(6, "two")])
    assert found.verdict in (Verdict.FITS, Verdict.TIGHT)
    assert found.estimate.share("one").terms[Term.WEIGHTS] == 8 * GIB
    assert found.estimate.share("two").terms[Term.WEIGHTS] == 3 * GIB


def test_one_memory_for_both_is_counted_once():
    both = Place(HOST, "chip", PlaceKind.UNIFIED, 32 * GIB, 24 * GIB, api="metal")
    found = fit(made(), PLAN, [both])
    assert [share.place for share in found.estimate.shares] == [HOST]
    assert found.estimate.term(Term.WEIGHTS) == 12 * GIB


def test_the_first_remedy_is_fewer_slots_then_a_smaller_cache_then_a_shorter_context():
    wide = made(width=8192)
    plan = Plan(context=32_768)
    # The cache takes 10 GiB in f16 and 5.3 GiB in q8_0.
    assert fit(wide, plan, [ram(30)], with_remedy=True).remedy is None
    smaller = fit(wide, plan, [ram(19)], with_remedy=True)
    assert smaller.verdict is Verdict.NO
    assert smaller.remedy.plan == replace(plan, key_type="q8_0", value_type="q8_0")
    shorter = fit(wide, plan, [ram(16)], with_remedy=True)
    assert (shorter.remedy.plan.key_type, shorter.remedy.plan.context) == ("f16", 12_288)
    assert fit(wide, plan, [ram(8)], with_remedy=True).remedy is None


def test_the_longest_context():
    assert longest_context(made(), PLAN, [ram(30)]) == 131_072
    assert longest_context(made(context_length=None), PLAN, [ram(NEED / GIB + 1)]) > 20_000
    found = longest_context(made(), PLAN, [ram(NEED / GIB + 0.1)])
    step = 256 * (10 * 4096 + 1024)
    assert 4096 <= found < 4096 + 256 * (0.1 * GIB / step + 1)
    assert longest_context(made(), PLAN, [ram(2)]) is None


def test_a_better_estimate_is_judged_again():
    found = fit(made(), PLAN, [ram(20)])
    less = replace(found.estimate, shares=(replace(found.estimate.shares[0], terms={Term.WEIGHTS: 21 * GIB}),))
    again = judged_by(replace(less, basis=Basis.ENGINE, least_bytes=21 * GIB), found, [ram(20)])
    assert (again.verdict, again.left_bytes) == (Verdict.NO, -GIB)
