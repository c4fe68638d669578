import asyncio

import pytest

from weighbridge.server.requests import HUNG_UP, Recorded, RequestRecords, RequestRow, note_of

SCOPE = {"type": "http", "method": "POST", "path": "/v1/" + "x" * 500, "client": ("127.0.0.1", 5)}


def row(number):
    return RequestRow(float(number), "GET", "/health", None, 200, True, None, None, 1.0, "127.0.0.1")


def test_only_the_last_are_kept():
    records = RequestRecords(limit=3)
    for number in range(5):
        records.add(row(number))
    assert [each.time_s for each in records.rows()] == [2.0, 3.0, 4.0]


def test_listeners_hear_of_each_until_they_stop():
    records, heard = RequestRecords(), []
    stop = records.subscribe(heard.append)
    records.subscribe(heard.append)
    records.add(row(1))
    stop()
    records.add(row(2))
    assert [each.time_s for each in heard] == [1.0, 1.0, 2.0]


def record(app, scope=SCOPE):
    records, sent = RequestRecords(), []

    async def send(message):
        sent.append(message)

    asyncio.run(Recorded(app, records)(dict(scope), None, send))
    (only,) = records.rows()
    return only, sent


def test_a_request_is_noted_with_what_its_route_learned():
    async def app(scope, receive, send):
        note = note_of(scope)
        note.model, note.output_tokens = "tiny", 7
        await send({"type": "http.response.start", "status": 201})

    only, sent = record(app)
    assert (only.status, only.model, only.prompt_tokens, only.output_tokens) == (201, "tiny", None, 7)
    assert (only.method, len(only.route), only.client, only.complete) == ("POST", 200, "127.0.0.1", True)
    assert only.duration_ms >= 0
    assert len(sent) == 1


def test_no_answer_is_a_hang_up():
    async def app(scope, receive, send):
        return

    only, _ = record(app, {**SCOPE, "client": None})
    assert (only.status, only.complete, only.client) == (HUNG_UP, False, "")


def test_a_fault_is_noted_too():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 500})
        raise ValueError("x")

    records = RequestRecords()

    async def send(message):
        return

    with pytest.raises(ValueError, match="x"):
        asyncio.run(Recorded(app, records)(dict(SCOPE), None, send))
    assert records.rows()[0].status == 500
