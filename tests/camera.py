"""What takes pictures of the window: it shows a page in each size and scheme, and tells what is cut off."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.hardware.machine import Machine

SIZES = ((1000, 640), (1440, 900))
SCHEMES = ("light", "dark")
TESTS = Path(__file__).parent
PATIENCE_S = 30.0
PAGES = ("discover", "library", "chat", "server", "engines", "advisor", "machine", "downloads", "network", "settings")


class Camera:
    """The whole program in a home of its own; pictures go to `out`."""

    def __init__(self, home: Path, out: Path, fonts: float) -> None:
        from PySide6.QtWidgets import QApplication

        from weighbridge.base.paths import default_paths
        from weighbridge.ui.program import Program
        from weighbridge.ui.widgets.parts import scaled
        from weighbridge_engines.catalogue import catalogue

        self._out = out
        self._home = home
        self._told: set[str] = set()
        self._app = QApplication([])
        self._app.setFont(scaled(self._app.font(), fonts))
        self._program = Program(self._app, default_paths(), catalogue)

    def _take(self, name: str, told: str = "") -> None:
        window = self._program.window
        for scheme in SCHEMES:
            self._program.theme.choose(scheme)
            for width, height in SIZES:
                window.resize(width, height)
                if name in PAGES:
                    window.show_page(name)
                self._wait(150)
                window.grab().save(str(self._out / f"{told or name}_{scheme}_{width}.png"))
                self._tell_cut(f"{told or name} at {width} x {height}")

    def _tell_cut(self, where: str) -> None:
        from tests.ui.cut import cut

        for line in cut(self._program.window):
            if line not in self._told:
                self._told.add(line)
                sys.stdout.write(f"{where}: {line}\n")

    def _wait(self, milliseconds: int) -> None:
        from PySide6.QtCore import QEventLoop, QTimer

        loop = QEventLoop()  # QTest.qWait lets no other thread run
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()

    def _until(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not true():
            if time.monotonic() > until:
                raise TimeoutError
            self._wait(20)


def machine_of(recorded: str, used: bool) -> Machine:
    """A machine of tests/hardware/machines; `used`: llama.cpp can compute on its cards."""
    from tests.hardware.test_machines import host_of

    from weighbridge.hardware.detect import detect
    from weighbridge.hardware.machine import Sight

    told = json.loads((TESTS / "hardware" / "machines" / f"{recorded}.json").read_text("utf-8"))
    found = detect(host_of(told))
    names = (("nvidia", "CUDA"), ("amd", "ROCm"))
    seen = {maker: f"{api}0" for maker, api in names} if used else {}
    cards = (
        replace(each, seen_by=(Sight("llama_server", seen[each.vendor]),)) if each.vendor in seen else each
        for each in found.devices
    )
    return replace(found, devices=tuple(cards))


def unmoved(machine: Machine, with_cards: bool) -> Machine:
    del with_cards
    return machine


def put_headers(models: Path) -> None:
    """Sparse files with the headers of tests/data/fit_cases, as large as the real ones."""
    models.mkdir(parents=True, exist_ok=True)
    cases = TESTS / "data" / "fit_cases"
    for case in json.loads((cases / "cases.json").read_text("utf-8"))["cases"]:
        file = models / f"{case['name']}.gguf"
        file.write_bytes((cases / case["header"]).read_bytes())
        os.truncate(file, case["file_bytes"])
