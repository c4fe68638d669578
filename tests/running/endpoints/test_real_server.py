"""Real servers as endpoints: llama.cpp's own with a key, and our port before it; on SmolLM2."""

import pytest
from tests.endpoint_server import lending
from tests.server.fakes import Shelf

from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.events import Delta, Done, Timings, Usage
from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port
from weighbridge_engines.api import Load
from weighbridge_engines.llama_server import ENGINE as LLAMA

WAIT_S = 120
pytestmark = pytest.mark.engine


class At:
    """A server at an address, for `lending`."""

    def __init__(self, url):
        self.url = url


@pytest.fixture
def engines(smollm2):
    """The model of a real engine, and a lease on it, whose address and key are those of the server."""
    library = Library([smollm2.parent])
    library.scan()
    model = library.resolve("SmolLM2-135M-Instruct.Q4_1")
    one = Supervisor({LLAMA.id: LLAMA}, Defaults(cores=2))
    load = Load(str(model.path), model.id, context=1024, threads=1, slots=2, unified=True)
    with one.lease(model, load).result(WAIT_S) as lease:
        yield model, lease
    one.close()


def ask(house, name):
    events, client = [], ChatClient()
    with house.lease(name) as lease:
        body = chat_body(name, [{"role": "user", "content": "Say hello."}], Sampling(temperature=0.0, max_tokens=8))
        client.stream(lease, body, events.append, Task())
    client.close()
    assert isinstance(events[-1], Done)
    return events, "".join(event.text for event in events if isinstance(event, Delta))


def test_the_same_answer_comes_from_the_server_and_through_our_port_before_it(tmp_path, engines):
    model, direct = engines
    (tmp_path / "far").mkdir()
    with lending(tmp_path, At(direct.url), preset="llama_server", key=direct.key) as house:
        (listed,) = house.endpoints.models()
        assert (listed.id, listed.remote.context) == (f"{model.id}@box", 1024)
        events, text = ask(house, listed.id)
        assert text and any(isinstance(event, Timings) for event in events)
        port = Port(gateway(Shelf((listed,)), house.supervisor, RequestRecords(10)))
        far = lending(tmp_path / "far", At(port.start(0)), preset="other")
        with far as chained:
            (again,) = chained.endpoints.models()
            assert (again.id, again.remote.context) == (f"{listed.id}@box", 1024)
            events, same = ask(chained, again.id)
        port.stop()
    assert same == text
    assert not any(isinstance(event, Timings) for event in events)  # a server of which nothing is known is not asked
    assert next(event for event in events if isinstance(event, Usage)).completion_tokens == 8
