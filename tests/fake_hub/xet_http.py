"""Xet's storage over HTTP, as hf_xet asks it: which chunks a range of a file is made of, and the bytes of those."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

_HEAD_BYTES = 8
_STEP_BYTES = 64 << 10


class XetHttp:
    """Serves one file of one xorb, no chunk of it twice, which hf_xet has put into a `LocalXet` with nothing else.

    `asked` is each request's path and headers. After `stall_after` bytes an answer says no more; `step_s` is the time
    between two pieces of 64 KiB. Runs between enter and exit.
    """

    def __init__(self, folder: Path) -> None:
        place = next(each for each in folder.rglob("default.*") if each.suffix != ".tagset")
        self.name = place.name.partition(".")[2]
        self.xorb = place.read_bytes()
        self.chunks = tuple(_chunks(self.xorb))
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.stall_after: int | None = None
        self.step_s = 0.0
        self.closing = threading.Event()
        self.stalled = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), name="fake xet")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def plan(self, start: int, end: int) -> dict[str, object]:
        """How to put together the bytes from `start` to before `end` of the file."""
        at = 0
        used: list[int] = []
        before = 0
        for number, (_, _, size) in enumerate(self.chunks):
            if at + size > start and at < end:
                used.append(number)
                before = start - at if len(used) == 1 else before
            at += size
        chosen = {"start": used[0], "end": used[-1] + 1}
        first, last = self.chunks[used[0]], self.chunks[used[-1]]
        place = {
            "range": chosen,
            "url": f"{self.address}/xorb?signature=SECRET",
            "url_range": {"start": first[0], "end": last[0] + last[1] - 1},
        }
        length = sum(self.chunks[number][2] for number in used)
        term = {"hash": self.name, "unpacked_length": length, "range": chosen}
        return {"offset_into_first_range": before, "terms": [term], "fetch_info": {self.name: [place]}}


def _chunks(xorb: bytes) -> Iterator[tuple[int, int, int]]:
    """Of each chunk where it is, how long it is with its head, and how long what it holds."""
    at = 0
    while xorb[at : at + 1] == b"\0" and at + _HEAD_BYTES < len(xorb):
        packed = int.from_bytes(xorb[at + 1 : at + 4], "little")
        yield at, _HEAD_BYTES + packed, int.from_bytes(xorb[at + 5 : at + 8], "little")
        at += _HEAD_BYTES + packed


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, storage: XetHttp) -> None:
        self.storage = storage
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever hangs up is no fault."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Says nothing: `asked` tells."""

    def do_GET(self) -> None:
        storage = self.server.storage
        storage.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        start, _, end = self.headers.get("range", "bytes=0-0").partition("=")[2].partition("-")
        if self.path.startswith("/v1/reconstructions/"):
            self._answer(200, json.dumps(storage.plan(int(start), int(end) + 1)).encode())
        elif self.path.startswith("/xorb"):
            self._answer(206, storage.xorb[int(start) : int(end) + 1])
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes) -> None:
        storage = self.server.storage
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), _STEP_BYTES):
            if status == 206 and storage.stall_after is not None and at >= storage.stall_after:
                storage.stalled.set()
                storage.closing.wait()
                return
            self.wfile.write(body[at : at + _STEP_BYTES])
            if status == 206 and storage.step_s:
                storage.closing.wait(storage.step_s)
