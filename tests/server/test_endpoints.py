"""What an endpoint serves, through our port: relayed along its own way, marked, and never reached by chance."""

import asyncio
import contextlib
import json
import ssl
import threading
from dataclasses import replace

import pytest
from tests.chat.standin import DONE, chunk, event
from tests.endpoint_server import (
    EndpointServer,
    hanging_up,
    lending,
    listing,
    saying,
    send,
    streaming,
    trusting,
    tunnelling,
)
from tests.server.fakes import Shelf, chat, connect, events, model, read_reply, request
from tests.server.fakes import send as ask

from weighbridge.base.errors import EngineFailed
from weighbridge.running.endpoints.endpoint import Listed, models_of
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port
from weighbridge.server.upstream import post

CHAT = "/v1/chat/completions"
BODY = {"model": "a@box", "messages": [{"role": "user", "content": "hi"}]}
USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return trusting(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def lent(tmp_path_factory, authority):
    """What is dear to start, for all tests of this file."""
    answers = {"/v1/models": listing("a", max_model_len=100)}
    folder = tmp_path_factory.mktemp("house")
    with (
        EndpointServer(answers, authority[0]) as server,
        lending(folder, server, authority[1], key="k1") as made,
        serving(made, Shelf(())) as port,
    ):
        made.server, made.port = server, port
        yield made


@pytest.fixture
def house(lent):
    lent.server.asked.clear()
    lent.server.hung_up.clear()
    lent.log.clear()
    lent.port.shelf.models = (*lent.endpoints.models(),)
    return lent


@contextlib.contextmanager
def serving(lent, shelf):
    """A port over what `lent` lends."""
    port = Port(gateway(shelf, lent.supervisor, RequestRecords(100)))
    port.start(0)
    port.shelf = shelf
    try:
        yield port
    finally:
        port.stop()


def reply(house, body, answer):
    house.server.answers[CHAT] = answer
    return ask(house.port, chat({**BODY, **body}))


def test_a_stream_is_relayed_with_our_name_and_the_endpoints_key(house):
    answer = streaming(b": WAIT\n\n", chunk(content="Hel", model="a"), chunk("stop", model="a"), USAGE, DONE)
    told = reply(house, {"stream": True, "stream_options": {"include_usage": True}}, answer)
    assert told.body.startswith(b": WAIT\n\n")  # it keeps the connection open
    told.body = told.body.removeprefix(b": WAIT\n\n")
    payloads = [each for each in events(told) if not isinstance(each, str)]
    assert {each["model"] for each in payloads} == {"a@box"}
    assert payloads[-1]["usage"] == {"prompt_tokens": 3, "completion_tokens": 2}
    asked = house.server.asked[-1]
    assert (asked.body["model"], asked.headers["authorization"]) == ("a", "Bearer k1")
    assert house.log.requests[-1].method == "POST"


def test_a_whole_answer(house):
    answer = {"choices": [{"message": {"content": "hi"}}], "model": "a", "usage": {"completion_tokens": 1}}
    told = reply(house, {"max_tokens": 500}, answer)
    assert (told.status, told.json["model"]) == (200, "a@box")
    assert house.server.asked[-1].body["max_tokens"] == 100


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (saying({"error": {"message": "bad key"}}, 401), 502, "endpoint.key"),
        (saying({"error": {"message": "slow"}}, 429, Retry_After="7"), 429, "endpoint.wait"),
        (saying({"error": {"message": "oh"}}, 503), 503, "endpoint.server"),
        (saying({}, 500), 502, "endpoint.server"),
        (saying({"error": {"message": "bad temperature"}}, 400), 400, "endpoint.request"),
        (saying({"error": {"message": "bad", "param": "top_p"}}, 400), 400, "endpoint.field"),
        (saying(b"<html>", content_type="text/html"), 502, "endpoint.page"),
        (hanging_up, 502, "endpoint.broken"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_faults_of_the_server(house, answer, status, code, stream):
    told = reply(house, {"stream": stream}, answer)
    assert (told.status, told.error["code"]) == (status, code)
    assert told.header("retry-after") == (["7"] if code == "endpoint.wait" else [])
    assert "k1" not in told.body.decode()


@pytest.mark.parametrize("asked", [{"logit_bias": {"5": 1}}, {"n": 2}, {"logprobs": True}])
def test_what_the_server_does_not_know_is_refused_not_dropped(tmp_path, asked):
    answers = {"/openai/v1/models": listing("a"), "/openai/v1/chat/completions": {"choices": []}}
    with (
        EndpointServer(answers) as server,
        lending(tmp_path, server, preset="groq") as house,
        serving(house, Shelf((*house.endpoints.models(),))) as port,
    ):
        told = ask(port, chat({**BODY, **asked}))
        plain = ask(port, chat({**BODY, "n": 1, "logit_bias": {}, "max_tokens": 7}))
    assert (told.status, told.error["code"]) == (400, "request.capability")
    assert plain.status == 200
    assert server.asked[-1].body == {"model": "a", "messages": BODY["messages"], "max_completion_tokens": 7}


def test_a_picture_goes_along(house):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    told = reply(house, {"messages": [{"role": "user", "content": [picture]}]}, {"choices": []})
    assert told.status == 200
    assert house.server.asked[-1].body["messages"][0]["content"] == [picture]
    refused = saying({"error": {"message": "No endpoints found that support image input"}}, 404)
    told = reply(house, {"messages": [{"role": "user", "content": [picture]}]}, refused)
    assert (told.status, told.error["code"]) == (400, "endpoint.picture")


def test_a_request_that_names_no_model_never_goes_there(house):
    assert reply(house, {}, {"choices": []}).status == 200
    house.server.asked.clear()
    told = ask(house.port, chat({"messages": BODY["messages"]}))
    assert (told.status, told.error["code"], house.server.asked) == (404, "model.needed", [])


def test_the_list_says_what_leaves(house):
    house.port.shelf.models = (model("tiny"), *house.port.shelf.models)
    entries = {each["id"]: each for each in ask(house.port, request(path="/v1/models")).json["data"]}
    assert "leaves_computer" not in entries["tiny"]
    served = entries["a@box"]
    assert (served["leaves_computer"], served["reach"], served["owned_by"]) == (False, "here", "box")
    assert served["context_length"] == 100
    assert "architecture" not in served
    assert ask(house.port, request(path="/v1/models/a@box")).json == served


def test_a_caller_that_hangs_up_ends_it_there(house):
    house.server.answers[CHAT] = streaming(chunk(content="hi"), end=False)
    with connect(house.port) as line:
        line.sendall(chat({**BODY, "stream": True}))
        while b"hi" not in line.recv(1 << 16):
            pass
    assert house.server.hung_up.wait(5)


def test_stopping_the_model_ends_the_answer(house):
    house.server.answers[CHAT] = streaming(chunk(content="hi"), end=False)
    with connect(house.port) as line:
        line.sendall(chat({**BODY, "stream": True}))
        threading.Timer(0.2, lambda: house.supervisor.stop("a@box")).start()
        told = read_reply(line)
    assert events(told)[-1]["error"]["code"].startswith("endpoint.")
    assert house.server.hung_up.wait(5)


def test_the_environments_proxy_is_asked_for_a_tunnel(tmp_path, authority, monkeypatch):
    """The proxy sees a host and a port; what is said there it does not."""
    for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    refused = EndpointServer({"api.example.com:443": lambda handler: send(handler, {}, 403)})
    answers = {"/v1/models": listing("a")}
    with (
        refused as proxy,
        EndpointServer(answers) as server,
        lending(tmp_path, server, preset="groq", base_path="/v1") as house,
    ):
        house.endpoints.change("box", address="https://api.example.com/v1")
        house.endpoints.use_key("box", "k1")
        monkeypatch.setenv("https_proxy", f"http://user:pass@127.0.0.1:{proxy.port}")
        (there,) = models_of(house.endpoints.get("box"), [Listed("a")])
        with serving(house, Shelf((there,))) as port:
            told = ask(port, chat({**BODY, "model": there.id}))
    assert (told.status, told.error["code"]) == (502, "endpoint.proxy")
    (asked,) = proxy.asked
    assert (asked.method, asked.path) == ("CONNECT", "api.example.com:443")
    assert asked.headers["proxy-authorization"] == "Basic dXNlcjpwYXNz"
    assert "authorization" not in asked.headers
    assert "k1" not in json.dumps(asked.headers)


def test_what_nobody_says_what_it_is_for_may_be_asked_for_anything(house):
    house.server.answers["/v1/embeddings"] = {"data": [{"embedding": [0.5], "index": 0}], "usage": {"prompt_tokens": 1}}
    told = ask(
        house.port, request("POST", "/v1/embeddings", body=json.dumps({"model": "a@box", "input": "hi"}).encode())
    )
    assert (told.status, told.json["model"]) == (200, "a@box")
    assert house.server.asked[-1].body == {"model": "a", "input": "hi", "encoding_format": "float"}


def test_what_is_not_encrypted_the_proxy_asks_in_our_place(tmp_path, monkeypatch):
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    there = "http://box.lan:8000/v1"
    answers = {f"{there}/models": listing("a"), f"{there}/chat/completions": {"choices": []}}
    with EndpointServer(answers) as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{proxy.port}")
        with (
            lending(tmp_path, proxy, address=there, key="k1") as house,
            serving(house, Shelf((*house.endpoints.models(),))) as port,
        ):
            told = ask(port, chat(BODY))
    assert told.status == 200
    assert {each.headers["proxy-authorization"] for each in proxy.asked} == {"Basic dXNlcjpwYXNz"}
    assert {each.headers["authorization"] for each in proxy.asked} == {"Bearer k1"}
    assert proxy.asked[-1].headers["host"] == "box.lan:8000"


def test_through_a_tunnel_the_certificate_is_that_of_the_server(house):
    house.server.answers[CHAT] = {"choices": [], "usage": {}}
    place = f"127.0.0.1:{house.server.port}"

    async def told(way):
        async with post(f"{house.server.url}{CHAT}", {}, b"{}", way) as answer:
            return answer.status, await answer.read(1000)

    with EndpointServer({place: tunnelling(house.server.port)}) as proxy:
        way = replace(house.endpoints.way(house.endpoints.get("box")), proxy=proxy.url)
        status, body = asyncio.run(told(way))
        assert (status, json.loads(body), proxy.paths) == (200, house.server.answers[CHAT], [place])
        with pytest.raises(EngineFailed) as caught:
            asyncio.run(told(replace(way, tls=ssl.create_default_context)))
    assert caught.value.code == "endpoint.certificate"
