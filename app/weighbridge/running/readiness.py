"""Whether an engine's port answers, and answers as ours: standard library only, never through a proxy."""

from __future__ import annotations

import json
import random
import socket
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

HEALTH_TIMEOUT_S = 2.0
ONE_TOKEN_TIMEOUT_S = 600.0
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


def healthy(port: int) -> bool:
    """True once the engine says that its model is loaded."""
    try:
        return _status(port, "GET", "/health", "", "", HEALTH_TIMEOUT_S) == HTTPStatus.OK
    except (OSError, HTTPException):
        return False


def answers(port: int, key: str) -> bool:
    """True if the engine takes our key and makes one token: a server can be healthy and unable to answer."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    try:
        return (
            _status(port, "POST", "/v1/chat/completions", key, json.dumps(body), ONE_TOKEN_TIMEOUT_S) == HTTPStatus.OK
        )
    except (OSError, HTTPException):
        return False


def _status(port: int, method: str, path: str, key: str, body: str, timeout_s: float) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()
