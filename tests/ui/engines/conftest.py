"""The page Engines over a made engine, a `uv` that installs nothing, and a machine with a card that nothing uses."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.running.made_builds import PROCESSOR, Answers, FakeUv
from tests.ui.engines.made_engines import CUDA, GPU, MADE, PLAIN, SYSTEM
from tests.ui.fakes import machine

from weighbridge.hardware.measured import Measurements
from weighbridge.running.devices import EngineDevices
from weighbridge.running.engines import Engines
from weighbridge.running.installation import Installer
from weighbridge.running.installing import none_installed
from weighbridge.ui.engines.driving import EngineBuilds
from weighbridge.ui.engines.page import EnginesPage
from weighbridge.ui.machine_facts import MachineFacts


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """Installs nothing; a test may change what it does."""
    monkeypatch.setattr("weighbridge.running.installation.python_for", lambda least: sys.executable)
    return FakeUv(tmp_path, monkeypatch)


@pytest.fixture
def make(qtbot, services, uv):
    """The page, over `engine` as its catalogue has it; `answers` are those of its workers."""
    made_here = []

    def make(engine=MADE, card=GPU, show=True, recipes=(PLAIN, CUDA), described=None):
        answers = Answers(PROCESSOR)
        told = {"PATH": "/nowhere", "HOME": os.environ["HOME"], "PIP_CONFIG_FILE": os.devnull}
        engines = Engines({engine.id: engine}, services.paths.data, told, recipes, SYSTEM, answers, described)
        devices = EngineDevices(engines, services.paths.data, answers)
        measurements = Measurements.within(services.paths.data)
        facts = MachineFacts(
            devices, measurements, services.background, absent=lambda: none_installed(engines.values(), (engine.id,))
        )
        here = machine(devices=(card,) if card else ())
        services.memories.machine = here
        builds = EngineBuilds(
            engines,
            Installer(engines, services.network, services.access.offline),
            devices,
            facts,
            lambda: here,
            tuple,
            services.background,
        )
        page = EnginesPage(replace(services, builds=builds, facts=facts))
        made_here.append((page, builds))
        qtbot.addWidget(page)
        page.resize(1000, 640)
        if show:
            page.show()
            page.entered()
            services.memories.changed.emit()
            qtbot.waitUntil(lambda: facts.answered and bool(page.rows))
        return SimpleNamespace(
            page=page, builds=builds, facts=facts, engines=engines, answers=answers, services=services, uv=uv
        )

    yield make
    for page, builds in made_here:
        page.left()
        page.shut()
        builds.close()
