"""The body of a request: bounded in bytes, in depth and in number of values before it is read as JSON."""

from __future__ import annotations

import asyncio
import json
import math
import re
from typing import Any, NoReturn

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from weighbridge.base.errors import Refused
from weighbridge.server.hangup import hung_up

MAX_BODY_BYTES = 32 << 20
MAX_DEPTH = 64
MAX_TOKENS = 250_000
"""Strings, brackets, braces and commas in a body. Ten thousand messages have some 100,000."""

SILENCE_S = 20.0
_PATIENCE = 4
"""A body over the limit is read on, and dropped, to this many times the limit, so that its sender hears the answer."""

# A string is taken in one piece, whatever is in it; a quote that opens none ends the look.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]},]|"', re.DOTALL)


async def read_body(scope: Scope, receive: Receive, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The whole body.

    Raises Refused("body.too_large") over the limit, Refused("body.stopped") where nothing more comes for SILENCE_S,
    HungUp where the caller goes first.
    """
    announced = Headers(scope=scope).get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit_bytes * _PATIENCE:
        raise Refused("body.too_large", limit_bytes=limit_bytes)
    pieces: list[bytes] = []
    size_bytes, more = 0, True
    while more and size_bytes <= limit_bytes * _PATIENCE:
        try:
            message = await asyncio.wait_for(receive(), SILENCE_S)
        except TimeoutError:
            raise Refused("body.stopped", seconds=int(SILENCE_S)) from None
        if message["type"] == "http.disconnect":
            raise hung_up(message)
        piece = message.get("body", b"")
        size_bytes += len(piece)
        if size_bytes <= limit_bytes:
            pieces.append(piece)
        else:
            pieces.clear()
        more = message.get("more_body", False)
    if size_bytes > limit_bytes:
        raise Refused("body.too_large", limit_bytes=limit_bytes)
    return b"".join(pieces)


def json_object(body: bytes) -> dict[str, Any]:
    """`body` as a JSON object. Raises Refused with a "body." code; costs little whatever it is given."""
    check_shape(body)
    try:
        read = json.loads(body.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise Refused("body.not_utf8", at_byte=error.start) from error
    except json.JSONDecodeError as error:
        raise Refused("body.not_json", line=error.lineno, column=error.colno) from error
    except (ValueError, RecursionError) as error:
        raise Refused("body.bad_number") from error
    if not isinstance(read, dict):
        raise Refused("body.not_object")
    return read


def check_shape(body: bytes) -> None:
    """Raise Refused where `body` is nested too deeply or holds too many values. Stops at the first sign of either."""
    openers = body.count(b"[") + body.count(b"{")
    if openers <= MAX_DEPTH and body.count(b'"') + body.count(b",") <= MAX_TOKENS:
        return
    depth = 0
    for number, token in enumerate(_TOKEN.finditer(body)):
        sign = token[0]
        if sign == b'"':
            return
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > MAX_DEPTH:
            raise Refused("body.too_deep", limit=MAX_DEPTH)
        if number > MAX_TOKENS:
            raise Refused("body.too_many", limit=MAX_TOKENS)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits[:20])
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
