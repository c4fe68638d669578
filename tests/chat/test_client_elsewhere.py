"""Answers of servers that someone else runs, over TLS: as they come, and with their faults."""

import threading
import time
from dataclasses import replace

import pytest
from tests.chat.standin import DONE, chunk, event
from tests.endpoint_server import EndpointServer, hanging_up, lending, listing, saying, streaming, trusting, tunnelling

from weighbridge.base.errors import Cancelled, EngineFailed, Refused
from weighbridge.base.explain import explain
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Delta, Done, Finish, StreamFault, Usage
from weighbridge.chat.meter import Meter

CHAT = "/v1/chat/completions"
BODY = {"model": "a@box", "messages": [{"role": "user", "content": "hi"}], "top_k": 3, "temperature": 0.5}
USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return trusting(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def lent(tmp_path_factory, authority):
    """What is dear to start, for all tests of this file."""
    with (
        EndpointServer({"/v1/models": listing("a")}, authority[0]) as server,
        lending(tmp_path_factory.mktemp("house"), server, authority[1], key="k1") as made,
    ):
        made.server, made.client = server, ChatClient()
        yield made
        made.client.close()


@pytest.fixture
def house(lent):
    lent.server.asked.clear()
    lent.server.hung_up.clear()
    lent.log.clear()
    return lent


def ask(house, answer, task=None, on_event=None):
    house.server.answers[CHAT] = answer
    events = []
    with house.lease() as lease:
        house.client.stream(lease, BODY, on_event or events.append, task or Task())
    return events


def code_of(house, answer):
    with pytest.raises(EngineFailed) as caught:
        ask(house, answer)
    assert house.log.requests[-1].error == caught.value.code
    assert "{" not in str(explain(caught.value))
    return caught.value.code


def test_an_answer_over_tls_asked_for_in_its_servers_words(house):
    answer = streaming(chunk(content="Hel"), chunk(content="lo"), chunk("stop"), USAGE, DONE)
    assert ask(house, answer) == [Delta("Hel"), Delta("lo"), Finish("stop"), Usage(3, 2), Done()]
    asked = house.server.asked[-1]
    assert asked.headers["authorization"] == "Bearer k1"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.body == {
        "model": "a",
        "messages": BODY["messages"],
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    line = house.log.requests[-1]
    assert (line.purpose, line.method, line.status, line.error) == ("endpoint", "POST", 200, None)
    assert line.received_bytes > 100


def test_what_was_counted_here_says_so(house):
    meter = Meter(iter(range(100)).__next__)
    ask(house, streaming(chunk(content="Hel"), chunk(content="lo"), chunk("stop"), USAGE, DONE), on_event=meter.feed)
    assert (meter.reading().source, meter.reading().output_tokens) == ("counted", 2)


def test_comments_and_data_without_a_space_are_read(house):
    frames = (b": OPENROUTER PROCESSING\n\n", chunk(content="hi").replace(b"data: ", b"data:"), b":\n\n", chunk("stop"))
    assert ask(house, streaming(*frames, b"data:[DONE]\n\n")) == [Delta("hi"), Finish("stop"), Done()]


def test_a_fault_in_mid_stream_keeps_what_came(house):
    fault = event({"error": {"code": 502, "message": "Provider disconnected"}, "choices": []})
    events = ask(house, streaming(chunk(content="hi"), fault))
    assert events == [Delta("hi"), StreamFault("engine.answered", "Provider disconnected")]


def breaking(handler):
    streaming(chunk(content="hi"), end=None)(handler)
    hanging_up(handler)


def test_a_server_that_breaks_off_is_named_and_asked_anew(house):
    assert ask(house, breaking) == [Delta("hi"), StreamFault("endpoint.cut", "box")]
    until(lambda: house.supervisor.running() == ())
    with pytest.raises(EngineFailed):
        ask(house, hanging_up)
    until(lambda: house.supervisor.running() == ())
    assert ask(house, streaming(chunk("stop"), DONE)) == [Finish("stop"), Done()]


def until(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (saying({"error": {"message": "Invalid API key"}}, 401), "endpoint.key"),
        (saying({"error": {"message": "no credit"}}, 402), "endpoint.credit"),
        (saying({"error": {"message": "model 'a' not found"}}, 404), "endpoint.no_model"),
        (saying({"error": {"message": "Rate limit reached"}}, 429, Retry_After="7.2"), "endpoint.wait"),
        (saying({"error": {"message": "Rate limit reached"}}, 429), "endpoint.limit"),
        (saying(b"<html>Bad gateway", 502, content_type="text/html"), "endpoint.server"),
        (saying({}, 307, Location="https://elsewhere.example/v1"), "endpoint.redirect"),
        (saying(b"<html>", content_type="text/html"), "endpoint.page"),
        (saying(b"x", Content_Encoding="gzip"), "endpoint.packed"),
        (saying({"error": {"message": "temperature must be below 2"}}, 400), "endpoint.request"),
        (saying({"error": {"message": "only the default", "param": "temperature"}}, 400), "endpoint.field"),
        (saying({"error": {"message": "too many", "param": "messages[0]"}}, 400), "endpoint.request"),
        (saying({"error": {"message": "no such model"}}), "engine.answered"),
        (saying({"choices": []}), "stream.malformed"),
        (hanging_up, "endpoint.broken"),
    ],
)
def test_refusals(house, answer, code):
    assert code_of(house, answer) == code


PICTURED = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]


