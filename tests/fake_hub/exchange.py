"""What was asked of a server and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fake_hub.content import Content, Held


@dataclass
class Request:
    """One request as it came in, and what became of it. `server` is "hub" or "cdn". Names of headers are lower case.

    `kind` is "bytes" where the answer carries bytes of a file, "resolve" where it tells where they are, "api"
    otherwise. `sent` counts the bytes of the body that were handed to the socket, or are just being. `status` is 0
    before the answer.
    """

    server: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    kind: str = "api"
    file: str | None = None
    status: int = 0
    sent: int = 0
    fault: object = None

    @property
    def token(self) -> str | None:
        """What came in the Authorization header, without "Bearer"."""
        told = self.headers.get("authorization")
        return told.removeprefix("Bearer ") if told is not None else None

    @property
    def segments(self) -> list[str]:
        """The path in parts: each unquoted only after the split, so that "%2F" stays within its part."""
        return [unquote(part) for part in urlsplit(self.path).path.split("/")[1:]]

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)

    def flag(self, name: str) -> bool:
        return self.query.get(name, [""])[-1].lower() in {"true", "1"}

    @property
    def ranged(self) -> str | None:
        return self.headers.get("range")


@dataclass
class Answer:
    """A status, headers, and the bytes of `content` from `start` to before `stop`.

    `file` is the path in its repository of the file that it is about. `compressed`: sent with gzip, in chunks and
    without its length.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content: Content = field(default_factory=lambda: Held(b""))
    start: int = 0
    stop: int | None = None
    file: str | None = None
    compressed: bool = False

    @property
    def end(self) -> int:
        return self.content.size if self.stop is None else self.stop

    @property
    def length(self) -> int:
        return max(0, self.end - self.start)


def of_json(value: Any, headers: Mapping[str, str] | None = None) -> Answer:
    told = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    return Answer(200, told, Held(json.dumps(value).encode()))


def refusal(status: int, code: str | None, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An error as the Hub tells it."""
    told = {"Content-Type": "application/json; charset=utf-8", "X-Error-Message": message, **(headers or {})}
    if code:
        told["X-Error-Code"] = code
    return Answer(status, told, Held(json.dumps({"error": message}).encode()))


def redirect(status: int, location: str, headers: Mapping[str, str] | None = None, file: str | None = None) -> Answer:
    body = Held(f"Redirecting to {location}".encode())
    return Answer(status, {"Location": location, "Content-Type": "text/plain", **(headers or {})}, body, file=file)


def in_range(asked: Request, whole: Answer) -> Answer:
    """What the client's Range leaves of a whole file: 206, 416, or all of it where no single range was asked."""
    size = whole.content.size
    whole.headers["Accept-Ranges"] = "bytes"
    told = asked.ranged
    stale = asked.headers.get("if-range", whole.headers.get("ETag")) != whole.headers.get("ETag")
    if told is None or stale or not told.startswith("bytes=") or "," in told:
        return whole
    first, _, last = told.removeprefix("bytes=").partition("-")
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    if start >= stop:
        return Answer(416, {"Content-Range": f"bytes */{size}"}, file=whole.file)
    whole.status, whole.start, whole.stop = 206, start, stop
    whole.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return whole
