"""Answers that came in one piece though a stream was asked for."""

import json

import pytest

from weighbridge.base.errors import EngineFailed
from weighbridge.chat.events import Delta, Done, Finish, StreamFault, Usage
from weighbridge.chat.whole import events_of


def body(message, finish="stop", **more):
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}).encode()


def test_what_a_stream_would_have_told():
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    told = body({"content": "hi", "reasoning_content": "so", "tool_calls": calls}, usage={"completion_tokens": 2})
    assert events_of(told) == [Delta("hi", "so", tuple(calls)), Usage(None, 2), Finish("stop"), Done()]


def test_fields_that_are_something_else():
    assert events_of(body({"content": None, "tool_calls": "x"}, finish=None)) == [
        Delta(),
        StreamFault("stream.interrupted"),
    ]


@pytest.mark.parametrize("told", [b"", b"x", b"[]", b"{}", b'{"choices": [{}]}', b'{"choices": {}}', b"[" * 100_000])
def test_what_is_no_answer(told):
    with pytest.raises(EngineFailed) as caught:
        events_of(told)
    assert caught.value.code == "stream.malformed"


def test_an_error_that_says_it_is_an_answer():
    with pytest.raises(EngineFailed) as caught:
        events_of(b'{"error": {"message": "no credit"}}')
    assert (caught.value.code, caught.value.values["message"]) == ("engine.answered", "no credit")
