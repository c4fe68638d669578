"""Bandwidth of cards, as engines measure it."""

import json
from dataclasses import replace

import pytest
from tests.running.test_devices import CARD, MACHINE, engine

from weighbridge.hardware.child import Answer
from weighbridge.hardware.machine import Machine, Sight
from weighbridge.running.bandwidths import measure_cards, read_bandwidth
from weighbridge_engines import api


def seen(*sights):
    card = replace(CARD, seen_by=tuple(Sight(*sight) for sight in sights))
    return Machine(MACHINE.system, MACHINE.cpu, MACHINE.memory, (card,))


def able(**changes):
    return engine(bandwidth=dict, **changes)


class Child:
    """Answers for each engine, and remembers what was asked."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    def __call__(self, argv, limit_s, environment):
        self.asked.append(tuple(argv[-2:]))
        answer = self.answers[argv[-2]]
        if isinstance(answer, OSError):
            raise answer
        return (
            answer if isinstance(answer, Answer) else Answer(f"a library\n{json.dumps({'bandwidth': answer})}\n", "", 0)
        )


def test_a_card_is_measured_by_the_engine_that_sees_it():
    child = Child(made={"CUDA0": 871.5e9, "CUDA1": 1e9})
    speeds = measure_cards(seen(("made", "CUDA0")), [able()], child)
    assert (speeds.gbs, speeds.problems) == ({"cuda0": 871.5}, ())
    assert child.asked == [("made", "--bandwidth")]


def test_of_two_engines_and_two_ways_the_fastest_counts():
    child = Child(made={"CUDA0": 800e9, "Vulkan0": 850e9}, other={"X": 600e9})
    machine = seen(("made", "CUDA0"), ("made", "Vulkan0"), ("other", "X"))
    assert measure_cards(machine, [able(), able(id="other")], child).gbs == {"cuda0": 850.0}


@pytest.mark.parametrize(
    ("machine", "one"),
    [
        (seen(), able()),
        (seen(("other", "CUDA0")), able()),
        (seen(("made", "CUDA0")), engine()),
        (seen(("made", "CUDA0")), able(missing=lambda: api.Cause("engine.not_installed"))),
    ],
    ids=["sees nothing", "another sees it", "cannot measure", "not installed"],
)
def test_who_has_nothing_to_measure_is_not_asked(machine, one):
    child = Child()
    assert measure_cards(machine, [one], child).gbs == {}
    assert child.asked == []


@pytest.mark.parametrize(
    ("answer", "code", "values"),
    [
        (Answer("", "", None), "engine.bandwidth_slow", {"limit_s": 20}),
        (
            Answer("", "x\nCUDA error: out of memory\n", 1),
            "engine.bandwidth_failed",
            {"reason": "CUDA error: out of memory"},
        ),
        (Answer('{"bandwidth": {}}', "", -11), "engine.bandwidth_failed", {"reason": "-11"}),
        (OSError(2, "No such file"), "engine.bandwidth_failed", {"reason": "No such file"}),
    ],
)
def test_an_engine_that_fails_is_told_and_the_others_measure(answer, code, values):
    child = Child(made=answer, other={"X": 600e9})
    speeds = measure_cards(seen(("made", "CUDA0"), ("other", "X")), [able(), able(id="other")], child)
    [cause] = speeds.problems
    assert (cause.code, cause.values) == (code, {"engine": "Made", **values})
    assert speeds.gbs == {"cuda0": 600.0}


def test_what_cannot_be_a_speed_is_left_out():
    told = '{"bandwidth": {"a": 0, "b": -1, "c": NaN, "d": Infinity, "e": true, "f": "9", "g": null, "h": 5}}'
    assert read_bandwidth(told) == {"h": 5.0}


@pytest.mark.parametrize("text", ["", "5", "[]", "{}", '{"bandwidth": 5}', '{"bandwidth": null}'])
def test_what_is_no_answer(text):
    assert read_bandwidth(text) is None
