"""The processor's load."""

from weighbridge.hardware.load import ProcessorLoad, load_between, processor_times


def test_the_first_look_knows_nothing_and_the_next_the_share_between():
    readings = iter([(10.0, 100.0), (12.0, 108.0), (12.0, 108.0)])
    moments = iter([0.0, 1.0, 2.0])
    load = ProcessorLoad(lambda: next(readings), lambda: next(moments))
    assert [load.now(), load.now(), load.now()] == [None, 0.25, None]


def test_two_looks_within_a_moment_are_one():
    readings = iter([(10.0, 100.0), (12.0, 108.0), (20.0, 116.0)])
    moments = iter([0.0, 1.0, 1.01, 2.0])
    load = ProcessorLoad(lambda: next(readings), lambda: next(moments))
    assert [load.now() for _ in range(4)] == [None, 0.25, 0.25, 1.0]


def test_a_clock_that_stumbles_stays_within_bounds():
    assert load_between((10.0, 100.0), (9.0, 101.0)) == 0.0
    assert load_between((10.0, 100.0), (12.0, 101.0)) == 1.0


def test_this_machine_has_been_busy():
    busy, whole = processor_times()
    assert 0 < busy < whole
