"""Conversations in the forms that chat templates take."""

from weighbridge_engines.turns import forms, merged, system_first, without_system


def turns(*pairs):
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    return [{"role": names[role], "content": content} for role, content in pairs]


def test_turns_in_a_row_are_made_one():
    told = merged(turns(("u", "a"), ("u", "b"), ("a", "c"), ("u", "d")))
    assert told == turns(("u", "a\n\nb"), ("a", "c"), ("u", "d"))


def test_what_tools_say_stays_apart():
    told = turns(("t", "1"), ("t", "2"))
    assert merged(told) == told
    calls = [{"role": "assistant", "content": "", "tool_calls": [1]}, *turns(("a", "x"))]
    assert merged(calls) == calls


def test_what_the_system_says_late_comes_before_what_the_user_says_next():
    told = turns(("s", "be"), ("u", "a"), ("a", "b"), ("s", "now"), ("u", "c"))
    assert system_first(told) == turns(("s", "be"), ("u", "a"), ("a", "b"), ("u", "now\n\nc"))
    assert without_system(told) == turns(("u", "be\n\na"), ("a", "b"), ("u", "now\n\nc"))
    assert without_system(turns(("s", "alone"))) == turns(("u", "alone"))


def test_the_first_form_is_what_was_said_and_none_comes_twice():
    told = turns(("u", "a"), ("a", "b"), ("u", "c"))
    assert list(forms(told)) == [told]
    late = turns(("s", "1"), ("u", "a"), ("u", "b"), ("s", "2"), ("u", "c"))
    first, *others = forms(late)
    assert first == late
    assert len(others) == 3
    assert others[-1] == turns(("u", "1\n\na\n\nb\n\n2\n\nc"))
