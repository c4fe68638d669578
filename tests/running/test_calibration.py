"""Estimates put right by an engine's table and by earlier loads."""

from dataclasses import replace

import pytest

from weighbridge.estimates.estimate import HOST, Basis, Estimate, Place, PlaceKind, Share, Term
from weighbridge.estimates.plan import Plan
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.running.calibration import by_table, corrected, device_places
from weighbridge.running.observations import Observation, Situation
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Row

MIB = 1 << 20
SYSTEM = Place(HOST, "", PlaceKind.HOST)
CARD = Place("gpu0", "RTX 3090", PlaceKind.DEDICATED)
ONE = {"Host": HOST, "CUDA0": "gpu0"}
ROWS = (
    Row("CUDA0", False, 600 * MIB, 60 * MIB, 30 * MIB),
    Row("Host", True, 100 * MIB, 50 * MIB, 10 * MIB),
    Row("CPU_REPACK", True, 40 * MIB, 0, 0),
)
TABLE = Table(ROWS, "llama_server", "1")
FORMULA = Estimate(
    Plan(),
    (
        Share(
            HOST,
            {Term.WEIGHTS: 7 * MIB, Term.KV: 9 * MIB, Term.STATE: 20 * MIB, Term.OUTPUT: MIB, Term.ENGINE: 150 * MIB},
        ),
        Share("gpu0", {Term.WEIGHTS: 5 * MIB, Term.COMPUTE: 3 * MIB, Term.ENGINE: 320 * MIB}),
    ),
    least_bytes=400 * MIB,
    notes=("shape.approximate",),
)
NOW = Situation("files", "llama", "llama_server", "1", ("A Processor", "RTX 3090"), "load")


