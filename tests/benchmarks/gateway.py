"""What the port costs: CPU per chunk at 8 streams of the echo engine, and time added to the first chunk.

    python -m tests.benchmarks.gateway

Three processes: the echo engine, which sends 50 chunks a second and stream; the port with its supervisor; and this one,
which reads. CPU time is that of the port's process alone. The times to the first chunk are taken in pairs, once through
the port and once from the engine itself, in turns.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port
from weighbridge_engines.catalogue import catalogue

STREAMS, CHUNKS, TPS = 8, 500, 50
PAIRS, ROUNDS = 31, 3


@dataclass(frozen=True)
class Place:
    """Where to ask, and with which key."""

    url: str
    key: str = ""


def serve(folder: Path) -> None:
    """The port over a loaded echo model, until standard input ends. Tells its address, the engine's and the key."""
    library = Library([folder])
    [model] = library.scan()
    supervisor = Supervisor(catalogue(), Defaults(cores=2))
    port = Port(gateway(library, supervisor, RequestRecords()))
    try:
        load = replace(supervisor.default_load(model), slots=STREAMS + 1)
        supervisor.load(model, load).result(30)
        with supervisor.lease(model).result(30) as lease:
            print(json.dumps([port.start(0), lease.url, lease.key]), flush=True)
            sys.stdin.read()
    finally:
        port.stop()
        supervisor.close()


def read_stream(place: Place, chunks: int) -> float:
    """Read one stream to its end; milliseconds to the first chunk with text."""
    body = json.dumps({"messages": [{"role": "user", "content": "weigh"}], "stream": True, "max_tokens": chunks})
    host = urlsplit(place.url).netloc
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
    head += f"Authorization: Bearer {place.key}\r\n\r\n"
    name, port = host.split(":")
    start = time.perf_counter()
    first_ms = None
    with socket.create_connection((name, int(port))) as line:
        line.sendall((head + body).encode())
        received = b""
        while b"0\r\n\r\n" not in received[-64:]:
            received += (got := line.recv(1 << 16))
            if first_ms is None and b"weigh" in received:
                first_ms = (time.perf_counter() - start) * 1000
            assert got, "the stream broke off"
    assert received.count(b'weigh"}') == chunks, received[:500]
    assert first_ms is not None
    return first_ms


def cpu_per_chunk_us(process: psutil.Process, place: Place) -> float:
    """CPU of the port's process over STREAMS streams at once, a chunk."""
    readers = [threading.Thread(target=read_stream, args=(place, CHUNKS)) for _ in range(STREAMS)]
    before = process.cpu_times()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    after = process.cpu_times()
    spent_s = after.user + after.system - before.user - before.system
    return spent_s * 1e6 / (STREAMS * CHUNKS)


def measure(engine: Place, port: Place, process: psutil.Process) -> None:
    """Measure and print."""
    costs = sorted(cpu_per_chunk_us(process, port) for _ in range(ROUNDS))
    print(
        f"CPU per chunk, {STREAMS} streams: median {statistics.median(costs):.0f} us of",
        [f"{cost:.0f}" for cost in costs],
    )
    added = []
    for number in range(PAIRS + 3):
        order = (engine, port) if number % 2 else (port, engine)
        times_ms = {place: read_stream(place, 1) for place in order}
        added.append(times_ms[port] - times_ms[engine])
    added = sorted(added[3:])  # the first ones warm up
    low, mid, high = statistics.quantiles(added, n=4)
    print(f"Added time to first chunk, {PAIRS} pairs: median {mid:.2f} ms, quartiles {low:.2f} to {high:.2f}, ", end="")
    print(f"range {added[0]:.2f} to {added[-1]:.2f}")


def main() -> None:
    """Start the port in a process of its own, and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        script = {"text": "weigh " * (CHUNKS + 1), "tps": TPS, "prompt_tps": 0}
        (Path(folder) / "bench.echo").write_text(json.dumps(script), encoding="utf-8")
        command = [sys.executable, "-m", "tests.benchmarks.gateway", folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            port_url, engine_url, key = json.loads(process.stdout.readline())
            measure(Place(engine_url, key), Place(port_url), psutil.Process(process.pid))
            process.communicate()


if __name__ == "__main__":
    if sys.argv[1:]:
        serve(Path(sys.argv[1]))
    else:
        main()
