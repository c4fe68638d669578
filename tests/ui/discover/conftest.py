"""The page Discover over a fake Hub with believable repositories."""

from __future__ import annotations

import pytest
from tests.fake_hub import FakeHub
from tests.ui.discover.made_hub import fill

from weighbridge.ui.discover.page import DiscoverPage


@pytest.fixture
def fake():
    """Three base models: one over GGUF, EXL3 and MLX, one small, one that asks for its licence."""
    with FakeHub() as made:
        fill(made)
        yield made


@pytest.fixture
def asked(services, fake, monkeypatch):
    """The services, with that Hub."""
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    services.settings.change(hub_endpoint=fake.endpoint)
    return services


@pytest.fixture
def fresh(qtbot, asked):
    """The page before its button was ever pressed."""
    made = DiscoverPage(asked)
    qtbot.addWidget(made, before_close_func=lambda page: page.shut())
    made.resize(1250, 1300)  # all rows are in sight
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    asked.memories.start()
    qtbot.waitUntil(lambda: asked.memories.machine is not None)
    made.entered()
    return made


@pytest.fixture
def page(qtbot, fresh):
    """The page once it was opened: what is offered first is there."""
    fresh.entry.button.click()
    qtbot.waitUntil(lambda: len(fresh.list.rows) > 0)
    return fresh
