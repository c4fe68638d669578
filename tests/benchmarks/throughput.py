"""tok/s through the port and through the chat pane, against xllamacpp called bare.

    python -m tests.benchmarks.throughput
    python -m tests.benchmarks.throughput llama_cpp [MODEL.gguf]

The second is about llama-cpp-python, in a process of its own and in this one: see `throughput_llama_cpp`.

The bare engine lives in a child of its own, with the same parameters, and is called without HTTP. The three ways take
turns, PAIRS times; each answer is TOKENS long, and its speed is wall time at the reader from the first piece to the
last for bare and port, and what the engine said for the pane, which is looked at 30 times a second. Threads are all
cores but one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from tests.benchmarks import throughput_llama_cpp
from tests.benchmarks.event_loop import run_until
from tests.model import starter_model

from weighbridge.base.paths import default_paths
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Delta, Event
from weighbridge.chat.meter import Reading
from weighbridge.running.choose import default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.lease import Lease
from weighbridge.ui.program import Program
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.llama_server import parameters

PAIRS, TOKENS = 9, 200
WORDS = "Write a long story about the weighing of ships in an old harbour."
BODY = {
    "messages": [{"role": "user", "content": WORDS}],
    "max_tokens": TOKENS,
    "temperature": 0.0,
    "ignore_eos": True,
}


class Pace:
    """Tokens a second from the first piece to the last."""

    def __init__(self) -> None:
        self.times_s: list[float] = []

    def take(self, event: Event) -> None:
        if isinstance(event, Delta) and event.text:
            self.times_s.append(time.perf_counter())

    @property
    def tps(self) -> float:
        return (len(self.times_s) - 1) / (self.times_s[-1] - self.times_s[0])


def bare(load: Load) -> None:
    """The child: for each line on standard input one answer, and its speed on standard output."""
    import xllamacpp

    server = xllamacpp.Server(parameters(load, 0, "key"))
    print("ready", flush=True)
    for _ in sys.stdin:
        times_s: list[float] = []

        def take(chunk: dict[str, Any], times_s: list[float] = times_s) -> None:
            choices = chunk.get("choices")
            if choices and choices[0]["delta"].get("content"):
                times_s.append(time.perf_counter())

        server.handle_chat_completions({**BODY, "stream": True}, take)
        print((len(times_s) - 1) / (times_s[-1] - times_s[0]), flush=True)


class Rig:
    """The three ways, ready to be asked."""

    def __init__(self, program: Program, child: subprocess.Popen[str]) -> None:
        self._program = program
        self._child = child
        self._client = ChatClient()
        assert program.services is not None
        self._model = program.services.library.models[0]
        program.services.port.open()
        run_until(lambda: program.services.port.url is not None)
        self._lease = Lease(self._model.id, program.services.port.url, "any", None, lambda: None)
        program.services.supervisor.load(self._model, program.services.supervisor.default_load(self._model)).result(120)

    def bare(self) -> float:
        self._child.stdin.write("go\n")
        self._child.stdin.flush()
        return float(self._child.stdout.readline())

    def port(self) -> float:
        pace = Pace()
        self._client.stream(self._lease, {**BODY, "model": self._model.id}, pace.take, Task())
        return pace.tps

    def pane(self) -> float:
        page = self._program.window.pages["chat"]
        self._program.window.show_page("chat")
        page.new_chat()
        self._program.bus.chat_wanted.emit(self._model.id)
        page.send(WORDS)
        readings: list[Reading] = []
        page.dialogue.news.connect(lambda news: readings.append(news.reading) if news.reading else None)
        run_until(lambda: page.dialogue.answer is None or (bool(readings) and readings[-1].output_tokens >= TOKENS))
        tps = readings[-1].decode_tps
        assert tps is not None and readings[-1].output_tokens > TOKENS // 2, "the answer was too short to measure"
        page.stop()
        run_until(lambda: page.dialogue.answer is None)
        return tps


def main() -> None:
    """Measure and print."""
    path = starter_model()
    with tempfile.TemporaryDirectory() as home:
        os.environ["WEIGHBRIDGE_HOME"] = home
        os.environ["WEIGHBRIDGE_MODELS"] = str(path.parent)
        app = QApplication([])
        program = Program(app, default_paths(), catalogue)
        program.open()
        run_until(lambda: program.services is not None and bool(program.services.library.models))
        load = default_load(program.services.library.models[0], machine_defaults(4096))
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.throughput", "bare", json.dumps(load.as_json())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            report(Rig(program, child), load)
        finally:
            child.kill()
            child.wait()
            program.close()


def report(rig: Rig, load: Load) -> None:
    """Take the turns, print speeds and ratios."""
    rows = {"bare": [], "port": [], "pane": []}
    for number in range(PAIRS + 1):
        turn = {name: getattr(rig, name)() for name in rows}
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
    if sys.argv[1:2] == ["bare"]:
        bare(Load.from_json(json.loads(sys.argv[2])))
    elif sys.argv[1:2] == ["llama_cpp"]:
        throughput_llama_cpp.main(sys.argv[2:])
    else:
        main()
