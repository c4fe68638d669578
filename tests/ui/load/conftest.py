"""The load sheet over made models, with llama.cpp's settings and a machine with as many cards as a test wants."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.running.test_presets import engine
from tests.ui.fakes import GIB, machine

from weighbridge.hardware.machine import Device, Memory, MemoryKind, Sight
from weighbridge.ui.load.sheet import LoadSheet
from weighbridge.ui.pages.page import Page
from weighbridge.ui.program import _makers
from weighbridge.ui.window import Window


def card(number, gib, free=None):
    """A card that llama.cpp uses."""
    return Device(
        id=f"gpu{number}",
        name=f"RTX {number}",
        vendor="nvidia",
        memory=Memory(MemoryKind.DEDICATED, gib * GIB, (gib if free is None else free) * GIB),
        seen_by=(Sight("llama_server", f"CUDA{number}"),),
    )


@pytest.fixture
def known(full, monkeypatch):
    """The services with llama.cpp among the engines, on a machine that a test may exchange."""
    sources = full.weighing.sources
    made = {"llama_server": engine(said=lambda load: ["llama-server", "-m", load.model, "-c", str(load.context)])}
    seen = {"machine": machine()}
    for where in (full.weighing, full.weighing._standing):
        changed = replace(sources, engines=made, machine=lambda: seen["machine"], told=lambda: ())
        monkeypatch.setattr(where, "_sources", changed)
    full.memories.machine = machine()

    def on(*cards, **changes):
        full.memories.machine = seen["machine"] = machine(devices=cards, **changes)

    full.weighing.use_cards = full.weighing.use_machine = on
    return full


@pytest.fixture
def sheet(qtbot, known):
    made = LoadSheet(known)
    qtbot.addWidget(made)
    made.resize(1100, 760)
    made.show()
    yield made
    made.shut()


@pytest.fixture
def model(known):
    return next(one for one in known.library.models if one.id == "Qwen3-8B-Q4_K_M")


def _empty(_services):
    return Page()


@pytest.fixture
def window(qtbot, known):
    """With the Library and the chat; the other pages are empty."""
    made = Window(known.theme, known.settings, known.bus)
    qtbot.addWidget(made, before_close_func=lambda _window: made.shut())
    makers = {name: make if name in ("library", "chat") else _empty for name, make in _makers().items()}
    made.fill(known, makers, "library")
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    qtbot.waitUntil(lambda: made.pages["library"].table.chosen is not None)
    return made