def mib(share):
    return {term.value: amount // MIB for term, amount in share.terms.items()}


def test_a_table_takes_the_place_of_the_formula():
    told = by_table(TABLE, FORMULA, (SYSTEM, CARD), ONE)
    assert told.basis is Basis.ENGINE
    assert mib(told.share(HOST)) == {
        "weights": 140,
        "kv": 30,
        "state": 20,
        "compute": 10,
        "output": 1,
        "engine": 150,
    }
    assert mib(told.share("gpu0")) == {"weights": 600, "kv": 60, "compute": 30, "engine": 320}
    assert told.least_bytes == told.total_bytes
    assert (told.plan, told.notes) == (FORMULA.plan, ())


def test_a_state_larger_than_the_context_that_was_told_is_cut():
    rows = (Row("Host", True, 0, 5 * MIB, 0),)
    told = by_table(replace(TABLE, rows=rows), FORMULA, (SYSTEM,), ONE)
    assert mib(told.share(HOST)) == {"state": 5, "output": 1, "engine": 150}


@pytest.mark.parametrize(
    ("rows", "places", "named"),
    [
        (ROWS, (SYSTEM,), ONE),
        (ROWS[1:], (SYSTEM, CARD), ONE),
        (ROWS, (SYSTEM, CARD), {"Host": HOST}),
        (ROWS, (SYSTEM, CARD, replace(CARD, id="gpu1")), ONE),
        (ROWS[:1], (SYSTEM, CARD), ONE),
        ((), (SYSTEM,), ONE),
    ],
    ids=["no card here", "a build without the card", "a card nobody knows", "one card of two", "no host", "empty"],
)
def test_a_table_of_other_devices_is_a_check_beside(rows, places, named):
    assert by_table(replace(TABLE, rows=rows), FORMULA, places, named) is None


def test_where_memory_is_one_both_rows_lie_in_it():
    one = replace(SYSTEM, kind=PlaceKind.UNIFIED)
    rows = (Row("MTL0", False, 600 * MIB, 60 * MIB, 30 * MIB), Row("Host", True, 100 * MIB, 0, 10 * MIB))
    told = by_table(replace(TABLE, rows=rows), FORMULA, (one,), {"Host": HOST, "MTL0": HOST})
    assert mib(told.share(HOST)) == {
        "weights": 700,
        "kv": 40,
        "state": 20,
        "compute": 40,
        "output": 1,
        "engine": 150,
    }


def test_the_places_of_an_engines_devices():
    def device(name, kind, *sights):
        return Device(name, "nvidia", name, Memory(kind, 1, None), seen_by=sights)

    machine = Machine(
        "Linux",
        Cpu(None, None, None, None),
        Memory(MemoryKind.SHARED, None, None),
        (
            device("gpu0", MemoryKind.DEDICATED, Sight("llama_server", "CUDA0"), Sight("other", "X")),
            device("part", MemoryKind.SHARED, Sight("llama_server", "Vulkan1")),
        ),
    )
    assert device_places(machine, "llama_server", (SYSTEM, CARD)) == {"Host": HOST, "CUDA0": "gpu0", "Vulkan1": HOST}


def observed(resident=300, told=None, estimated=None, **changes):
    told = told or {"Host": {Term.WEIGHTS: 100 * MIB, Term.KV: 50 * MIB}, "CUDA0": {Term.WEIGHTS: 600 * MIB}}
    estimated = {Term.WEIGHTS: (800 if estimated is None else estimated) * MIB}
    return Observation(replace(NOW, **changes), told, resident * MIB, estimated)


def test_without_earlier_loads_an_estimate_stands():
    correction = corrected(FORMULA, NOW, (), ONE)
    assert (correction.estimate, correction.last_off, correction.loads) == (FORMULA, None, 0)


def test_the_same_model_under_the_same_load_is_as_measured():
    correction = corrected(FORMULA, NOW, (observed(), observed(files="b", estimated=100)), ONE)
    measured = correction.estimate
    assert measured.basis is Basis.MEASURED
    assert mib(measured.share(HOST)) == {"engine": 150, "weights": 100, "kv": 50}
    assert mib(measured.share("gpu0")) == {"engine": 320, "weights": 600}
    assert measured.least_bytes == measured.total_bytes
    assert correction.last_off == pytest.approx((600 + 300) / 800 - 1)
    assert correction.loads == 1


def test_what_is_reserved_counts_where_less_was_touched():
    measured = corrected(FORMULA, NOW, (observed(resident=10),), ONE).estimate
    assert mib(measured.share(HOST)) == {"engine": 0, "weights": 100, "kv": 50}


def test_another_model_of_the_architecture_gets_the_median_of_the_engines_own_memory():
    past = [observed(resident, files=str(resident)) for resident in (250, 390, 290)]
    correction = corrected(FORMULA, NOW, past, ONE)
    assert correction.loads == 3
    assert correction.estimate.basis is Basis.CALCULATED
    assert mib(correction.estimate.share(HOST))["engine"] == 140
    assert mib(correction.estimate.share("gpu0"))["engine"] == 320
    assert correction.estimate.least_bytes == (400 - 10) * MIB
    assert correction.last_off == pytest.approx((600 + 250) / 800 - 1)


def test_weights_that_an_engine_does_not_tell_are_not_taken_for_its_own_memory():
    cache_alone = {"Host": {Term.KV: 50 * MIB}}
    other = corrected(FORMULA, NOW, (observed(told=cache_alone, files="b"),), ONE)
    assert (other.estimate, other.loads) == (FORMULA, 0)
    assert other.last_off == pytest.approx(300 / 800 - 1)
    same = corrected(FORMULA, NOW, (observed(told=cache_alone),), ONE)
    assert mib(same.estimate.share(HOST)) == {"engine": 250, "kv": 50}


@pytest.mark.parametrize(
    "changes",
    [{"devices": ("A Processor",)}, {"engine_id": "other"}, {"architecture": "qwen3"}, {"architecture": None}],
)
def test_what_was_on_other_devices_or_of_another_kind_counts_for_nothing(changes):
    correction = corrected(FORMULA, NOW, (observed(**changes),), ONE)
    assert (correction.estimate, correction.last_off, correction.loads) == (FORMULA, None, 0)


def test_unknown_architectures_are_not_alike_but_for_the_same_files():
    past = (observed(architecture=None),)
    assert corrected(FORMULA, replace(NOW, architecture=None, files="b"), past, ONE).loads == 0
    again = corrected(FORMULA, replace(NOW, architecture=None), past, ONE)
    assert again.estimate.basis is Basis.MEASURED
    assert again.last_off is not None


def test_another_version_only_tells_how_far_off_it_was():
    correction = corrected(FORMULA, NOW, (observed(version="0"),), ONE)
    assert correction.estimate == FORMULA
    assert correction.last_off is not None


def test_an_estimate_that_was_unknown_is_passed_over():
    unknown = replace(observed(files="b"), estimated_bytes={Term.WEIGHTS: None})
    assert corrected(FORMULA, NOW, (unknown, observed(files="c")), ONE).last_off == pytest.approx(900 / 800 - 1)
    assert corrected(FORMULA, NOW, (unknown,), ONE).last_off is None


@pytest.mark.parametrize(
    ("told", "engine_mib", "loads"),
    [({Term.WEIGHTS: 6 * MIB}, 164, 1), ({}, 150, 0)],
)
def test_a_load_whose_cache_was_still_to_come_is_no_measure_of_the_whole(told, engine_mib, loads):
    expected = {Term.WEIGHTS: 7 * MIB, Term.KV: 9 * MIB, Term.ENGINE: 150 * MIB}
    seen = Observation(NOW, {"Host": told}, 170 * MIB, expected)
    found = corrected(FORMULA, NOW, [seen], ONE)
    assert (found.estimate.basis, found.last_off, found.loads) == (FORMULA.basis, None, loads)
    assert mib(found.estimate.share(HOST)) == {**mib(FORMULA.share(HOST)), "engine": engine_mib}


def test_a_load_that_told_its_cache_is_one():
    expected = {Term.WEIGHTS: 7 * MIB, Term.KV: 9 * MIB, Term.ENGINE: 150 * MIB}
    seen = Observation(NOW, {"Host": {Term.WEIGHTS: 6 * MIB, Term.KV: 9 * MIB}}, 170 * MIB, expected)
    assert corrected(FORMULA, NOW, [seen], ONE).estimate.basis is Basis.MEASURED