@pytest.mark.parametrize(
    ("status", "sees", "code"),
    [
        (400, None, "endpoint.picture"),
        (404, None, "endpoint.picture"),
        (500, False, "endpoint.picture"),
        (500, True, "endpoint.server"),
        (400, True, "endpoint.request"),
        (401, None, "endpoint.key"),
        (503, None, "endpoint.server"),
    ],
)
def test_a_picture_that_is_refused(house, status, sees, code):
    house.server.answers[CHAT] = saying({"error": "this model is missing data required for image input: k1"}, status)
    with house.lease() as lease, pytest.raises(EngineFailed) as caught:
        lease.way = replace(lease.way, sees=sees)
        house.client.stream(lease, {**BODY, "messages": PICTURED}, [].append, Task())
    assert caught.value.code == code
    assert caught.value.values["message"] == "this model is missing data required for image input: ***"


def test_an_answer_in_one_piece_is_taken_as_it_is(house):
    message = {"role": "assistant", "content": "hi", "reasoning_content": "so"}
    whole = {"choices": [{"message": message, "finish_reason": "length"}], "usage": {"prompt_tokens": 3}}
    assert ask(house, saying(whole)) == [Delta("hi", "so"), Usage(3, None), Finish("length"), Done()]


def test_stopping_the_model_while_the_server_is_silent(house):
    def silent(handler):
        threading.Timer(0.05, lambda: house.supervisor.stop("a@box")).start()
        handler.wait_for_hang_up()

    with pytest.raises(EngineFailed) as caught:
        ask(house, silent)
    assert (caught.value.code, house.log.requests[-1].error) == ("engine.stopped", "cancelled")


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_key_that_a_server_repeats_is_not_passed_on(house, status):
    with pytest.raises(EngineFailed) as caught:
        ask(house, saying({"error": {"message": "no: k1"}}, status))
    assert caught.value.values["message"] == "no: ***"


def test_a_limit_tells_its_time(house):
    with pytest.raises(EngineFailed) as caught:
        ask(house, saying({"error": {"message": "slow down"}}, 429, Retry_After="7.2"))
    assert (caught.value.values["seconds"], caught.value.values["message"]) == (8, "slow down")


def test_a_cancel_cuts_the_connection_and_is_no_fault(house):
    task = Task()
    with pytest.raises(Cancelled):
        ask(house, streaming(chunk(content="hi"), end=False), task, lambda _event: task.cancel())
    assert house.server.hung_up.wait(5)
    assert house.log.requests[-1].error == "cancelled"


def test_a_cancel_while_the_server_is_silent(house):
    task = Task()

    def silent(handler):
        threading.Timer(0.05, task.cancel).start()
        handler.wait_for_hang_up()

    with pytest.raises(Cancelled):
        ask(house, silent, task)
    assert house.server.hung_up.wait(5)


def test_stopping_the_model_ends_the_answer_with_what_came(house):
    stopped = []

    def stop(told):
        if isinstance(told, Delta):
            stopped.append(house.supervisor.stop("a@box"))

    events = []
    ask(house, streaming(chunk(content="hi"), end=False), None, lambda told: (events.append(told), stop(told)))
    assert events == [Delta("hi"), StreamFault("stream.interrupted")]
    assert house.server.hung_up.wait(5)
    stopped[0].result(20)


def test_a_tunnel_of_a_proxy_can_be_cut_too(house):
    task = Task()
    house.server.answers[CHAT] = streaming(chunk(content="hi"), end=False)
    place = f"127.0.0.1:{house.server.port}"
    with EndpointServer({place: tunnelling(house.server.port)}) as proxy, house.lease() as lease:
        lease.way = replace(lease.way, proxy=proxy.url)
        with pytest.raises(Cancelled):
            house.client.stream(lease, BODY, lambda _event: task.cancel(), task)
        assert proxy.paths == [place]
        assert house.server.hung_up.wait(5)


def test_nobody_else_gets_the_key(house, authority, tmp_path):
    """Whoever has another certificate is told nothing."""
    (tmp_path / "other").mkdir()
    impostor_tls, _ = trusting(tmp_path / "other")
    with EndpointServer({CHAT: saying({})}, impostor_tls) as impostor, house.lease() as lease:
        lease.url = impostor.url
        with pytest.raises(EngineFailed) as caught:
            house.client.stream(lease, BODY, lambda _event: None, Task())
        assert (caught.value.code, impostor.asked) == ("endpoint.certificate", [])


def test_offline_it_is_refused_before_anything_is_sent(house):
    with house.lease() as lease:
        house.server.asked.clear()  # the check for ready
        lease.way = replace(lease.way, leaves=True, offline=lambda: True)
        with pytest.raises(Refused) as caught:
            house.client.stream(lease, BODY, lambda _event: None, Task())
    assert (caught.value.code, house.server.asked) == ("endpoint.offline", [])
