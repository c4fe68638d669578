"""tok/s of an engine as Weighbridge runs it, against its library called bare.

    python -m tests.benchmarks.throughput [wheel] [MODEL.gguf]
    python -m tests.benchmarks.throughput llama_cpp [MODEL.gguf]

`wheel`: xllamacpp, through the port and through the chat pane. `llama_cpp`: llama-cpp-python, in a process of its own
and in this one. Without a model it is the starter model, which is fetched once.

The bare library lives in a child of its own, with the same parameters, and is called without HTTP. The ways take turns.
Speed is wall time at the reader from the first piece to the last, and for the pane, which is looked at 30 times a
second, what the engine said. Threads are all cores but one. The machine must be quiet; `--turns 1 --tokens 20` shows
in seconds that all of it works.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from tests.benchmarks import throughput_llama_cpp
from tests.benchmarks.event_loop import run_until
from tests.benchmarks.turns import BARE, add_options, model_at, report, take_turns
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

WORDS = "Write a long story about the weighing of ships in an old harbour."


def body(tokens: int) -> dict[str, Any]:
    """What is asked."""
    messages = [{"role": "user", "content": WORDS}]
    return {"messages": messages, "max_tokens": tokens, "temperature": 0.0, "ignore_eos": True}


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


def bare(load: Load, tokens: int) -> None:
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

        server.handle_chat_completions({**body(tokens), "stream": True}, take)
        print((len(times_s) - 1) / (times_s[-1] - times_s[0]), flush=True)


class Rig:
    """The three ways, ready to be asked."""

    def __init__(self, program: Program, child: subprocess.Popen[str], model: Path, tokens: int) -> None:
        self._program = program
        self._tokens = tokens
        self._child = child
        self._client = ChatClient()
        assert program.services is not None
        self._model = next(one for one in program.services.library.models if one.path == model)
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
        self._client.stream(self._lease, {**body(self._tokens), "model": self._model.id}, pace.take, Task())
        return pace.tps

    def pane(self) -> float:
        page = self._program.window.pages["chat"]
        self._program.window.show_page("chat")
        page.new_chat()
        self._program.bus.chat_wanted.emit(self._model.id)
        page.send(WORDS)
        readings: list[Reading] = []
        page.dialogue.news.connect(lambda news: readings.append(news.reading) if news.reading else None)
        run_until(
            lambda: page.dialogue.answer is None or (bool(readings) and readings[-1].output_tokens >= self._tokens)
        )
        tps = readings[-1].decode_tps
        assert tps is not None and readings[-1].output_tokens > self._tokens // 2, "the answer was too short to measure"
        page.stop()
        run_until(lambda: page.dialogue.answer is None)
        return tps


def wheel(path: Path, turns: int, tokens: int) -> None:
    """Measure the wheel and print."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["WEIGHBRIDGE_HOME"] = home
        os.environ["WEIGHBRIDGE_MODELS"] = str(path.parent)
        app = QApplication([])
        program = Program(app, default_paths(), catalogue)
        program.open()
        run_until(lambda: program.services is not None and bool(program.services.library.models))
        load = default_load(model_at(path), machine_defaults(4096))
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.throughput", BARE, json.dumps(load.as_json()), str(tokens)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            rig = Rig(program, child, path, tokens)
            report(take_turns({BARE: rig.bare, "port": rig.port, "pane": rig.pane}, turns), tokens, load)
        finally:
            child.kill()
            child.wait()
            program.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", nargs="?", choices=("wheel", "llama_cpp"), default="wheel")
    parser.add_argument("model", nargs="?", type=Path, metavar="MODEL.gguf")
    add_options(parser)
    asked = parser.parse_args()
    measure = {"wheel": wheel, "llama_cpp": throughput_llama_cpp.measure}[asked.engine]
    measure((asked.model or starter_model()).absolute(), asked.turns, asked.tokens)


if __name__ == "__main__":
    if sys.argv[1:2] == [BARE]:
        bare(Load.from_json(json.loads(sys.argv[2])), int(sys.argv[3]))
    else:
        main()
