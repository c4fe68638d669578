"""Thought and answer told apart, however the text is cut."""

import itertools

import pytest

from weighbridge.chat.thinking import Answer, Piece, ThinkSplitter, fence_after, split

FENCED = "Templates look so:\n```\n<think>\nhm\n</think>\n```\nThat is all."
CASES = [
    ("<think>a</think>b", "a", "b"),
    ("<think>\nWell.\n</think>\n\nYes.", "Well.\n", "Yes."),
    ("  \n<think>a</think>b", "a", "b"),
    ("a</think>b", "a", "b"),
    ("<think>a", "a", ""),
    ("<think>", "", ""),
    ("plain answer", "", "plain answer"),
    ("<", "", "<"),
    ("<thin", "", "<thin"),
    ("use `<think>` tags and `</think>` after", "", "use `<think>` tags and `</think>` after"),
    ("use <think> here", "", "use <think> here"),
    (FENCED, "", FENCED),
    ("<think>It wants `</think>` kept.</think>Done", "It wants `</think>` kept.", "Done"),
    ("<think>a stray ` mark</think>b", "a stray ` mark", "b"),
    ("<think>a stray ` mark</think>", "a stray ` mark", ""),
    ("<think>```\nx = 1\n</think>b", "```\nx = 1\n", "b"),
    ("<think>a</think>b </think> c <think>", "a", "b </think> c <think>"),
    ("<think></think>b", "", "b"),
    ("1 < 2 and a </", "", "1 < 2 and a </"),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "reasoning", "answer"), CASES)
def test_whole(text, reasoning, answer):
    assert split(text) == Answer(answer, reasoning)


@pytest.mark.parametrize(("text", "reasoning", "answer"), CASES)
def test_streamed_in_any_pieces_equals_whole(text, reasoning, answer):
    for size in (1, 2, 3, 5, 7):
        assert _streamed([text[at : at + size] for at in range(0, len(text), size)]) == Answer(answer, reasoning)


def test_streamed_cut_at_any_two_places_equals_whole():
    text = "<think>a `x` b</think>\n\ncd"
    for first, second in itertools.combinations(range(len(text)), 2):
        assert _streamed([text[:first], text[first:second], text[second:]]) == Answer("cd", "a `x` b")


def test_an_answer_is_given_out_at_once():
    splitter = ThinkSplitter()
    assert splitter.feed("Hello") == Piece("Hello")
    assert splitter.feed(" there <") == Piece(" there ")
    assert splitter.feed("3") == Piece("<3")


def test_a_lone_closing_tag_moves_what_was_shown():
    splitter = ThinkSplitter()
    assert splitter.feed("so it is") == Piece("so it is")
    assert splitter.feed("</think>\n\nYes") == Piece("Yes", "", restart=True)


def test_what_the_engine_calls_thought_is_taken_and_tags_stay_text():
    splitter = ThinkSplitter()
    answer = Answer()
    for text, reasoning in (("", "Let me "), ("", "see."), ("The tag </think> ", ""), ("ends it", "")):
        answer.add(splitter.feed(text, reasoning))
    answer.add(splitter.end())
    assert answer == Answer("The tag </think> ends it", "Let me see.")


def test_fences():
    assert fence_after("```python", "") == "```"
    assert fence_after("``` inline ```", "") == ""
    assert fence_after("````", "```") == ""
    assert fence_after("```", "````") == "````"
    assert fence_after("~~~", "```") == "```"
    assert fence_after("text", "```") == "```"


def _streamed(chunks):
    splitter = ThinkSplitter()
    answer = Answer()
    for chunk in chunks:
        answer.add(splitter.feed(chunk))
    answer.add(splitter.end())
    return answer
