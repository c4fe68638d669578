"""The memory of a graph: which hole a piece falls into."""

from weighbridge.estimates.graph_space import Space


def test_pieces_lie_one_behind_the_other():
    space = Space()
    assert [space.take(16), space.take(8), space.take(0)] == [(0, 16), (16, 8), None]
    assert space.peak == 24


def test_lengths_are_rounded_up():
    space = Space()
    assert space.take(9) == (0, 16)


def test_the_smallest_hole_that_is_large_enough_is_taken():
    space = Space()
    large, _, small, _ = space.take(64), space.take(8), space.take(32), space.take(8)
    space.give(large, small)
    assert space.take(24) == (72, 24)
    assert space.take(40) == (0, 40)
    assert space.peak == 112


def test_of_holes_alike_the_last_is_taken():
    space = Space()
    first, _, last, _ = (space.take(16) for _ in range(4))
    space.give(first, last)
    assert space.take(16) == last


def test_holes_side_by_side_are_one():
    space = Space()
    pieces = [space.take(16) for _ in range(4)]
    space.give(pieces[0], pieces[2], pieces[1])
    assert space.take(48) == (0, 48)


def test_what_is_given_back_at_the_end_is_no_hole():
    space = Space()
    space.take(16)
    space.give(space.take(16))
    assert space.take(64) == (16, 64)
    assert space.peak == 80


def test_a_space_goes_on_from_where_another_was():
    space = Space()
    first = space.take(16)
    space.take(16)
    later = Space(space.holes)
    space.take(160)
    later.give(first)
    assert [later.take(16), later.take(16)] == [(0, 16), (32, 16)]
    assert (space.peak, later.peak) == (192, 48)
