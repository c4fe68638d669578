"""The largest number for which something holds, from wherever the search begins."""

import pytest

from weighbridge.estimates.search import last


def searched(most, answer, near):
    """What is found where it holds up to `answer`, and for which numbers that was asked."""
    asked = []

    def holds(number):
        asked.append(number)
        return number <= answer

    return last(most, holds, near), asked


@pytest.mark.parametrize("most", [0, 1, 7, 12])
@pytest.mark.parametrize("near", [None, -3, 0, 1, 5, 12, 20])
def test_it_is_found_from_wherever_the_search_begins(most, near):
    for answer in range(-1, most + 1):
        found, asked = searched(most, answer, near)
        assert found == (None if answer < 0 else answer)
        assert len(asked) == len(set(asked))
        assert all(0 <= number <= most for number in asked)


@pytest.mark.parametrize(("answer", "asks"), [(0, 2), (50, 2), (99, 2), (100, 1)])
def test_a_good_guess_takes_two_questions(answer, asks):
    assert len(searched(100, answer, answer)[1]) == asks


def test_a_guess_that_is_off_by_one_takes_three():
    assert searched(100, 50, 49)[1] == [49, 50, 52, 51]
    assert searched(100, 50, 51)[1] == [51, 50]


def test_there_is_nothing_below_0():
    assert searched(-1, 5, None) == (None, [])
    assert searched(-4, 5, 2) == (None, [])
