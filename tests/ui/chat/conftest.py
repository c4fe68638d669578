"""A chat page over the made library; a test decides what the engine says."""

import threading

import pytest
from tests.ui.conftest import PATIENCE_MS
from tests.ui.fakes import running

from weighbridge.chat.events import Delta, Done, Finish, PromptProgress, Timings
from weighbridge.running.lease import Lease
from weighbridge.ui.chat.page import ChatPage

MODEL = "Qwen3-0.6B-Q8_0"


class Client:
    """Says `events`; holds before the one at `hold_at` until it is cancelled or `go` is set."""

    def __init__(self):
        self.say("Hello ", "there")
        self.bodies = []
        self.closed = False

    def say(self, *texts, hold_at=None, error=None):
        timings = Timings(10, 0, 5.0, len(texts), 20.0, 2000.0, 61.4)
        self.events = [PromptProgress(10, 0, 10), *map(Delta, texts), timings, Finish("stop"), Done()]
        self.hold_at, self.error, self.go = hold_at, error, threading.Event()

    def stream(self, lease, body, on_event, task):
        self.bodies.append(body)
        task.on_cancel(self.go.set)
        for number, event in enumerate(self.events):
            if number == self.hold_at:
                assert self.go.wait(PATIENCE_MS / 1000)
                task.check()
            on_event(event)
            if self.error is not None and number == 1:
                raise self.error

    def close(self):
        self.closed = True


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def full(full, monkeypatch):
    """The services, their supervisor lending the model as soon as it is asked to."""
    full.settings.change(last_model=MODEL)
    supervisor = full.supervisor
    supervisor.leases, supervisor.lends, lease_of = [], True, supervisor.lease

    def lease(model, load=None):
        future = lease_of(model, load)
        supervisor.leases.append((model.id, load, future))
        if supervisor.lends:
            supervisor.become(full.bus, running(model.id))
            future.set_result(Lease(model.id, "http://127.0.0.1:1", "key", 4096, lambda: None))
        return future

    monkeypatch.setattr(supervisor, "lease", lease)
    return full


@pytest.fixture
def make_page(qtbot, full, client):
    pages = []

    def make():
        pages.append(ChatPage(full, client))
        qtbot.addWidget(pages[-1], before_close_func=lambda page: page.shut())
        pages[-1].resize(1200, 800)
        pages[-1].show()
        pages[-1].entered()
        return pages[-1]

    yield make
    for page in pages:
        page.shut()


@pytest.fixture
def page(make_page):
    return make_page()


@pytest.fixture
def answered(qtbot):
    """Send a message, wait for the end of its answer."""

    def answered(page, words="What is a load line?"):
        page.send(words)
        qtbot.waitUntil(lambda: page.dialogue.answer is None)
        return page.column.items[-1]

    return answered
