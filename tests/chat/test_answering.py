"""One answer in flight, with an engine made of a list of events."""

import threading
import time
from concurrent.futures import Future

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, EngineFailed
from weighbridge.chat import keeping
from weighbridge.chat.answering import Answering, Ask, Phase
from weighbridge.chat.client import Sampling
from weighbridge.chat.conversation import Failure, MessageState
from weighbridge.chat.events import Delta, Done, Finish, StreamFault, Timings
from weighbridge.chat.store import ChatStore
from weighbridge.running.lease import Lease


class Engine:
    """Plays events; `hold` is an event of threading that it waits for, after which a cancel is noticed."""

    def __init__(self, *events, hold_after=None, error=None):
        self.events = events
        self.hold_after = hold_after
        self.error = error
        self.held = threading.Event()
        self.bodies = []

    def stream(self, lease, body, on_event, task):
        self.bodies.append(body)
        for number, event in enumerate(self.events):
            if number == self.hold_after:
                cut = threading.Event()
                task.on_cancel(cut.set)
                self.held.set()
                assert cut.wait(5)
                task.check()
            on_event(event)
        if self.error is not None:
            raise self.error


@pytest.fixture
def store(tmp_path):
    database = Database(tmp_path / "a.sqlite3")
    yield ChatStore(database)
    database.close()


@pytest.fixture
def ask(store):
    _, answer = store.ask(store.create("x").id, None, "Hello", "m", {})
    return Ask(answer, ({"role": "user", "content": "Hello"},), Sampling(temperature=0.5))


def leased():
    returned = []
    future = Future()
    future.set_result(Lease("m", "http://127.0.0.1:1", "key", 4096, lambda: returned.append(True)))
    return future, returned


def finished(answering):
    answering._thread.join(5)
    return answering.drain()


def test_an_answer_is_kept_with_its_figures_and_the_lease_given_back(store, ask):
    engine = Engine(
        Delta("<think>hm</think>"),
        Delta("Hel"),
        Delta("lo"),
        Timings(prompt_n=10, predicted_n=3, predicted_ms=30.0, prompt_tps=500.0, decode_tps=100.0),
        Finish("stop"),
        Done(),
    )
    lease, returned = leased()
    answering = Answering(ask, lease, engine, store)
    answering.start()
    news = finished(answering)
    kept = store.message(ask.answer.id)
    assert (kept.text, kept.reasoning, kept.state) == ("Hello", "hm", MessageState.COMPLETE)
    assert kept.figures["decode_tps"] == 100.0
    assert kept.figures["source"] == "engine"
    assert (kept.figures["context_used"], kept.figures["context"], kept.figures["finish"]) == (13, 4096, "stop")
    assert (news.phase, news.message) == (Phase.OVER, kept)
    assert "".join(piece.text for piece in news.pieces) == "Hello"
    assert returned == [True]
    assert engine.bodies[0]["temperature"] == 0.5


def test_stop_while_the_model_loads(store, ask):
    lease = Future()
    answering = Answering(ask, lease, Engine(), store)
    answering.start()
    assert answering.drain().phase is Phase.WAITING
    answering.stop()
    news = finished(answering)
    assert news.message.state is MessageState.STOPPED
    assert lease.cancelled()


def test_a_lease_that_comes_after_the_stop_goes_back(store, ask):
    lease = Future()
    lease.set_running_or_notify_cancel()
    answering = Answering(ask, lease, Engine(), store)
    answering.start()
    answering.close()
    ready, returned = leased()
    lease.set_result(ready.result())
    assert returned == [True]


@pytest.mark.parametrize("hold_after", [0, 2])
def test_stop_while_it_reads_or_writes_keeps_the_text(store, ask, hold_after):
    engine = Engine(Delta("One "), Delta("two "), Delta("three"), Done(), hold_after=hold_after)
    lease, returned = leased()
    answering = Answering(ask, lease, engine, store)
    answering.start()
    assert engine.held.wait(5)
    answering.stop()
    finished(answering)
    kept = store.message(ask.answer.id)
    assert (kept.text, kept.state) == (["", "", "One two "][hold_after], MessageState.STOPPED)
    assert returned == [True]


def test_what_has_come_is_written_before_the_end(store, ask):
    engine = Engine(Delta("One "), Delta("two"), hold_after=1)
    answering = Answering(ask, leased()[0], engine, store)
    answering.start()
    assert engine.held.wait(5)
    assert written(store, ask.answer.id, "One ")
    answering.close()


def test_a_stream_that_stalls_does_not_hold_back_what_has_come(store, ask, monkeypatch):
    monkeypatch.setattr(keeping, "WRITE_EVERY_S", 0.05)
    engine = Engine(Delta("One "), Delta("two"), Done(), hold_after=2)
    answering = Answering(ask, leased()[0], engine, store)
    answering.start()
    assert engine.held.wait(5)
    assert written(store, ask.answer.id, "One two")
    answering.close()


def written(store, message_id, text):
    """Whether `text` comes to stand in the store while the answer is still in flight."""
    until = time.monotonic() + 5
    while store.message(message_id).text != text:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return store.message(message_id).state is MessageState.STREAMING


@pytest.mark.parametrize(("events", "state"), [([Delta("Half")], MessageState.INTERRUPTED), ([], MessageState.FAILED)])
def test_a_stream_that_breaks_off(store, ask, events, state):
    answering = Answering(ask, leased()[0], Engine(*events, StreamFault("stream.cut", "oh")), store)
    answering.start()
    message = finished(answering).message
    assert (message.state, message.error) == (state, Failure("stream.cut", {"message": "oh"}))
    assert store.message(ask.answer.id) == message


def test_an_engine_that_dies_tells_its_cause(store, ask):
    error = EngineFailed("engine.died", log=("out of memory",), exit_code=-9)
    answering = Answering(ask, leased()[0], Engine(Delta("Half"), error=error), store)
    answering.start()
    message = finished(answering).message
    assert message.error == Failure("engine.died", {"exit_code": -9}, ("out of memory",))
    assert (message.state, message.text) == (MessageState.INTERRUPTED, "Half")


def test_a_model_that_does_not_load(store, ask):
    lease = Future()
    lease.set_exception(EngineFailed("engine.died", exit_code=1))
    answering = Answering(ask, lease, Engine(), store)
    answering.start()
    assert finished(answering).message.state is MessageState.FAILED


def test_an_answer_that_cannot_be_saved_is_shown_and_says_so(store, ask, monkeypatch):
    def full(*_):
        raise BadFile("database.failed", path="a", reason="database or disk is full")

    monkeypatch.setattr(store, "finish", full)
    monkeypatch.setattr(store, "write", full)
    answering = Answering(ask, leased()[0], Engine(Delta("Hello"), Done()), store)
    answering.start()
    message = finished(answering).message
    assert message.text == "Hello"
    assert message.error == Failure("chat.storage", {"reason": "database or disk is full"})


def test_a_fault_of_the_program_ends_the_answer_too(store, ask, caplog):
    answering = Answering(ask, leased()[0], Engine(Delta("Half"), error=ZeroDivisionError("no")), store)
    answering.start()
    message = finished(answering).message
    assert message.error == Failure("chat.fault", {"reason": "ZeroDivisionError('no')"})
    assert "answer failed" in caplog.text
