"""The sections of the page Engines: headings, the fold, and the order of the keyboard."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton
from tests.ui.engines.made_engines import ABSENT, CUDA, GPU, PLAIN, SYSTEM
from tests.ui.fakes import machine

from weighbridge.choices.engine_order import Standing
from weighbridge.running.builds import Build, BuildKind
from weighbridge.ui.engines.build_row import BuildRow
from weighbridge.ui.engines.card import EngineCard
from weighbridge.ui.engines.looks import Known, looks
from weighbridge.ui.engines.sections import Sections
from weighbridge_engines.api import Cause

NAMES = ("vllm", "mlx", "exllamav3", "llama_server")
NOTHING = Build(
    "", "", "", "", BuildKind.OURS, "", None, in_use=False, missing=Cause("engine.not_installed", {"engine": "it"})
)


@pytest.fixture
def sections(qtbot, services):
    made = Sections(services.theme, QPushButton("Add a server"))
    qtbot.addWidget(made)
    made.resize(900, 900)
    return made


@pytest.fixture
def cards(services):
    """One for each engine, that can be had as one build."""
    engines = {name: replace(ABSENT, id=name, title=name) for name in NAMES}
    builds = [replace(NOTHING, id=name, engine_id=name) for name in NAMES]
    recipes = [replace(CUDA if name == "vllm" else PLAIN, id=f"{name}-x", engine_id=name) for name in NAMES]
    made, theme = {}, services.theme
    for look in looks(Known(engines, builds, recipes, SYSTEM), machine(devices=(GPU,))):
        card = EngineCard(theme, look.title, partial(BuildRow, theme))
        card.show_look(look, lambda row, one: row.show_look(one, frozenset(), ""))
        made[look.id] = card
    return made


def reached(sections):
    """The buttons in sight in the order in which Tab reaches them, as they lie from the top."""
    found, widget = [], sections
    while (widget := widget.nextInFocusChain()) is not sections:
        if isinstance(widget, QPushButton) and widget.isVisibleTo(sections) and widget.focusPolicy() & Qt.TabFocus:
            found.append(widget.mapTo(sections, QPoint()).y())
    return found


def test_sections_without_cards_are_not_there(sections, cards):
    sections.arrange([(Standing.OTHER, cards["vllm"])])
    sections.show()
    assert sections.headings == []
    assert sections.fold.line.text() == "1 engine for other machines"
    sections.arrange([(Standing.HERE, cards["vllm"]), (Standing.SUITED, cards["mlx"])])
    assert sections.headings == ["Installed engines", "For this machine"]
    assert not sections.fold.isVisible()


def test_the_keyboard_goes_from_the_top_to_the_end_also_once_cards_have_moved(qtbot, sections, cards):
    order = [
        (Standing.HERE, cards["vllm"]),
        (Standing.SUITED, cards["mlx"]),
        (Standing.SUITED, cards["llama_server"]),
        (Standing.OTHER, cards["exllamav3"]),
    ]
    sections.arrange(order)
    sections.fold.show_open(True)
    sections.show()
    assert reached(sections) == sorted(reached(sections))
    assert len(reached(sections)) >= 2 * len(NAMES)
    moved = [(Standing.HERE, cards["llama_server"]), (Standing.SUITED, cards["exllamav3"]), *order[:2]]
    sections.arrange(sorted(moved, key=lambda one: tuple(Standing).index(one[0])))
    qtbot.waitUntil(lambda: cards["exllamav3"].y() > cards["llama_server"].y())
    assert reached(sections) == sorted(reached(sections))
