"""What an engine's refusal means: the status and body of an answer that is no stream, as an error of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.base.printable import printable
from weighbridge.chat.stream import count, error_message
from weighbridge.running.endpoints.faults import message_of
from weighbridge.running.endpoints.way import Way

_TOO_LONG_AS_A_WHOLE = re.compile(
    r"input \((?P<tokens>\d{1,12}) tokens\) is too large to process.*current batch size: (?P<most>\d{1,12})\)"
)
"""What llama.cpp says of a text that is to be read as a whole, as for an embedding."""

_UNPICTURED = (400, 404, 415, 422, 500, 501)
"""With these, servers refuse a picture: vLLM and OpenAI 400, OpenRouter 404, Ollama and llama.cpp 500."""

_ASKED = ("model", "messages", "input", "query", "documents")
"""Fields that a request cannot be without."""

_SHOWN = 500
_UNREAD_PICTURE = "Failed to load image"
"""What llama.cpp says of a picture that it cannot decode; it does not say which."""


def failure(
    status: int,
    body: bytes,
    way: Way | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    *,
    pictured: bool = False,
) -> WeighbridgeError:
    """The error for an answer with `status` (none that is good), of the server at the end of `way` where there is one.
    `pictured`: it was asked with a picture.

    Refused("context.exceeded", prompt_tokens=, context=) where the prompt does not fit the context,
    Refused("message.image_unread", field=) where a picture cannot be decoded, else
    EngineFailed("engine.answered", status=, message=) with the engine's own words, and the `field=` that it names.
    What a server of somebody else says (a key, a limit, a field or a picture that it does not take, a fault of its own)
    is EngineFailed with a code of "endpoint."; `headers` of its answer tell more.
    """
    error = _error_in(body)
    if isinstance(error, dict) and _is_too_long(error):
        return Refused(
            "context.exceeded",
            prompt_tokens=count(error.get("n_prompt_tokens")),
            context=count(error.get("n_ctx")),
        )
    if whole := _TOO_LONG_AS_A_WHOLE.search(error_message(error)):
        return Refused("context.exceeded", prompt_tokens=int(whole["tokens"]), context=int(whole["most"]))
    if _UNREAD_PICTURE in error_message(error):
        return Refused("message.image_unread", field="messages")
    if way is None:
        return EngineFailed("engine.answered", status=status, message=error_message(error), **_field(error))
    return _refusal(status, body, way, headers, _field(error), pictured=pictured and way.sees is not True)


def _refusal(
    status: int, body: bytes, way: Way, headers: Mapping[str, str], named: dict[str, Any], *, pictured: bool
) -> WeighbridgeError:
    """What a server of somebody else says."""
    said = message_of(body) or error_message(_error_in(body))
    if pictured and status in _UNPICTURED:
        code, named = "endpoint.picture", {}
    elif told := way.refusal(status, message_of(body), headers):
        return told
    else:
        code = "endpoint.field" if named and not named["field"].startswith(_ASKED) else "endpoint.request"
    message = printable(way.hidden(said))[:_SHOWN]
    return EngineFailed(code, endpoint=way.title, status=status, message=message, **named)


def _field(error: object) -> dict[str, Any]:
    """The field of the request that the engine names as `param`, if it does."""
    named = error.get("param") if isinstance(error, dict) else None
    return {"field": named} if isinstance(named, str) else {}


def _is_too_long(error: dict[str, object]) -> bool:
    named = {error.get("type"), error.get("code")} & {"exceed_context_size_error", "context_length_exceeded"}
    return bool(named) and count(error.get("n_prompt_tokens")) is not None and count(error.get("n_ctx")) is not None


def _error_in(body: bytes) -> object:
    """The `error` of a JSON body, or the body as text where it is none."""
    shown = body.decode("utf-8", "replace").strip()
    try:
        read = json.loads(shown)
    except (ValueError, RecursionError):
        return shown
    if isinstance(read, dict):
        return read.get("error") or read.get("message") or read.get("detail") or read
    return read
