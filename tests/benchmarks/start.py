"""Time until the window is shown, against an empty PySide6 window: `python -m tests.benchmarks.start [PAIRS]`.

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


def run(code: str) -> list[float]:
    """Milliseconds from the start of the process to each line that it printed."""
    started = time.time()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [(float(line) - started) * 1000 for line in done.stdout.split()]


def main() -> None:
    """Print the medians and their difference."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
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


if __name__ == "__main__":
    main()
