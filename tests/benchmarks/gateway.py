"""What the port costs: CPU per chunk at 8 streams, and time added to the first chunk. `python -m
tests.benchmarks.gateway`.

Three processes: a stand-in engine that sends 50 chunks a second and stream, the port, and this one, which reads. CPU
time is that of the port's process alone. The times to the first chunk are taken in pairs, once through the port and
once from the stand-in itself, in turns.
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from weighbridge.library.model import Model
from weighbridge.running.lease import Lease
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port

STREAMS, CHUNKS, EVERY_S = 8, 500, 0.02
PAIRS, ROUNDS = 31, 3
MODEL = Model("bench", "bench", Path("bench.gguf"), (Path("bench.gguf"),), "gguf", None, 0)


def chunk(finish: str | None = None) -> bytes:
    """A chunk as llama.cpp's server words it."""
    value = {
        "choices": [{"finish_reason": finish, "index": 0, "delta": {} if finish else {"content": " weigh"}}],
        "created": 1790000000,
        "id": "chatcmpl-4NQ8nVbKqkzvQZ5nyJRKdvWlVYfGyK0r",
        "model": MODEL.id,
        "system_fingerprint": "b11549-a9fc2f2a",
        "object": "chat.completion.chunk",
    }
    data = b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The stand-in: as many chunks as `max_tokens` asks for, the first at once."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    count = json.loads(await reader.readexactly(length))["max_tokens"]
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    start = time.monotonic()
    for number in range(count):
        await asyncio.sleep(start + number * EVERY_S - time.monotonic() if number else 0)
        writer.write(chunk())
    done = b"data: [DONE]\n\n"
    writer.write(chunk("stop") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
    await writer.drain()
    writer.close()


async def stand_in() -> None:
    """Serve until ended."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


class Shelf:
    """A library of one model that always runs at `url`."""

    def __init__(self, url: str) -> None:
        self.models = (MODEL,)
        self._url = url

    def resolve(self, name: str) -> Model:
        return MODEL

    def lease(self, model: Model) -> Future[Lease]:
        future: Future[Lease] = Future()
        future.set_result(Lease(model.id, self._url, "key", 4096, lambda: None))
        return future

    def running(self) -> tuple[()]:
        return ()


def serve(url: str) -> None:
    """The port, until standard input ends."""
    shelf = Shelf(url)
    port = Port(gateway(shelf, shelf, RequestRecords()))
    print(port.start(0), flush=True)
    sys.stdin.read()
    port.stop()


def read_stream(url: str, chunks: int) -> float:
    """Read one stream to its end; milliseconds to the first chunk."""
    body = json.dumps({"messages": [{"role": "user", "content": "weigh"}], "stream": True, "max_tokens": chunks})
    place = urlsplit(url).netloc
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place}\r\nContent-Length: {len(body)}\r\n\r\n"
    host, port = place.split(":")
    start = time.perf_counter()
    first_ms = None
    with socket.create_connection((host, int(port))) as line:
        line.sendall((head + body).encode())
        received = b""
        while b"0\r\n\r\n" not in received[-64:]:
            received += (got := line.recv(1 << 16))
            if first_ms is None and b"weigh" in received:
                first_ms = (time.perf_counter() - start) * 1000
            assert got, "the stream broke off"
    assert received.count(b'" weigh"') == chunks, received[:500]
    assert first_ms is not None
    return first_ms


def cpu_per_chunk_us(process: psutil.Process, url: str) -> float:
    """CPU of the port's process over STREAMS streams at once, a chunk."""
    readers = [threading.Thread(target=read_stream, args=(url, CHUNKS)) for _ in range(STREAMS)]
    before = process.cpu_times()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    after = process.cpu_times()
    spent_s = after.user + after.system - before.user - before.system
    return spent_s * 1e6 / (STREAMS * CHUNKS)


def measure(engine_url: str, port_url: str, process: psutil.Process) -> None:
    """Measure and print."""
    costs = sorted(cpu_per_chunk_us(process, port_url) for _ in range(ROUNDS))
    print(
        f"CPU per chunk, {STREAMS} streams: median {statistics.median(costs):.0f} us of",
        [f"{cost:.0f}" for cost in costs],
    )
    added = []
    for number in range(PAIRS + 3):
        order = (engine_url, port_url) if number % 2 else (port_url, engine_url)
        times_ms = {url: read_stream(url, 1) for url in order}
        added.append(times_ms[port_url] - times_ms[engine_url])
    added = sorted(added[3:])  # the first ones warm up
    low, mid, high = statistics.quantiles(added, n=4)
    print(f"Added time to first chunk, {PAIRS} pairs: median {mid:.2f} ms, quartiles {low:.2f} to {high:.2f}, ", end="")
    print(f"range {added[0]:.2f} to {added[-1]:.2f}")


def child(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """This program again, in another role, and the address it tells."""
    command = [sys.executable, "-m", "tests.benchmarks.gateway", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["stand-in"]:
        asyncio.run(stand_in())
    elif arguments[:1] == ["serve"]:
        serve(arguments[1])
    else:
        engine, engine_url = child("stand-in")
        port, port_url = child("serve", engine_url)
        try:
            measure(engine_url, port_url, psutil.Process(port.pid))
        finally:
            engine.terminate()
            port.communicate()
            engine.communicate()


if __name__ == "__main__":
    main(sys.argv[1:])
