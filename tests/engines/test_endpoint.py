"""The engine over a server that someone else runs."""

from weighbridge_engines.api import Capability, Load
from weighbridge_engines.endpoint import ENGINE, FIELDS, of


def test_it_starts_nothing_and_needs_nothing():
    assert (ENGINE.command, ENGINE.serve, ENGINE.open, ENGINE.missing()) == (None, None, None, None)
    assert ENGINE.attach("https://api.example.com/") == "https://api.example.com"


def test_the_servers_own_name_is_said_there_and_ours_here():
    assert of("Box", "/v1", FIELDS).name_of(Load("llama3:8b", alias="llama3:8b@box")) == "llama3:8b"


def test_what_a_server_does_not_know_its_engine_cannot_do():
    engine = of("Box", "/v3", FIELDS - {"tools", "response_format"}, "/health")
    assert not engine.capabilities & {Capability.TOOLS, Capability.JSON_SCHEMA, Capability.GRAMMAR}
    assert {Capability.CHAT, Capability.LOGPROBS, Capability.EMBEDDINGS} <= engine.capabilities
    assert (engine.title, engine.dialect.base_path, engine.dialect.health) == ("Box", "/v3", "/health")


def test_a_limit_is_called_as_it_is_called_there():
    body = {"max_tokens": 5, "top_p": 0.5}
    assert of("Box", "/v1", FIELDS).dialect.limited(body) == body
    renamed = of("Box", "/v1", FIELDS, limit="max_completion_tokens").dialect.limited(body)
    assert renamed == {"max_completion_tokens": 5, "top_p": 0.5}


def test_one_that_takes_any_field_is_sent_all():
    engine = of("Box", "/v1", None)
    assert engine.dialect.fields is None
    assert Capability.GRAMMAR in engine.capabilities
