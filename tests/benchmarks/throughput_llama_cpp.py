"""tok/s of llama-cpp-python as child and in this process, against the library called bare: see `throughput`.

The bare library has its own loop, `Llama.generate`, greedy, with the parameters that the engine is loaded with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.turns import BARE, model_at, report, take_turns

from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Delta, Event
from weighbridge.library.model import Model
from weighbridge.running.choose import default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

WORDS = "Write a long story about the weighing of ships in an old harbour."


def bare(load: Load, tokens: int) -> None:
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
            if len(times_s) == tokens:
                break
        print((tokens - 1) / (times_s[-1] - times_s[0]), flush=True)


class Way:
    """An engine that was loaded in one way; asked for one answer at a time."""

    def __init__(self, model: Model, load: Load, tokens: int) -> None:
        self._supervisor = Supervisor(catalogue(), machine_defaults(4096))
        self._client = ChatClient()
        self._model, self._load, self._tokens = model, load, tokens
        self._supervisor.load(model, load).result(300)

    def tps(self) -> float:
        """Tokens a second of one answer."""
        times_s: list[float] = []

        def take(event: Event) -> None:
            if isinstance(event, Delta) and event.text:
                times_s.append(time.perf_counter())

        asked = {"max_tokens": self._tokens, "temperature": 0.0, "ignore_eos": True}
        messages = [{"role": "user", "content": WORDS}]
        with self._supervisor.lease(self._model, self._load).result(300) as lease:
            self._client.stream(lease, {**asked, "messages": messages, "model": self._model.id}, take, Task())
        return (self._tokens - 1) / (times_s[-1] - times_s[0])

    def close(self) -> None:
        """End the engine."""
        self._client.close()
        self._supervisor.close()


def measure(path: Path, turns: int, tokens: int) -> None:
    """Measure and print."""
    model = model_at(path)
    load = replace(default_load(model, machine_defaults(4096)), engine="llama_cpp")
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.throughput_llama_cpp", json.dumps(load.as_json()), str(tokens)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def ask_bare() -> float:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    ways: list[Way] = []
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        ways += [Way(model, load, tokens)]
        ways += [Way(model, replace(load, in_process=True), tokens)]
        asked = {BARE: ask_bare, "child": ways[0].tps, "in process": ways[1].tps}
        report(take_turns(asked, turns), tokens, load)
    finally:
        for way in ways:
            way.close()
        child.kill()
        child.wait()


if __name__ == "__main__":
    bare(Load.from_json(json.loads(sys.argv[1])), int(sys.argv[2]))
