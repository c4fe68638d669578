import time
from dataclasses import dataclass

import pytest
from tests.chat.standin import StandIn
from tests.server.fakes import Engines, Shelf, model, send

from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port

ORIGIN = "http://localhost:5173"


class InFlight:
    """The application, and how many of its requests are under way: a row is written after the caller has its answer."""

    def __init__(self, app):
        self.app = app
        self.count = 0

    async def __call__(self, scope, receive, send):
        self.count += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.count -= 1


@dataclass
class House:
    """A port in front of a stand-in engine, with two models on the shelf."""

    engine: StandIn
    shelf: Shelf
    engines: Engines
    records: RequestRecords
    app: InFlight
    port: Port

    def send(self, raw):
        return send(self.port, raw)

    def last_row(self, count=1):
        """The row of the newest request, once `count` rows are there."""
        until = time.monotonic() + 5
        while len(self.records.rows()) < count and time.monotonic() < until:
            time.sleep(0.005)
        assert len(self.records.rows()) >= count
        return self.records.rows()[-1]


@pytest.fixture(scope="module")
def served():
    """The parts that are dear to start: one port and one stand-in for all tests of a file."""
    shelf, engines, records = Shelf(()), Engines(), RequestRecords(1000)
    with StandIn() as engine:
        app = InFlight(gateway(shelf, engines, records, origins=(ORIGIN,)))
        port = Port(app)
        port.start(0)
        yield House(engine, shelf, engines, records, app, port)
        port.stop()


@pytest.fixture
def house(served):
    served.engine.use(None)
    served.shelf.models = (model("tiny"), model("small"))
    served.engines.__init__(url=served.engine.url)
    served.records.__init__(1000)
    yield served
    until = time.monotonic() + 5
    while (served.engines.out or served.app.count) and time.monotonic() < until:
        time.sleep(0.005)
    assert served.engines.out == 0, "a lease was not given back"
    assert served.app.count == 0, "a request is still under way"
