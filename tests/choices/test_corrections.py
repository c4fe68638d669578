"""A weighed model, put right by what engines say."""

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import LOAD, RTX, around, model, told
from tests.estimates.made_blueprints import GIB, MIB, made

from weighbridge.choices.choice import weigh
from weighbridge.choices.corrections import after_loads, after_table, planned_load
from weighbridge.estimates.estimate import HOST, Basis, Term
from weighbridge.estimates.fit import Verdict
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.observations import Observation, situation
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Row

BUILD = ("1", ("A Processor",))
TERMS = {Term.WEIGHTS: 12 * GIB, Term.KV: GIB}
SMALL = replace(RTX, memory=Memory(MemoryKind.DEDICATED, 6 * GIB, 6 * GIB))
HOST_ROW = Row("Host", True, GIB, 0, 10 * MIB)


def weighed(here):
    return weigh(model(), made(), LOAD, here)


def observed(load=LOAD, resident_gib=14.0, estimated_gib=13.0, files=None, build=BUILD):
    now = situation(model(), load, "llama_server", *build)
    estimated = {Term.WEIGHTS: int(estimated_gib * GIB)}
    return Observation(replace(now, files=files or now.files), {"Host": TERMS}, int(resident_gib * GIB), estimated)


def test_without_earlier_loads_nothing_changes():
    choice = weighed(around())
    assert after_loads(choice, around(), ()) is choice
    assert after_loads(choice, around(told=()), (observed(),)) is choice


def test_the_same_load_is_as_it_was_measured():
    choice = after_loads(weighed(around()), around(), (observed(),))
    assert choice.fit.estimate.basis is Basis.MEASURED
    assert choice.fit.estimate.total_bytes == 14 * GIB
    assert (choice.fit.verdict, choice.fit.left_bytes) == (Verdict.FITS, 6 * GIB)
    assert choice.last_off == pytest.approx(1 / 13)


def test_a_measured_need_is_judged_again():
    choice = after_loads(weighed(around()), around(), (observed(resident_gib=22),))
    assert (choice.fit.verdict, choice.fit.left_bytes) == (Verdict.NO, -2 * GIB)


def test_another_load_like_it_changes_only_the_engines_own_memory():
    before = weighed(around())
    choice = after_loads(before, around(), (observed(files="others"),))
    assert choice.fit.estimate.basis is Basis.CALCULATED
    assert choice.fit.estimate.term(Term.ENGINE) == GIB
    assert choice.fit.estimate.term(Term.KV) == before.fit.estimate.term(Term.KV)
    assert choice.fit.left_bytes == before.fit.left_bytes + before.fit.estimate.term(Term.ENGINE) - GIB


def test_loads_on_other_devices_or_of_another_version_change_no_figure():
    before = weighed(around())
    assert after_loads(before, around(), (observed(build=("1", ("Another",))),)) == before
    older = after_loads(before, around(), (observed(build=("0", BUILD[1])),))
    assert older.fit == before.fit
    assert older.last_off == pytest.approx(1 / 13)


def test_a_table_of_these_devices_takes_the_place_of_the_formula():
    row = Row("Host", True, 12 * GIB, GIB, 10 * MIB)
    choice = after_table(weighed(around()), around(), Table((row,), "llama_server", "1"))
    assert choice.fit.estimate.basis is Basis.ENGINE
    assert choice.fit.estimate.term(Term.WEIGHTS) == 12 * GIB
    assert choice.fit.estimate.term(Term.KV) == GIB


def test_a_table_of_other_devices_does_not():
    here = around(RTX)
    assert after_table(weighed(here), here, Table((HOST_ROW,), "llama_server", "1")) is None
    card = Row("CUDA0", False, 11 * GIB, GIB, 10 * MIB)
    assert after_table(weighed(around()), around(), Table((HOST_ROW, card), "llama_server", "1")) is None
    both = after_table(weighed(here), here, Table((card, HOST_ROW), "llama_server", "1"))
    assert both.fit.estimate.share("cuda0").terms[Term.WEIGHTS] == 11 * GIB
    assert both.fit.estimate.share(HOST).terms[Term.WEIGHTS] == GIB


def test_what_is_in_parts_stays_in_parts_and_the_engine_is_told_which():
    here = around(SMALL)
    choice = weighed(here)
    assert (choice.fit.verdict, choice.fit.gpu_layers) == (Verdict.PARTIAL, 5)
    assert planned_load(choice) == replace(LOAD, gpu_layers=5)
    card = Row("CUDA0", False, 5 * GIB, 100 * MIB, 10 * MIB)
    better = after_table(choice, here, Table((card, HOST_ROW), "llama_server", "1"))
    assert (better.fit.verdict, better.fit.gpu_layers) == (Verdict.PARTIAL, 5)


def test_of_what_a_card_cannot_hold_the_engine_is_told_to_put_nothing_there():
    tiny = replace(RTX, memory=Memory(MemoryKind.DEDICATED, GIB, GIB // 4))
    choice = weighed(around(tiny))
    assert choice.fit.verdict is Verdict.FITS
    assert planned_load(choice) == replace(LOAD, gpu_layers=0)


def test_what_fits_whole_is_loaded_as_it_was_asked_for():
    assert planned_load(weighed(around(RTX))) == LOAD
    assert planned_load(weigh(model(), None, LOAD, around())) == LOAD


def test_an_engine_without_layers_on_cards_is_told_of_none():
    choice = weighed(around(RTX))
    plan = replace(choice.fit.plan, engine="openvino", gpu_layers=0)
    fit = replace(choice.fit, estimate=replace(choice.fit.estimate, plan=plan))
    assert planned_load(replace(choice, fit=fit)) == LOAD


def test_an_engine_that_told_its_devices_anew_is_another_build():
    here = around(told=(replace(told(), version="2"),))
    assert after_loads(weighed(here), here, (observed(),)).fit.estimate.basis is Basis.CALCULATED


def test_a_choice_without_a_verdict_stays_without():
    nothing = weigh(model(), None, LOAD, around())
    assert after_loads(nothing, around(), (observed(),)) is nothing
    assert after_table(nothing, around(), Table((HOST_ROW,), "llama_server", "1")) is None
