"""How fast the Library weighs anew when a control moves: `python -m tests.benchmarks.reprice [ROWS]`.

Over models with the headers of `tests/data/fit_cases`, on a made machine with a card that is too small for most of
them. Held to: what is in sight within 16 ms of a move; 2,000 rows within 0.5 s, no pause over 50 ms.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from weighbridge.base.settings import SettingsStore
from weighbridge.choices.blueprints import Blueprints
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import BytesSource
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.library.model import Model
from weighbridge.ui.background import Background
from weighbridge.ui.models.library_model import LibraryRow
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.theme import Theme
from weighbridge.ui.weighing import Sources, Weighing, WhatIf
from weighbridge_engines.api import Engine, Load

CASES = Path(__file__).parents[1] / "data" / "fit_cases"
GIB = 1 << 30
SEEN_MS, ALL_S, PAUSE_MS = 16, 0.5, 50
MOVES = 15
KV_TYPES = ("q8_0", None, "q4_0")


class _Whole(BytesSource):
    """A header that says how long its file is."""

    def __init__(self, content: bytes, size_bytes: int) -> None:
        super().__init__(content)
        self.size_bytes = size_bytes


def models(count: int) -> list[Model]:
    """As many models, with the headers of the cases in turn."""
    told = json.loads((CASES / "cases.json").read_text("utf-8"))["cases"]
    infos = [(case, _info(case)) for case in told]
    made = []
    for number in range(count):
        case, info = infos[number % len(infos)]
        title = f"{number:04d}-{case['name']}"  # sorted by name, all kinds are in sight
        path = Path(f"{title}.gguf")
        made.append(Model(title, title, path, (path,), "gguf", "Q4_K", case["file_bytes"], info))
    return made


def _info(case: dict[str, object]) -> ModelInfo:
    content = (CASES / str(case["header"])).read_bytes()
    return model_info(read_header(_Whole(content, int(str(case["file_bytes"]))), full=True), str(case["name"]))


def machine() -> Machine:
    """64 GiB, and a card of 8 GiB that llama.cpp uses."""
    card = Memory(MemoryKind.DEDICATED, 8 * GIB, 7 * GIB)
    seen = (Sight("llama_server", "CUDA0"),)
    device = Device("cuda.0", "nvidia", "Card", card, seen_by=seen)
    return Machine("Linux", Cpu("Chip", 8, 16, 16), Memory(MemoryKind.SHARED, 64 * GIB, 56 * GIB), (device,))


def main(argv: Sequence[str]) -> int:
    """Move the controls, measure, print. Returns 1 where a limit is missed."""
    app = QApplication([])
    listed = models(int(argv[0]) if argv else 2000)
    engine = Engine("llama_server", "llama.cpp", frozenset({"gguf"}), frozenset(), "", missing=lambda: None)
    load, here, background, blueprints = Load("", context=8192), machine(), Background(), Blueprints()
    for model in listed:
        blueprints.of(model)  # the program makes them where headers are read
    weighing = Weighing(
        Sources(
            blueprints=blueprints,
            engines={engine.id: engine},
            machine=lambda: here,
            told=tuple,
            running=tuple,
            default_load=lambda model: replace(load, model=model.title),
            context=lambda: 8192,
            past=tuple,
        ),
        background,
    )
    with tempfile.TemporaryDirectory() as place:
        theme = Theme(app, SettingsStore(Path(place) / "settings.toml"))
    table = LibraryTable(theme)
    by_id = {model.id: model for model in listed}
    weighing.weighed.connect(
        lambda ids: table.update_rows({each: LibraryRow(by_id[each], weighing.choice(by_id[each])) for each in ids})
    )
    table.resize(1200, 700)
    table.show()
    table.show_rows([LibraryRow(model) for model in listed], 8192)
    app.processEvents()
    seen_ms, all_s, pauses_ms = [], [], []
    for move in range(MOVES):
        weighing.use(WhatIf(key_type=KV_TYPES[move % len(KV_TYPES)]))
        begun_s = time.perf_counter()
        weighing.refresh(listed, [row.model for row in table.seen])
        seen_ms.append((time.perf_counter() - begun_s) * 1e3)
        longest = 0.0
        while weighing.busy:
            slice_s = time.perf_counter()
            app.processEvents()
            longest = max(longest, time.perf_counter() - slice_s)
        all_s.append(time.perf_counter() - begun_s)
        pauses_ms.append(longest * 1e3)
    background.close()
    print(f"{len(listed)} rows, {len(table.seen)} of them in sight, {MOVES} moves")
    print(f"in sight    median {statistics.median(seen_ms):6.1f} ms, most {max(seen_ms):6.1f} ms, held to {SEEN_MS}")
    print(f"all rows    median {statistics.median(all_s):6.2f} s,  most {max(all_s):6.2f} s,  held to {ALL_S}")
    print(
        f"pause       median {statistics.median(pauses_ms):6.1f} ms, most {max(pauses_ms):6.1f} ms, held to {PAUSE_MS}"
    )
    held = statistics.median(seen_ms) <= SEEN_MS and statistics.median(all_s) <= ALL_S and max(pauses_ms) <= PAUSE_MS
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
