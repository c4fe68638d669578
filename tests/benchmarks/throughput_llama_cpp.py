"""tok/s of llama-cpp-python as child and in this process, against the library called bare.

    python -m tests.benchmarks.throughput llama_cpp [MODEL.gguf]

The bare library lives in a child of its own: its own loop, `Llama.generate`, greedy, with the parameters that the
engine is loaded with. The three ways take turns, PAIRS times; each answer is TOKENS long, and its speed is wall time at
the reader from the first piece to the last. Threads are all cores but one. The machine must be quiet.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from tests.model import starter_model

from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Delta, Event
from weighbridge.library.index import Library
from weighbridge.running.choose import default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

PAIRS, TOKENS = 7, 200
WORDS = "Write a long story about the weighing of ships in an old harbour."
BODY = {"messages": [{"role": "user", "content": WORDS}], "max_tokens": TOKENS, "temperature": 0.0, "ignore_eos": True}


def bare(load: Load) -> None:
    """The child: for each line on standard input one answer, and its speed on standard output."""
    from llama_cpp import Llama

    model = Llama(
        load.model,
        n_ctx=load.context or 0,
        n_batch=load.batch or 512,
        n_ubatch=load.batch or 512,
        n_threads=load.threads,
        n_threads_batch=load.threads,
        n_gpu_layers=-1,
        flash_attn=True,
        verbose=False,
    )
    prompt = model.tokenize(WORDS.encode())
    print("ready", flush=True)
    for _ in sys.stdin:
        times_s: list[float] = []
        for _token in model.generate(prompt, temp=0.0):
            times_s.append(time.perf_counter())
            if len(times_s) == TOKENS:
                break
        print((TOKENS - 1) / (times_s[-1] - times_s[0]), flush=True)


class Way:
    """An engine that was loaded in one way; asked for one answer at a time."""

    def __init__(self, path: Path, load: Load) -> None:
        self._supervisor = Supervisor(catalogue(), machine_defaults(4096))
        self._client = ChatClient()
        library = Library([path.parent])
        library.scan()
        self._model = next(model for model in library.models if model.path == path)
        self._load = load
        self._supervisor.load(self._model, load).result(300)

    def tps(self) -> float:
        """Tokens a second of one answer."""
        times_s: list[float] = []

        def take(event: Event) -> None:
            if isinstance(event, Delta) and event.text:
                times_s.append(time.perf_counter())

        with self._supervisor.lease(self._model, self._load).result(300) as lease:
            self._client.stream(lease, {**BODY, "model": self._model.id}, take, Task())
        return (TOKENS - 1) / (times_s[-1] - times_s[0])

    def close(self) -> None:
        """End the engine."""
        self._client.close()
        self._supervisor.close()


def main(arguments: list[str]) -> None:
    """Measure and print."""
    path = Path(arguments[0]) if arguments else starter_model()
    library = Library([path.parent])
    library.scan()
    model = next(model for model in library.models if model.path == path)
    load = replace(default_load(model, machine_defaults(4096)), engine="llama_cpp")
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.throughput_llama_cpp", json.dumps(load.as_json())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    ways = []
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        ways = [Way(path, load), Way(path, replace(load, in_process=True))]
        report(child, ways, load)
    finally:
        for way in ways:
            way.close()
        child.kill()
        child.wait()


def report(child: subprocess.Popen[str], ways: list[Way], load: Load) -> None:
    """Take the turns, print speeds and ratios. Who begins changes from turn to turn."""
    rows: dict[str, list[float]] = {"bare": [], "child": [], "in process": []}

    def ask_bare() -> float:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    asked = dict(zip(rows, (ask_bare, *(way.tps for way in ways)), strict=True))
    for number in range(PAIRS + 1):
        order = list(rows)[number % 3 :] + list(rows)[: number % 3]
        turn = {name: asked[name]() for name in order}
        if number:  # the first turn warms all three up
            for name, tps in turn.items():
                rows[name].append(tps)
    print(
        f"{PAIRS} turns of {TOKENS} tokens, threads {load.threads}, batch {load.batch}, load {os.getloadavg()[0]:.1f}"
    )
    for name, values in rows.items():
        ratios = [value / base for value, base in zip(values, rows["bare"], strict=True)]
        print(
            f"{name}: median {statistics.median(values):.1f} tok/s ({min(values):.1f} to {max(values):.1f}),"
            f" ratio to bare median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        )


if __name__ == "__main__":
    bare(Load.from_json(json.loads(sys.argv[1])))
