"""A projector, a draft model and adapters in the figures of a model."""

import pytest
from tests.estimates.made_blueprints import GIB, card, made, ram

from weighbridge.estimates.beside import Beside, fit_beside, needs
from weighbridge.estimates.estimate import HOST, Term
from weighbridge.estimates.fit import Verdict, fit
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty

PLAN = Plan(context=4096)


def test_alone_nothing_is_other_than_it_was():
    assert fit_beside(made(), PLAN, [ram(64)], Beside()) == fit(made(), PLAN, [ram(64)])


def test_a_projector_takes_more_than_its_file_on_the_first_card():
    [share] = needs(Beside(projector_bytes=GIB), PLAN, [ram(64), card(24, "a"), card(24, "b")])
    assert (share.place, share.terms) == ("a", {Term.PROJECTOR: int(1.4 * GIB)})


def test_without_a_card_all_lies_in_the_system_s_memory():
    [share] = needs(Beside(GIB, 2 * GIB, made(2)), PLAN, [ram(64)])
    assert share.place == HOST
    assert share.terms[Term.ADAPTER] == 2 * GIB
    cache, mask = 2 * 4096 * 4096, 2 * 512 * 4096
    assert share.terms[Term.DRAFT] == 4 * GIB + cache + mask


def test_the_engine_is_not_counted_twice():
    shares = needs(Beside(draft=made(2)), PLAN, [ram(64), card(24)])
    assert {share.place: set(share.terms) for share in shares} == {HOST: {Term.DRAFT}, "card": {Term.DRAFT}}


def test_it_is_in_the_sum_and_out_of_what_is_left():
    alone = fit(made(), PLAN, [ram(64), card(24)])
    both = fit_beside(made(), PLAN, [ram(64), card(24)], Beside(projector_bytes=GIB))
    assert both.estimate.total_bytes == alone.estimate.total_bytes + int(1.4 * GIB)
    assert both.estimate.least_bytes == both.estimate.total_bytes
    assert both.left_bytes == pytest.approx(alone.left_bytes - 1.4 * GIB, abs=1)
    assert both.place == alone.place


def test_a_model_goes_in_part_where_its_projector_takes_the_room():
    places = [ram(64), card(13)]
    assert fit(made(), PLAN, places).verdict is not Verdict.PARTIAL
    both = fit_beside(made(), PLAN, places, Beside(projector_bytes=2 * GIB))
    assert both.verdict is Verdict.PARTIAL
    assert both.estimate.share("card").terms[Term.PROJECTOR] == int(2.8 * GIB)
    assert both.estimate.share("card").known_bytes <= 13 * GIB


def test_a_place_that_only_the_draft_uses_is_told():
    both = fit_beside(made(), Plan(context=4096, gpu_layers=0), [ram(64), card(24)], Beside(adapter_bytes=GIB))
    assert both.estimate.share("card").terms == {Term.ADAPTER: GIB}


def test_a_draft_of_which_nothing_is_known_leaves_the_sum_open():
    both = fit_beside(made(), PLAN, [ram(64)], Beside(draft=made(2, certainty=Certainty.UNKNOWN)))
    assert both.estimate.total_bytes is None
