import threading
import time

import pytest
from tests.chat.standin import DONE, StandIn, chunk, event, streaming

from weighbridge.base.errors import Cancelled, EngineFailed, Refused
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.stream import Delta, Done, Finish, StreamFault, Usage
from weighbridge.running.lease import Lease

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def engine():
    with StandIn() as stand_in:
        yield stand_in


@pytest.fixture
def client():
    made = ChatClient()
    yield made
    made.close()


def ask(client, engine, task=None, on_event=None):
    events = []
    lease = Lease("m", engine.url, "secret", 4096, lambda: None)
    client.stream(lease, BODY, on_event or events.append, task or Task())
    return events


def test_an_answer_comes_event_by_event(client, engine):
    usage = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    engine.use(streaming(chunk(content="Hel"), chunk(content="lo"), chunk("stop"), usage))
    assert ask(client, engine) == [Delta("Hel"), Delta("lo"), Finish("stop"), Usage(3, 2), Done()]
    assert engine.lines[0].headers["authorization"] == "Bearer secret"
    assert engine.body == {
        **BODY,
        "stream": True,
        "stream_options": {"include_usage": True},
        "timings_per_token": True,
        "return_progress": True,
    }


def test_the_environments_proxy_is_not_asked(client, engine, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    engine.use(streaming(chunk("stop")))
    other = ChatClient()
    assert ask(other, engine)[-1] == Done()
    other.close()


@pytest.mark.parametrize("when", ["before the head", "before the first chunk", "in mid-answer"])
def test_a_cancel_ends_a_silent_engine_at_once(client, engine, when):
    gone = []
    waiting = threading.Event()

    def script(line):
        if when != "before the head":
            line.head()
        if when == "in mid-answer":
            line.chunk(chunk(content="A"))
        waiting.set()
        gone.append(line.wait_for_hang_up())

    engine.use(script)
    task = Task()
    cancelled_s = []

    def cancel():
        waiting.wait()
        time.sleep(0.05)
        cancelled_s.append(time.monotonic())
        task.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(Cancelled):
        ask(client, engine, task)
    assert time.monotonic() - cancelled_s[0] < 2
    canceller.join()
    engine.__exit__()
    assert gone == [True]


def test_a_task_cancelled_before_it_begins_asks_nothing(client, engine):
    engine.use(lambda line: line.wait_for_hang_up())
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        ask(client, engine, task)


def test_a_cancel_from_the_listener_ends_a_talking_engine(client, engine):
    def script(line):
        line.head()
        while True:
            line.chunk(chunk(content="again "))

    engine.use(script)
    task = Task()
    heard = []

    def listen(told):
        heard.append(told)
        task.cancel()

    with pytest.raises(Cancelled):
        ask(client, engine, task, listen)
    assert heard == [Delta("again ")]


def test_a_cancel_after_the_end_does_nothing(client, engine):
    engine.use(streaming(chunk("stop")))
    task = Task()
    assert ask(client, engine, task)[-1] == Done()
    task.cancel()


@pytest.mark.parametrize("ending", ["reset", "closed", "ended properly"])
def test_an_answer_that_breaks_off_keeps_its_text(client, engine, ending):
    def script(line):
        line.head()
        line.chunk(chunk(content="half"))
        line.chunk(b'data: {"choices":[{"del')
        if ending == "ended properly":
            line.end()
        time.sleep(0.05)
        if ending == "reset":
            line.reset()

    engine.use(script)
    assert ask(client, engine) == [Delta("half"), StreamFault("stream.interrupted")]


def test_an_error_inside_a_stream_is_told(client, engine):
    engine.use(streaming(chunk(content="A"), event({"error": {"code": 500, "message": "out of memory"}})))
    assert ask(client, engine) == [Delta("A"), StreamFault("engine.answered", "out of memory")]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "bad template", "type": "server_error"}}, "bad template"),
        ({"error": "in words"}, "in words"),
        ({"detail": "FastAPI's way"}, "FastAPI's way"),
        (b"<html>not JSON</html>", "<html>not JSON</html>"),
        (b"\xff" * 100_000, "\ufffd" * 2000),
        (b"[" * 60_000, "[" * 2000),
        (b"", ""),
    ],
)
def test_a_refusal_carries_the_engines_words(client, engine, body, message):
    engine.use(lambda line: line.whole(body, 500))
    with pytest.raises(EngineFailed) as caught:
        ask(client, engine)
    assert caught.value.code == "engine.answered"
    assert caught.value.values == {"status": 500, "message": message}


def test_a_prompt_that_is_too_long_says_both_numbers(client, engine):
    numbers = {"n_prompt_tokens": 600, "n_ctx": 512}
    error = {"code": 400, "type": "exceed_context_size_error", "message": "too long", **numbers}
    engine.use(lambda line: line.whole({"error": error}, 400))
    with pytest.raises(Refused) as caught:
        ask(client, engine)
    assert (caught.value.code, caught.value.values) == ("context.exceeded", {"prompt_tokens": 600, "context": 512})


def test_an_engine_that_is_not_there_or_says_nothing_has_failed(client, engine):
    engine.use(lambda line: None)
    with pytest.raises(EngineFailed) as caught:
        ask(client, engine)
    assert caught.value.code == "engine.silent"
    engine.__exit__()
    with pytest.raises(EngineFailed) as caught:
        ask(client, engine)
    assert caught.value.code == "engine.silent"


def test_what_the_listener_raises_comes_through(client, engine):
    engine.use(streaming(chunk(content="A"), chunk("stop"), done=DONE))

    def fail(told):
        raise ValueError(told)

    with pytest.raises(ValueError, match="Delta"):
        ask(client, engine, on_event=fail)


def test_sampling_leaves_out_what_is_not_set():
    sampling = Sampling(temperature=0.0, top_k=40, seed=0)
    assert sampling.body() == {"temperature": 0.0, "top_k": 40, "seed": 0}
    assert chat_body("m", BODY["messages"], sampling) == {**BODY, "temperature": 0.0, "top_k": 40, "seed": 0}
