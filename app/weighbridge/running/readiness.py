"""Whether an engine's port answers, and answers as ours: standard library only, never through a proxy."""

from __future__ import annotations

import contextlib
import json
import random
import socket
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from weighbridge.base.errors import EngineFailed
from weighbridge_engines.api import TEMPLATE_ERROR, Dialect, Engine, Load

HEALTH_TIMEOUT_S = 2.0
ONE_TOKEN_TIMEOUT_S = 600.0
MAX_ANSWER_BYTES = 1 << 16
_SHOWN = 500
_NOT_YET = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)
_PORTS = range(20000, 32000)
"""Below the range that systems take ports for outgoing connections from, so that none is taken in between."""


def free_port() -> int:
    """A loopback port that nobody listens on now.

    It may be taken before it is used: the caller tries again with another.
    """
    for port in random.sample(_PORTS, 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port")


def healthy(port: int, dialect: Dialect = Dialect()) -> bool:  # noqa: B008 - it never changes
    """True once the engine says that its model is loaded; where it says nothing of that, once it answers at all."""
    route = dialect.health or f"{dialect.base_path}/models"
    try:
        status = _ask(port, "GET", route, "", "", HEALTH_TIMEOUT_S)[0]
        return status == HTTPStatus.OK or (not dialect.health and status not in _NOT_YET)
    except (OSError, HTTPException):
        return False


_ASKED: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "chat": ("/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}),
    "embedding": ("/embeddings", {"input": "Hi"}),
    "rerank": ("/rerank", {"query": "Hi", "documents": ["Hi"]}),
}
"""The least that shows that a model does what it is loaded for."""


def answers(port: int, key: str, load: Load, engine: Engine) -> bool:
    """True if `engine` takes our key and makes one token, or does the least of another task that `load` is for: a
    server can be healthy and unable to answer.

    False where it is too early to tell. Raises EngineFailed("engine.no_token") where it answers with an error, which
    asking again would not change; "engine.template" where that is one of the model's chat template.
    """
    route, least = _ASKED[load.task]
    path, body = f"{engine.dialect.base_path}{route}", {**least, "model": engine.name_of(load)}
    try:
        status, answer = _ask(port, "POST", path, key, json.dumps(body), ONE_TOKEN_TIMEOUT_S)
    except (OSError, HTTPException):
        return False
    if status != HTTPStatus.OK and status not in _NOT_YET:
        kind, words = _told(answer)
        if kind == TEMPLATE_ERROR:
            raise EngineFailed("engine.template", reason=words.rstrip("."))
        raise EngineFailed("engine.no_token", status=status, message=words)
    return status == HTTPStatus.OK


def _ask(port: int, method: str, path: str, key: str, body: str, timeout_s: float) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        return response.status, response.read(MAX_ANSWER_BYTES)
    finally:
        connection.close()


def _told(answer: bytes) -> tuple[str, str]:
    """The type and the message of an OpenAI-style error; of another answer none, and itself."""
    kind, shown = "", answer.decode("utf-8", "replace").strip()
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        error = json.loads(shown)["error"]
        kind, shown = str(error.get("type")), str(error["message"])
    return kind, shown[:_SHOWN]
