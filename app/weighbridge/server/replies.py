"""Answers that are no streams: JSON, and errors in OpenAI's shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from starlette.types import Send

from weighbridge.base.errors import EngineFailed, NotFound, Refused, Unreachable, WeighbridgeError
from weighbridge.base.explain import explain

MAX_MESSAGE_BYTES = 900
"""An error never repeats a request: with its escapes the whole answer stays under 2 kB."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_STATUS_BY_CODE: Mapping[str, int] = {
    "access.host": 421,
    "access.origin": 403,
    "body.stopped": 408,
    "body.too_large": 413,
    "endpoint.picture": 400,
    "engine.stopped": 503,
    "port.stopping": 503,
    "queue.full": 429,
    "route.method": 405,
}
_OPENAI_CODES: Mapping[str, str] = {
    "context.exceeded": "context_length_exceeded",
    "model.unknown": "model_not_found",
}


def status_of(error: WeighbridgeError) -> int:
    """The HTTP status that tells `error`. An engine's refusal of the request keeps the engine's status."""
    if error.code in _STATUS_BY_CODE:
        return _STATUS_BY_CODE[error.code]
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, Refused):
        return 400
    if isinstance(error, EngineFailed | Unreachable):
        told = error.values.get("status")
        return told if told in (400, 413, 415, 422, 429, 501, 503) and isinstance(told, int) else 502
    return 500


def error_body(error: WeighbridgeError, status: int) -> bytes:
    """`error` in OpenAI's shape, under 2 kB. `param` is the field of the request that is at fault, where one is."""
    field = error.values.get("field")
    shown = {
        "message": _short(str(explain(error)), MAX_MESSAGE_BYTES),
        "type": "invalid_request_error" if status < 500 else "server_error",
        "code": _OPENAI_CODES.get(error.code, error.code),
        "param": _short(field, 100) if isinstance(field, str) else None,
        **_counts(error),
    }
    return json.dumps({"error": shown}, ensure_ascii=False).encode()


def _counts(error: WeighbridgeError) -> dict[str, object]:
    """How long the prompt and the context are, by llama.cpp's names: another Weighbridge may be who asks."""
    if error.code != "context.exceeded":
        return {}
    return {"n_prompt_tokens": error.values["prompt_tokens"], "n_ctx": error.values["context"]}


async def send_error(send: Send, error: WeighbridgeError, status: int | None = None) -> None:
    """Answer with `error`."""
    status = status_of(error) if status is None else status
    # A body that was refused unread cannot be told apart from the next request: the connection ends with it.
    headers = {"Connection": "close"} if status in (408, 413) else {}
    if status == 429 and isinstance(seconds := error.values.get("seconds"), int):
        headers["Retry-After"] = str(seconds)
    await send_json(send, status, error_body(error, status), headers)


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Answer with a JSON body."""
    await send_plain(send, status, {"Content-Type": "application/json", **(headers or {})}, body)


async def send_plain(send: Send, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
    """Answer with `body`, which no browser may take for anything but what it is called."""
    every = {**headers, "X-Content-Type-Options": "nosniff"}
    if status != 204:
        every["Content-Length"] = str(len(body))
    raw = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _short(words: str, limit_bytes: int) -> str:
    raw = _CONTROL.sub(" ", words).encode("utf-8", "replace")
    return raw[: limit_bytes - 3].decode("utf-8", "ignore") + "…" if len(raw) > limit_bytes else raw.decode()
