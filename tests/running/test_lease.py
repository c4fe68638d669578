"""How a request is put to the engine that a lease is of."""

from dataclasses import replace

from weighbridge.running.lease import Lease
from weighbridge_engines.api import Dialect, Load
from weighbridge_engines.echo import ENGINE


def test_no_stop_texts_are_left_to_a_server_of_others_too():
    known = replace(ENGINE, dialect=Dialect(fields=frozenset({"stop"})))
    lease = Lease("m", "http://127.0.0.1:1", "", None, lambda: None, known, Load("m"))
    assert set(lease.spoken({"stop": []})) == {"model"}
    assert lease.spoken({"stop": ["a"]})["stop"] == ["a"]


def test_what_only_we_know_for_no_limit_is_left_to_a_server_of_others():
    body = {"max_tokens": -1, "max_completion_tokens": 5, "stop": ["a"], "top_k": 3}
    known = replace(ENGINE, dialect=Dialect(fields=frozenset({"max_tokens", "max_completion_tokens", "stop"})))
    spoken = [
        Lease("m", "http://127.0.0.1:1", "", None, lambda: None, engine, Load("m")).spoken(body)
        for engine in (ENGINE, known)
    ]
    assert [{**told, "model": "m"} for told in spoken] == [
        {**body, "model": "m"},
        {"max_completion_tokens": 5, "stop": ["a"], "model": "m"},
    ]
