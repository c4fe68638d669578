"""What runs here teach."""

import math

import pytest

from weighbridge.estimates.speed.experience import Run, experienced, factor, measured_alone
from weighbridge.estimates.speed.speed import Speed, SpeedBasis

CALCULATED = Speed(80.0, 100.0, 125.0, 512)


def test_without_runs_it_stays_as_calculated():
    assert experienced(CALCULATED, False, []) == CALCULATED


def test_one_run_of_another_model_moves_it_most_of_the_way():
    speed = experienced(CALCULATED, False, [Run(50.0, 100.0)])
    assert speed.mid_tps == pytest.approx(100 * 0.5 ** (1 / 1.4))
    assert (speed.basis, speed.runs) == (SpeedBasis.CORRECTED, 1)
    assert speed.high_tps / speed.mid_tps == pytest.approx(1.15)


def test_many_runs_move_it_nearly_all_the_way():
    assert factor(False, [Run(50.0, 100.0)] * 40) == pytest.approx(0.5, rel=0.01)


def test_a_model_of_the_other_kind_says_less():
    assert factor(True, [Run(50.0, 100.0)]) == pytest.approx(0.5 ** (0.3 / 0.7))


def test_a_run_that_is_far_off_counts_as_off_by_so_much():
    assert factor(False, [Run(1.0, 100.0)]) == pytest.approx(math.exp(-1 / 1.4))


def test_its_own_run_stands_as_measured():
    speed = experienced(CALCULATED, False, [Run(61.4, 100.0, same=True), Run(10.0, 100.0)])
    assert speed.mid_tps == pytest.approx(61.4)
    assert (speed.basis, speed.runs) == (SpeedBasis.MEASURED, 1)
    assert speed.high_tps < 64


def test_its_own_run_is_carried_to_another_depth_by_the_calculated_ones():
    speed = experienced(Speed(40.0, 50.0, 62.0, 8192), False, [Run(61.4, 100.0, same=True)])
    assert speed.mid_tps == pytest.approx(30.7)
    assert speed.depth == 8192


def test_of_several_own_runs_the_middle_of_the_newest_stands():
    runs = [Run(tps, 100.0, same=True) for tps in (60, 61, 62, 10, 63, 500, 600)]
    assert experienced(CALCULATED, False, runs).mid_tps == pytest.approx(61)


def test_what_cannot_be_calculated_stands_by_its_own_runs():
    speed = measured_alone([(60.0, 100), (62.0, 300), (61.0, 200)])
    assert (speed.mid_tps, speed.depth, speed.basis, speed.runs) == (61.0, 200, SpeedBasis.MEASURED, 3)
    assert speed.low_tps < 61 < speed.high_tps
    assert measured_alone([]) is None
