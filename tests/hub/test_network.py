"""The log of requests."""

import threading
from dataclasses import fields

from weighbridge.hub.network import NetworkLog, Request


def test_a_request_from_its_beginning_to_its_end():
    log, seen = NetworkLog(), []
    leave = log.subscribe(seen.append)
    line = log.begin("huggingface.co", "repository", "HEAD")
    (request,) = log.requests
    assert (request.host, request.purpose, request.method) == ("huggingface.co", "repository", "HEAD")
    assert (request.status, request.received_bytes, request.seconds, request.error) == (None, None, None, None)
    line.answered(206)
    line.ended(1234, "hub.stalled")
    line.ended(9, None)
    (request,) = log.requests
    assert (request.status, request.received_bytes, request.error) == (206, 1234, "hub.stalled")
    assert request.seconds >= 0
    assert [each.status for each in seen] == [None, 206, 206]
    leave()
    log.begin("x", "file")
    assert len(seen) == 3


def test_the_oldest_are_forgotten_and_do_not_come_back():
    log = NetworkLog(3)
    first = log.begin("a", "file")
    for host in "bcd":
        log.begin(host, "file")
    first.ended(1)
    assert [each.host for each in log.requests] == ["b", "c", "d"]
    assert log.count == 4


def test_threads_do_not_lose_any():
    log = NetworkLog()

    def ask():
        for _ in range(200):
            log.begin("h", "file").ended(0)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.number for each in log.requests) == list(range(1, 801))


def test_there_is_no_place_for_a_secret():
    names = {field.name for field in fields(Request)}
    assert names == {"number", "host", "purpose", "method", "when", "status", "received_bytes", "seconds", "error"}
