"""A memory bar as data."""

import pytest

from weighbridge.ui.memory_parts import Memory, Part, in_words, mark_at, spans

GIB = 1 << 30


def test_parts_stand_in_their_order_and_the_rest_is_free():
    memory = Memory("RAM", 10 * GIB, (Part("kv", GIB), Part("others", 2 * GIB), Part("weights", 3 * GIB)))
    assert [(part.kind, part.size_bytes // GIB) for part in memory.ordered] == [
        ("others", 2),
        ("weights", 3),
        ("kv", 1),
        ("free", 4),
    ]
    assert memory.used_bytes == 6 * GIB


def test_more_than_there_is_leaves_nothing_free():
    assert Memory("RAM", GIB, (Part("weights", 2 * GIB),)).ordered[-1] == Part("free", 0)


def test_the_mark_stands_at_the_limit_or_where_the_memory_ends():
    assert mark_at(Memory("RAM", 10 * GIB, (Part("weights", 4 * GIB),), 9 * GIB)) == 0.9
    assert mark_at(Memory("RAM", 10 * GIB, (Part("weights", 20 * GIB),), 9 * GIB)) == 0.5
    assert mark_at(Memory("RAM", 10 * GIB, (Part("weights", 4 * GIB),))) is None
    assert mark_at(Memory("RAM", GIB, (), 0)) is None


def test_the_free_part_says_what_should_stay_free():
    memory = Memory("RAM", 10 * GIB, (Part("weights", 4 * GIB),), 9 * GIB)
    assert in_words(memory.ordered[-1], memory).endswith("1.0\u202fGiB should stay free")


def test_a_part_in_words_says_what_whose_and_how_much():
    memory = Memory("RAM", 10 * GIB, (Part("kv", GIB, "Qwen3"),))
    assert in_words(memory.parts[0], memory).split(" · ") == ["KV cache", "Qwen3", "1.0\u202fGiB", "10 % of RAM"]
    assert in_words(Part("others", GIB, named="In use"), memory).startswith("In use · 1.0")


def test_spans_follow_the_bytes():
    parts = (Part("weights", 50), Part("kv", 25), Part("free", 25))
    assert spans(parts, 100, 200.0) == [(0.0, 100.0), (100.0, 50.0), (150.0, 50.0)]


def test_a_tiny_part_can_be_seen_and_pointed_at():
    left, wide = spans((Part("weights", 1), Part("free", 10**12)), 10**12, 200.0)[0]
    assert (left, wide) == (0.0, 2.0)


def test_parts_that_are_too_much_share_the_width():
    assert spans((Part("weights", 150), Part("kv", 50), Part("free", 0)), 100, 200.0) == [
        (0.0, 150.0),
        (150.0, 50.0),
        (200.0, 0.0),
    ]


@pytest.mark.parametrize("width", [0.0, 1.0])
def test_no_room_is_no_fault(width):
    found = spans((Part("weights", 1), Part("kv", 1), Part("free", 1)), 3, width)
    assert sum(wide for _, wide in found) <= width
