"""Time until the window is shown, against an empty PySide6 window: `python -m tests.benchmarks.start [PAIRS]`.

`python -m tests.benchmarks.start --second-start [RUNS]`: time from the window's first paint until rows of the Library
are painted in it, and until its page is, at a start after the first, over 20 models and over 500; as the clock has it,
and in the processor's time of the window's thread, which other programs do not lengthen much. Held to: rows within
100 ms of that time.

Each run is a process of its own, started in turn with the other kind, so that a slow moment meets both. A run's time is
from the start of the process until the first paint of the window is over, told by the process on its stdout.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EMPTY = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QTableView
app = QApplication([])
window = QMainWindow()
window.setCentralWidget(QTableView())
window.resize(1200, 760)
window.show()
app.processEvents()
print(time.time(), flush=True)
"""

OURS = """
import sys, time
from weighbridge.ui.display import problem
from weighbridge.base.words import use_language
use_language(None)
problem()
from PySide6.QtWidgets import QApplication
from weighbridge.base.paths import default_paths
from weighbridge.ui.program import Program
from weighbridge_engines.catalogue import catalogue
app = QApplication([])
program = Program(app, default_paths(), catalogue)
program.window.show()
app.processEvents()
print(time.time(), flush=True)
program.open()
while program.services is None or not program.window.pages:
    app.processEvents()
print(time.time(), flush=True)
program.close()
"""


SECOND = """
import sys, time
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QTableView
from weighbridge.base.paths import default_paths
from weighbridge.ui.program import Program
from weighbridge_engines.catalogue import catalogue

class Painted(QObject):
    rows = False
    def eventFilter(self, watched, event):
        view = watched.parent() if event.type() == QEvent.Type.Paint else None
        self.rows = self.rows or (isinstance(view, QTableView) and view.viewport() is watched and has_rows(view))
        return False

def has_rows(view):
    return view.model() is not None and view.model().rowCount() > 0

def told():
    print((time.perf_counter() - clock) * 1e3, (time.thread_time() - worked) * 1e3, flush=True)

def until(true):
    while not true():
        app.processEvents()
        time.sleep(0.0005)

app = QApplication([])
program = Program(app, default_paths(), catalogue)
program.window.show()
app.processEvents()
clock, worked = time.perf_counter(), time.thread_time()
painted = Painted()
app.installEventFilter(painted)
program.open()
until(lambda: painted.rows)
told()
until(lambda: program.window.page_name == "library" and has_rows(program.window.page.table))
told()
until(lambda: program.window.page._rescan.isEnabled())
app.removeEventFilter(painted)
until(lambda: program._paths.glimpse.is_file())
program.close()
"""
ROWS_MS = 100


def second_starts(runs: int) -> int:
    """Print the medians. Returns 1 where the limit is missed."""
    from tests.benchmarks.library import fill_models

    held = True
    for models in (20, 500):
        with tempfile.TemporaryDirectory() as home:
            os.environ["WEIGHBRIDGE_HOME"] = os.environ["HOME"] = home
            fill_models(Path(home) / "data" / "models", models, max(1, models // 5))
            _lines(SECOND)
            found = [_lines(SECOND) for _ in range(runs)]
        for place, name in enumerate(("rows painted", "page with rows")):
            clock, worked = (statistics.median(each[place][at] for each in found) for at in (0, 1))
            print(f"{models:4} models, {name:15} median {clock:6.0f} ms by the clock, {worked:6.0f} ms of work")
            held = held and (place > 0 or worked <= ROWS_MS)
    return 0 if held else 1


def _lines(code: str) -> list[list[float]]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [[float(each) for each in line.split()] for line in done.stdout.splitlines()]


def run(code: str) -> list[float]:
    """Milliseconds from the start of the process to each line that it printed."""
    started = time.time()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [(float(line) - started) * 1000 for line in done.stdout.split()]


def main(argv: list[str]) -> int:
    """Print the medians and their difference. Returns 1 where a limit is missed."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if argv[:1] == ["--second-start"]:
        return second_starts(int(argv[1]) if argv[1:] else 7)
    pairs = int(argv[0]) if argv else 9
    empty, shown, filled = [], [], []
    with tempfile.TemporaryDirectory() as home:
        os.environ["WEIGHBRIDGE_HOME"] = home
        run(EMPTY), run(OURS)  # what is read from the disk for the first time
        for _ in range(pairs):
            empty.append(run(EMPTY)[0])
            ours = run(OURS)
            shown.append(ours[0])
            filled.append(ours[1])
    for name, times in (("empty window", empty), ("our window", shown), ("with its pages", filled)):
        print(f"{name:15} median {statistics.median(times):6.0f} ms   {min(times):6.0f} to {max(times):6.0f}")
    gaps = [one - other for one, other in zip(shown, empty, strict=True)]
    print(f"{'difference':15} median {statistics.median(gaps):6.0f} ms   {min(gaps):6.0f} to {max(gaps):6.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
