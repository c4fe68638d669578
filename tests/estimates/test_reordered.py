"""What the engine copies into another order for the processor, against its own tables, made on one with AVX2."""

from pathlib import Path

import pytest
from tests.benchmarks.estimate import digest
from tests.benchmarks.fit_accuracy import MIB, Case, cases

from weighbridge.estimates.estimate import HOST, Place, PlaceKind, Term
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.placement import reordered_types

MODELS = {case.name: case for case in cases(Path(__file__).parents[1] / "data" / "fit_cases")}
PROCESSOR = Place(HOST, "", PlaceKind.HOST, reordered=reordered_types(("AVX2",)))


def weights_mib(case: Case, place: Place) -> float:
    return estimate(digest(case), case.plan, [place]).term(Term.WEIGHTS) / MIB


@pytest.mark.parametrize("name", MODELS)
def test_the_weights_are_those_of_the_engines_table(name):
    case = MODELS[name]
    told = case.told_mib("model")
    assert abs(weights_mib(case, PROCESSOR) - told) <= max(0.01 * told, 2)


def test_without_the_copies_most_would_be_too_little():
    plain = Place(HOST, "", PlaceKind.HOST)
    assert sum(weights_mib(case, PROCESSOR) - weights_mib(case, plain) > 2 for case in MODELS.values()) == 18
