"""What streaming costs the window: CPU of the GUI thread, and pauses of its event loop, in the real chat page.

    python -m tests.benchmarks.chat_pane            the page fed from memory
    python -m tests.benchmarks.chat_pane --engine   the page over the echo engine, all the way

Two answers at 200 pieces a second: 16,000 characters of mixed Markdown, and an open code fence of 20,000 lines, a line
a piece. A pause is how much later than asked a timer of 10 ms comes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication
from tests.benchmarks.event_loop import run_until

from weighbridge.base.paths import default_paths
from weighbridge.chat.events import Delta, Done, Event, Finish, Timings
from weighbridge.ui.chat.options import Options
from weighbridge.ui.program import Program
from weighbridge_engines import echo

TPS = 200
BEAT_MS = 10
CONTEXT = 500_000
PARAGRAPHS = """## Part {n}

A **load line** marks how deep a hull may sit in the *water*; `draught` number {n} is a limit for one kind of [water](https://example.org/{n}).
Each letter stands for a season, and the sea is read once a day by whoever keeps the harbour.

- first of {n}, with some more words
- second of {n}
  - nested one

| Mark | Water | Draught |
|---|---|--:|
| TF | Tropical fresh | {n} |
| S | Summer sea | reference |

```python
def draught(mark: str) -> float:
    return {n} * 1.025  # salt
```

"""


@dataclass(frozen=True)
class Case:
    """An answer: the pieces it comes in, and the script with which the echo engine says it `repeat` times over."""

    name: str
    pieces: tuple[str, ...]
    repeat: int = 1
    tokens_a_piece: int = 1

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces) * self.repeat

    @property
    def script(self) -> dict[str, object]:
        """For echo, whose tokens are words."""
        said = {"text": "".join(self.pieces), "repeat": self.repeat, "context": CONTEXT}
        return {**said, "tps": TPS * self.tokens_a_piece, "chunk_tokens": self.tokens_a_piece}


def cases(fence_lines: int) -> tuple[Case, ...]:
    """Both answers. The fence opens again every hundred lines, which inside of a fence is a line like others."""
    text = "".join(PARAGRAPHS.format(n=n) for n in range(60))[:16_000]
    words = tuple(re.findall(r"\s*\S{1,5}|\s+$", text))
    lines = tuple(f"    result_{n} = function_{n % 7}(value, {n})  # line {n}\n" for n in range(99))
    fence = Case(f"open fence, {fence_lines:,} lines", ("```python\n", *lines), fence_lines // 100, tokens_a_piece=7)
    return Case("markdown, 16,000 characters", words), fence


class Feed:
    """Stands for the HTTP client: gives pieces at their pace, on the answer's own thread."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def stream(self, lease, body, on_event, task) -> None:
        del lease, body
        began = time.perf_counter()
        for number, piece in enumerate(self._case.pieces * self._case.repeat):
            time.sleep(max(0.0, began + number / TPS - time.perf_counter()))
            on_event(Delta(piece))
            on_event(_timings(number + 1))
            task.check()
        ends: tuple[Event, ...] = (Finish("stop"), Done())
        for event in ends:
            on_event(event)

    def close(self) -> None:
        """Nothing is open."""


def _timings(tokens: int) -> Timings:
    return Timings(40, 0, 20.0, tokens, tokens * 1000 / TPS, 2000.0, float(TPS))


class Beat(QObject):
    """Measures how late a timer comes."""

    def __init__(self) -> None:
        super().__init__()
        self.late_ms: list[float] = []
        self._last_s = time.perf_counter()
        self._timer = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _beat(self) -> None:
        now_s = time.perf_counter()
        self.late_ms.append(max(0.0, (now_s - self._last_s) * 1000 - BEAT_MS))
        self._last_s = now_s


def main() -> None:
    """Measure both answers and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--engine", action="store_true", help="over the echo engine instead of from memory")
    options.add_argument("--lines", type=int, default=20_000, help="lines of the fence")
    options.add_argument("--only", choices=("markdown", "fence"), help="measure one of the two")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["WEIGHBRIDGE_HOME"] = home
        os.environ["WEIGHBRIDGE_MODELS"] = str(Path(home) / "models")
        found = [one for one in cases(chosen.lines) if chosen.only is None or chosen.only in one.name]
        _write_models(Path(home) / "models", found, chosen.engine)
        app = QApplication([])
        program = Program(app, default_paths(), lambda: {"echo": echo.ENGINE})
        program.open()
        try:
            run_until(lambda: program.services is not None and bool(program.services.library.models))
            for number, case in enumerate(found):
                measure(program, f"case {number}", case, None if chosen.engine else Feed(case))
        finally:
            program.close()


def measure(program: Program, model_id: str, case: Case, feed: Feed | None) -> None:
    """Send a message, and print what its answer cost."""
    page = program.window.pages["chat"]
    program.window.resize(1440, 900)
    program.window.show_page("chat")
    if feed is not None:
        page.dialogue._client = feed  # the program itself makes the real one
    page.new_chat()
    page._options.show_options(Options(context=CONTEXT))
    program.bus.chat_wanted.emit(model_id)
    page.send(f"Show {case.name}.")
    run_until(lambda: page.dialogue.phase == "writing")
    beat = Beat()
    cpu_s, wall_s = time.thread_time(), time.perf_counter()
    run_until(lambda: page.dialogue.answer is None)
    cpu_s, wall_s = time.thread_time() - cpu_s, time.perf_counter() - wall_s
    beat.stop()
    late = sorted(beat.late_ms)
    shown = page.column.items[-1].raw
    assert shown.split() == case.text.split(), "the text shown is not the text sent"
    print(
        f"{case.name}: {wall_s:.1f} s, GUI thread {100 * cpu_s / wall_s:.1f} % of a core, pause median"
        f" {statistics.median(late):.1f} ms, p99 {late[int(len(late) * 0.99)]:.1f} ms, max {late[-1]:.1f} ms"
    )


def _write_models(folder: Path, found: list[Case], engine: bool) -> None:
    """Scripts of the echo engine; fed from memory, the model is only a name."""
    folder.mkdir(parents=True)
    for number, case in enumerate(found):
        script = case.script if engine else {}
        (folder / f"case {number}.echo").write_text(json.dumps(script), encoding="utf-8")


if __name__ == "__main__":
    main()
