import asyncio
import json
import time

import pytest

from weighbridge.base.errors import Refused
from weighbridge.server import bodies
from weighbridge.server.bodies import MAX_DEPTH, MAX_TOKENS, check_shape, json_object, read_body
from weighbridge.server.hangup import HungUp


def refusal(body):
    with pytest.raises(Refused) as caught:
        json_object(body)
    return caught.value.code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{:", "body.not_json"),
        (b"", "body.not_json"),
        (b" ", "body.not_json"),
        (b'{"a": "unfinished', "body.not_json"),
        (b'{"a": 1} trailing', "body.not_json"),
        (b"[]", "body.not_object"),
        (b"5", "body.not_object"),
        (b'"x"', "body.not_object"),
        (b"null", "body.not_object"),
        (b'{"a": "\xff"}', "body.not_utf8"),
        ('{"a": 1}'.encode("utf-16"), "body.not_utf8"),
        (b'{"a": NaN}', "body.bad_number"),
        (b'{"a": -Infinity}', "body.bad_number"),
        (b'{"a": 1%s}' % (b"0" * 5000), "body.bad_number"),
        (b'{"a": -1e999}', "body.bad_number"),
        (b"[" * 20_000_000, "body.too_deep"),
        (b'{"a":' * 4_000_000, "body.too_deep"),
        (b"[" * 10_000_000 + b"]" * 10_000_000, "body.too_deep"),
        (b'{"a":[' + b"[]," * 6_000_000 + b"1]}", "body.too_many"),
        (b'{"a":[' + b'"",' * 6_000_000 + b"1]}", "body.too_many"),
        (b'{"a":[' + b"1," * 9_000_000 + b"1]}", "body.too_many"),
        (b'{"a":"' + b'\\"' * 1_000_000 + b"[" * 100, "body.not_json"),
        (b'["' * 200, "body.too_deep"),
    ],
    ids=range(23),
)
def test_what_is_not_a_plain_object_is_refused(body, code):
    assert refusal(body) == code


def test_a_hostile_body_costs_little():
    """Not a stopwatch of ours: each body would take minutes, or all memory, if it were read to its end."""
    began_s = time.process_time()
    for body in (b"[" * 20_000_000, b'"\\"' * 5_000_000 + b"[" * 200, b'"' * 20_000_001 + b"[" * 99):
        with pytest.raises(Refused):
            json_object(body)
    assert time.process_time() - began_s < 20


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


def test_the_depth_limit_is_exact():
    assert json_object(nested(MAX_DEPTH))
    assert refusal(nested(MAX_DEPTH + 1)) == "body.too_deep"


def test_brackets_inside_strings_do_not_count():
    text = '[[{"' * 1000 + "\\" * 7 + '"' + "\n" * 50
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    assert json_object(body)["messages"][0]["content"] == text


def test_ten_thousand_messages_are_no_attack():
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a, b"}]}] * 10_000}
    assert json_object(json.dumps(body).encode()) == body


def test_many_values_side_by_side_are_counted():
    check_shape(b"{" + b"[]," * (MAX_TOKENS // 3 - 1))
    with pytest.raises(Refused):
        check_shape(b"{" + b"[]," * (MAX_TOKENS // 3 + 1))


def read(*messages, headers=(), limit=10):
    waiting = list(messages)

    async def receive():
        return waiting.pop(0)

    scope = {"type": "http", "headers": list(headers)}
    return asyncio.run(read_body(scope, receive, limit))


def piece(data, more=True):
    return {"type": "http.request", "body": data, "more_body": more}


def test_a_body_is_put_together():
    assert read(piece(b"12345"), piece(b"67890", more=False)) == b"1234567890"


def test_a_body_over_the_limit_is_dropped_as_it_comes():
    with pytest.raises(Refused) as caught:
        read(*[piece(b"123456")] * 3, piece(b"", more=False))
    assert (caught.value.code, caught.value.values["limit_bytes"]) == ("body.too_large", 10)
    with pytest.raises(Refused):
        read(*[piece(b"123456")] * 7)  # and not read for ever


def test_an_announced_giant_is_not_read_at_all():
    with pytest.raises(Refused):
        read(headers=[(b"content-length", b"9" * 100)])
    assert read(piece(b"1", more=False), headers=[(b"content-length", b"junk")]) == b"1"


def test_a_caller_may_go_in_mid_body():
    with pytest.raises(HungUp) as caught:
        read(piece(b"12"), {"type": "http.disconnect"})
    assert caught.value.stopping is False


def test_a_body_that_stops_half_way(monkeypatch):
    monkeypatch.setattr(bodies, "SILENCE_S", 0.01)
    first = [{"type": "http.request", "body": b'{"a":', "more_body": True}]

    async def receive():
        return first.pop() if first else await asyncio.Event().wait()

    with pytest.raises(Refused) as refused:
        asyncio.run(read_body({"type": "http", "headers": []}, receive))
    assert refused.value.code == "body.stopped"
