"""A machine and models to weigh, for tests of commands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.choices.made_surroundings import machine
from tests.cli.fitting import CASES, ENGINE, FILE_BYTES, TOLD

from weighbridge.choices.choice import Surroundings
from weighbridge.cli import surroundings as looked_at


@pytest.fixture
def here(monkeypatch):
    """A machine to weigh against, with one engine that sees its cards."""

    def put(*devices, free_gib=28.0, total_gib=32.0, bandwidth=None, extensions=()):
        made = machine(*devices, free_gib=free_gib, total_gib=total_gib)
        made = replace(made, bandwidth=bandwidth, cpu=replace(made.cpu, extensions=extensions))
        around = Surroundings(made, {"llama_server": ENGINE}, (TOLD,))
        monkeypatch.setattr(looked_at, "surroundings", lambda engines: replace(around, engines=engines))

    put()
    return put


@pytest.fixture
def headed(tmp_path):
    """A model of the recorded ones with its whole length and no weights."""

    def put(name):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes((CASES / f"{name}.gguf.head").read_bytes())
        with path.open("r+b") as file:
            file.truncate(FILE_BYTES[f"{name}.gguf.head"])
        return str(path)

    return put
