"""What an engine's first answer tells of its load."""

import json

import pytest

from weighbridge.base.errors import EngineFailed
from weighbridge.running import readiness
from weighbridge_engines.api import Load
from weighbridge_engines.echo import ENGINE


def answered(monkeypatch, status, answer):
    monkeypatch.setattr(readiness, "_ask", lambda *_asked: (status, answer))
    return readiness.answers(1, "key", Load("m"), ENGINE)


@pytest.mark.parametrize(
    ("answer", "code", "values"),
    [
        (b'{"error": {"type": "template_error", "message": "(syntax): no endfor."}}', "engine.template",
         {"reason": "(syntax): no endfor"}),
        (b'{"error": {"type": "server_error", "message": "out"}}', "engine.no_token",
         {"status": 400, "message": "out"}),
        (b'{"error": "plain"}', "engine.no_token", {"status": 400, "message": '{"error": "plain"}'}),
        (b'{"error": {"type": "template_error"}}', "engine.no_token", {"status": 400}),
        (b"nothing \xff", "engine.no_token", {"message": "nothing \ufffd"}),
    ],
)  # fmt: skip
def test_why_there_is_no_token(monkeypatch, answer, code, values):
    with pytest.raises(EngineFailed) as failed:
        answered(monkeypatch, 400, answer)
    assert failed.value.code == code
    assert values.items() <= failed.value.values.items()


def test_a_token_is_one_and_too_early_is_no_failure(monkeypatch):
    assert answered(monkeypatch, 200, json.dumps({}).encode())
    assert not answered(monkeypatch, 503, b"")
