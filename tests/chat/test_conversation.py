"""The tree of messages."""

import pytest

from weighbridge.chat.conversation import (
    Message,
    Role,
    branch,
    neighbour,
    newest_leaf,
    path_to,
    request_messages,
    siblings,
    title_from,
)


def message(number, parent, role=Role.USER, text="x"):
    return Message(number, 1, parent, role, text, created=float(number))


ASKED = message(1, None, text="Hello")
FIRST = message(2, 1, Role.ASSISTANT, "One")
SECOND = message(3, 1, Role.ASSISTANT, "Two")
FOLLOW = message(4, 2, text="And?")
EMPTY = message(5, 4, Role.ASSISTANT, "")
EDITED = message(6, None, text="Good day")
TREE = (EDITED, FOLLOW, ASKED, SECOND, FIRST, EMPTY)


def test_path_goes_from_the_first_message_to_the_leaf():
    assert path_to(TREE, 5) == (ASKED, FIRST, FOLLOW, EMPTY)
    assert path_to(TREE, 6) == (EDITED,)
    assert path_to(TREE, 99) == ()
    assert path_to(TREE, None) == ()


def test_a_damaged_tree_ends():
    loop = (message(1, 2), message(2, 1))
    assert [one.id for one in path_to(loop, 2)] == [1, 2]
    assert newest_leaf(loop, 1) in (1, 2)


def test_siblings_and_branches():
    assert siblings(TREE, SECOND) == (FIRST, SECOND)
    assert branch(TREE, SECOND) == (2, 2)
    assert branch(TREE, ASKED) == (1, 2)
    assert branch(TREE, FOLLOW) == (1, 1)
    assert neighbour(TREE, FIRST, +1) == SECOND
    assert neighbour(TREE, FIRST, -1) is None


def test_newest_leaf():
    assert newest_leaf(TREE, 2) == 5
    assert newest_leaf(TREE, 3) == 3
    assert newest_leaf(TREE, None) == 6
    assert newest_leaf((), None) is None


def test_request_leaves_out_empty_messages_and_thoughts():
    thought = Message(7, 1, 5, Role.ASSISTANT, "Yes", reasoning="hm")
    assert request_messages((ASKED, EMPTY, thought), "Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Yes"},
    ]
    assert request_messages((ASKED,), "  ") == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is a load line?", "What is a load line?"),
        ("\n\n# Heading\nmore", "Heading"),
        ("What does a load line tell a harbour master? Answer.", "What does a load line tell a harbour master?…"),
        ("x" * 100, "x" * 47 + "…"),
        ("   \n", ""),
    ],
)
def test_title(text, title):
    assert title_from(text) == title
    assert len(title) <= 48
