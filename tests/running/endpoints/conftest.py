"""Endpoints over a database of their own, without a keyring, and a server with a certificate."""

import pytest
from tests.endpoint_server import trusting

from weighbridge.base.database import Database
from weighbridge.hub.network import NetworkLog
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.endpoints.keys import Keys


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """A proxy in the environment of a test's machine is none of its business."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "data.sqlite3")
    yield made
    made.close()


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """What a server needs, and what a client that trusts it needs."""
    return trusting(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def made(tmp_path, database, authority):
    """What makes endpoints: `made(offline=True)`."""

    def make(offline=False, log=None, trusted=True, database=database):
        keys = Keys(tmp_path / "config", lambda: None)
        tls = authority[1] if trusted else None
        return Endpoints(database, keys, log or NetworkLog(), lambda: offline, tls)

    return make
