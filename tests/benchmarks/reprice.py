"""How fast the Library weighs anew when a control moves: `python -m tests.benchmarks.reprice [ROWS]`.

Over models with the headers of `tests/data/fit_cases`, on a made machine with a card that is too small for most of
them. Held to: what is in sight, with its speeds, within 16 ms of a move; what 2,000 rows need within 0.5 s, no pause
over 50 ms. The speeds of rows out of sight follow. Sorted by name, and by what is needed, where rows change places.

A pause is a turn of the event loop, as somebody sees it; its work is what the window's thread did in it, which other
programs do not lengthen much.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tests.benchmarks.fit_accuracy import cases, info

from weighbridge.base.settings import SettingsStore
from weighbridge.choices.blueprints import Blueprints
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.library.model import Model
from weighbridge.running.paces import speed_tables
from weighbridge.ui.background import Background
from weighbridge.ui.garbage import Garbage
from weighbridge.ui.models.library_row import Column, LibraryRow
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.speedometers import Speedometers
from weighbridge.ui.theme import Theme
from weighbridge.ui.weighing import Weighing, WhatIf
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Engine, Load

CASES = Path(__file__).parents[1] / "data" / "fit_cases"
GIB = 1 << 30
SEEN_MS, ALL_S, PAUSE_MS, WORK_MS = 16, 0.5, 50, 35
CONTEXTS = (4096, 16_384, 2048, 32_768, 8192)
KV_TYPES = (None, "q8_0", "q4_0")


def models(count: int) -> list[Model]:
    """As many models, with the headers of the cases in turn."""
    each_once = {case.name: case for case in cases(CASES)}.values()
    headers = [(case.name, case.head.size_bytes, info(case)) for case in each_once]
    made = []
    for number in range(count):
        name, size_bytes, header = headers[number % len(headers)]
        title = f"{number:04d}-{name}"  # sorted by name, all kinds are in sight
        path = Path(f"{title}.gguf")
        made.append(Model(title, title, path, (path,), "gguf", "Q4_K", size_bytes, header))
    return made


def machine() -> Machine:
    """64 GiB, and a card of 8 GiB that llama.cpp uses; how fast both memories are is known."""
    card = Memory(MemoryKind.DEDICATED, 8 * GIB, 7 * GIB)
    seen = (Sight("llama_server", "CUDA0"),)
    fast, memory = Bandwidth(272, 272, "table"), Memory(MemoryKind.SHARED, 64 * GIB, 56 * GIB)
    device = Device("cuda.0", "nvidia", "NVIDIA GeForce RTX 4060", card, bandwidth=fast, seen_by=seen)
    return Machine("Linux", Cpu("Chip", 8, 16, 16), memory, (device,), bandwidth=Bandwidth(80, 80, "", "2026-01-01"))


class Bench:
    """The window's table and what weighs for it, over made models; `move` moves a control and measures."""

    def __init__(self, app: QApplication, listed: Sequence[Model]) -> None:
        self.listed = listed
        self.background = Background()
        self.seen_ms: list[float] = []
        self.all_s: list[float] = []
        self.paced_s: list[float] = []
        self.pauses_ms: list[float] = []
        self.works_ms: list[float] = []
        self._app = app
        self._context = CONTEXTS[-1]
        self._by_id = {model.id: model for model in listed}
        self.weighing = self._make_weighing()
        with tempfile.TemporaryDirectory() as place:
            self.table = LibraryTable(Theme(app, SettingsStore(Path(place) / "settings.toml")))
        self.weighing.weighed.connect(self._show)
        self.table.resize(1200, 700)
        self.table.show()
        self.table.show_rows([LibraryRow(model) for model in listed], self._context)
        app.processEvents()

    def move(self, context: int, key_type: str | None) -> None:
        """Weigh all models so, those in sight first, and keep how long it took."""
        self._context = context
        self.weighing.use(WhatIf(key_type=key_type))
        begun_s = time.perf_counter()
        self.weighing.refresh(self.listed, [row.model for row in self.table.seen])
        self.seen_ms.append((time.perf_counter() - begun_s) * 1e3)
        turns = self._turns(lambda: self.weighing.busy)
        self.all_s.append(time.perf_counter() - begun_s)
        turns += self._turns(lambda: self.weighing.pacing)
        self.paced_s.append(time.perf_counter() - begun_s)
        self.pauses_ms.append(max(pause_s for pause_s, _ in turns) * 1e3)
        self.works_ms.append(max(work_s for _, work_s in turns) * 1e3)

    def _turns(self, goes_on: Callable[[], bool]) -> list[tuple[float, float]]:
        """Let the window go on while something is left to do. How long each turn took, and the work in it."""
        turns = []
        while goes_on():
            pause_s, work_s = time.perf_counter(), time.thread_time()
            self._app.processEvents()
            turns.append((time.perf_counter() - pause_s, time.thread_time() - work_s))
        return turns

    def _make_weighing(self) -> Weighing:
        engine = Engine("llama_server", "llama.cpp", frozenset({"gguf"}), frozenset(), "", missing=lambda: None)
        here, blueprints = machine(), Blueprints()
        for model in self.listed:
            blueprints.of(model)  # the program makes them where headers are read
        return Weighing(
            Sources(
                blueprints=blueprints,
                engines={engine.id: engine},
                machine=lambda: here,
                told=tuple,
                running=tuple,
                default_load=lambda model: Load(model.title, context=self._context),
                context=lambda: self._context,
                past=tuple,
                speeds=Speedometers(speed_tables(), tuple, self.background),
            ),
            self.background,
        )

    def _show(self, ids: Sequence[str]) -> None:
        models = [self._by_id[each] for each in ids]
        self.table.update_rows({model.id: LibraryRow(model, self.weighing.choice(model)) for model in models})


def main(argv: Sequence[str]) -> int:
    """Move the controls, measure, print. Returns 1 where a limit is missed."""
    app = QApplication([])
    listed = models(int(argv[0]) if argv else 2000)
    held = [_run(app, listed, column) for column in (Column.MODEL, Column.MEMORY)]
    return 0 if all(held) else 1


def _run(app: QApplication, listed: Sequence[Model], column: Column) -> bool:
    """Measure with the table sorted by `column`. Whether the limits are kept."""
    bench = Bench(app, listed)
    bench.table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    garbage = Garbage(app)
    for key_type in KV_TYPES:
        for context in CONTEXTS:
            bench.move(context, key_type)
    garbage.close()
    bench.background.close()
    bench.table.close()
    print(f"{len(listed)} rows by {column.name.lower()}, {len(bench.table.seen)} in sight, {len(bench.all_s)} moves")
    held = [
        _told("in sight, ms", bench.seen_ms, SEEN_MS),
        _told("all rows, s", bench.all_s, ALL_S),
        _told("with all speeds, s", bench.paced_s, math.inf),
        _told("longest pause, ms", bench.pauses_ms, PAUSE_MS),
        _told("longest work, ms", bench.works_ms, WORK_MS) and max(bench.works_ms) <= WORK_MS,
    ]
    return all(held)


def _told(what: str, figures: Sequence[float], most: float) -> bool:
    """Print what was measured. Whether its median keeps the limit: one move may meet another program's work."""
    middle = statistics.median(figures)
    print(f"{what:18} median {middle:7.2f}, most {max(figures):7.2f}, held to {most}")
    return middle <= most


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
