"""Whom a close look asks for an exact figure: the engine with the files, or with headers alone."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from weighbridge.base.task import Task
from weighbridge.choices.offered import HUB
from weighbridge.formats.head import Head
from weighbridge.library.model import OWN, Model
from weighbridge.ui import close_look
from weighbridge.ui.close_look import Look


class FakeSizing:
    """Keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def table(self, engine_id, parts, load, task):
        self.asked.append(("files", parts))

    def table_of_heads(self, engine_id, heads, load, task):
        self.asked.append(("heads", heads))


@pytest.fixture
def asked(monkeypatch):
    """Asks for a model of a source, with heads or without; returns what the engine was asked."""
    monkeypatch.setattr(close_look, "planned_load", lambda choice: choice)

    def ask(source, heads=()):
        sizing = FakeSizing()
        model = Model("m", "m", Path("m.gguf"), (Path("m.gguf"),), "gguf", None, 1, source=source)
        look = Look(model, None, None, (), (), heads=heads)
        close_look._table("llama_server", SimpleNamespace(model=model), look, SimpleNamespace(sizing=sizing), Task())
        return sizing.asked

    return ask


def test_a_model_that_is_here_is_sized_by_its_files(asked):
    assert asked(OWN) == [("files", (Path("m.gguf"),))]


def test_a_model_that_is_not_here_is_sized_by_its_headers_once_they_are_known(asked):
    heads = (Head(b"GGUF", 1),)
    assert asked(HUB) == []
    assert asked(HUB, heads) == [("heads", heads)]
