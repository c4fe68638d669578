"""Echo models, and a supervisor that is closed at the end of each test."""

import json

import pytest

from weighbridge.library.model import Model
from weighbridge.running.choose import Defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.catalogue import catalogue


@pytest.fixture
def echo(tmp_path):
    """Makes an echo model out of a script."""

    def make(name="parrot", **script):
        path = tmp_path / f"{name}.echo"
        path.write_text(json.dumps(script), encoding="utf-8")
        return Model(id=name, title=name, path=path, parts=(path,), format="echo", quant=None, size_bytes=10)

    return make


@pytest.fixture
def supervisor():
    """Over the real catalogue; one model at a time."""
    one = Supervisor(catalogue(), Defaults(cores=2))
    yield one
    one.close()
