"""How a library with some of the usual samplers is told to choose tokens."""

import pytest

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.library_sampling import check_penalty, chosen, controls_of, is_greedy
from weighbridge_engines.sampling import NUMBERS

ABLE = ("temperature", "top_k", "top_p", "seed")


def test_what_is_not_asked_for_is_as_usual():
    usual = {control.name: control.default for control in NUMBERS}
    assert chosen({"top_k": 3}, ABLE) == {**{name: usual[name] for name in ABLE}, "top_k": 3}


@pytest.mark.parametrize(("name", "value"), [("min_p", 0.1), ("mirostat", 2), ("repeat_last_n", 64), ("min_keep", 1)])
def test_what_the_library_has_not_is_refused_by_name(name, value):
    with pytest.raises(RequestRefused) as refused:
        chosen({name: value}, ABLE)
    assert (refused.value.field, refused.value.reason) == (name, f"this engine has no {name}")


@pytest.mark.parametrize(("name", "value"), [("min_p", 0), ("typical_p", 1), ("mirostat", 0), ("mirostat_tau", 9.0)])
def test_what_does_nothing_may_be_asked_for(name, value):
    assert name not in chosen({name: value}, ABLE)


@pytest.mark.parametrize(
    ("values", "greedy"),
    [
        ({"temperature": 0.0}, True),
        ({"temperature": 1.0, "top_k": 1}, True),
        ({"temperature": 1.0, "top_p": 0.0}, True),
        ({"temperature": 1.0, "min_p": 1.0}, True),
        ({"temperature": 1.0, "top_k": 40, "top_p": 0.5, "min_p": 0.1}, False),
    ],
)
def test_when_only_the_likeliest_is_left(values, greedy):
    assert is_greedy(values) is greedy


def test_a_penalty_of_nothing_is_refused():
    check_penalty({"repeat_penalty": 0.5})
    with pytest.raises(RequestRefused):
        check_penalty({"repeat_penalty": 0.0})


def test_its_settings_are_those_of_all_with_its_own_names():
    (one,) = controls_of(("temperature",), {"temperature": "temp"})
    assert (one.name, one.parameter, one.high) == ("temperature", "temp", 100)
