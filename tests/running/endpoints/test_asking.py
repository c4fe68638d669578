"""Servers that are asked for their models: those that answer, and all the ways in which others do not."""

import socket
import threading

import pytest
from tests.endpoint_server import EndpointServer, hanging_up, listing, saying, send

from weighbridge.base.errors import Cancelled
from weighbridge.base.explain import explain_code
from weighbridge.base.task import Task
from weighbridge.hub.network import NetworkLog
from weighbridge.running.endpoints import asking


def reach(made, answers, tls=None, trusted=True, **options):
    with EndpointServer(answers, tls) as server:
        endpoints = made(trusted=trusted)
        endpoints.add(server.url, title="box", **options)
        return endpoints.reach("box"), server


def code_of(made, answers, **options):
    reached, _ = reach(made, answers, **options)
    assert "{" not in str(explain_code(reached.cause.code, reached.cause.values))
    return reached.cause.code


def test_a_list_over_tls_with_a_key(made, authority):
    reached, server = reach(made, {"/v1/models": listing("a")}, tls=authority[0], key="k1")
    assert [each.name for each in reached.models] == ["a"]
    assert server.asked[0].headers["authorization"] == "Bearer k1"
    assert server.asked[0].headers["accept-encoding"] == "identity"


def test_without_a_key_none_is_sent(made):
    _, server = reach(made, {"/v1/models": listing("a")})
    assert "authorization" not in server.asked[0].headers


def test_a_key_that_a_server_repeats_is_not_passed_on(made, database):
    refused = saying({"error": {"message": "Incorrect API key provided: sk-SECRET."}}, 401)
    reached, _ = reach(made, {"/v1/models": refused}, key="sk-SECRET")
    assert reached.cause.values["message"] == "Incorrect API key provided: ***."
    assert not any("SECRET" in str(row["reached"]) for row in database.rows("SELECT reached FROM endpoints"))


def test_a_certificate_that_nobody_vouches_for(made, authority, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "")
    reached, _ = reach(made, {}, tls=authority[0], trusted=False)
    assert reached.cause.code == "endpoint.certificate"
    assert "_ssl.c" not in reached.cause.values["reason"]


def test_encryption_where_there_is_none(made):
    with EndpointServer({"/v1/models": listing("a")}) as server:
        endpoints = made()
        endpoints.add(server.url.replace("http:", "https:"), title="box")
        assert endpoints.reach("box").cause.code == "endpoint.tls"


def test_nothing_listens(made):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoints = made()
        endpoints.add(f"127.0.0.1:{free.getsockname()[1]}", title="box")
        assert endpoints.reach("box").cause.code == "endpoint.refused"


def test_a_host_that_nobody_knows(made, monkeypatch):
    def unknown(*_arguments, **_named):
        raise socket.gaierror(-2, "Name or service not known")

    endpoints = made()
    endpoints.add("https://api.example.com", title="far")
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert endpoints.reach("far").cause.code == "endpoint.name"


def test_a_server_that_says_nothing(made, monkeypatch):
    monkeypatch.setattr(asking, "READ_S", 0.1)
    gone = threading.Event()
    reached, _ = reach(made, {"/v1/models": lambda handler: gone.wait(0.5)})
    assert reached.cause.code == "endpoint.timeout"


def test_a_server_that_hangs_up(made):
    assert code_of(made, {"/v1/models": hanging_up}) == "endpoint.broken"


def test_a_key_that_is_wrong_and_one_that_is_missing(made):
    refused = saying({"error": {"message": "Invalid API key"}}, 401)
    reached, _ = reach(made, {"/v1/models": refused}, key="k1")
    assert (reached.cause.code, reached.cause.values["message"]) == ("endpoint.key", "Invalid API key")
    made().remove("box")
    assert code_of(made, {"/v1/models": refused}) == "endpoint.needs_key"


@pytest.mark.parametrize("right", ["/v3", "/openai/v1", ""])
def test_a_wrong_base_path_and_where_the_right_one_is(made, right):
    reached, _ = reach(made, {f"{right}/models": listing("a")})
    assert (reached.cause.code, reached.found_path) == ("endpoint.base_path", right)
    assert (right or "/") in str(explain_code(reached.cause.code, reached.cause.values))


def test_no_list_anywhere(made):
    reached, server = reach(made, {})
    assert (reached.cause.code, reached.found_path) == ("endpoint.no_route", None)
    assert len(server.asked) == len(asking.BASE_PATHS)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (saying(b"<html>", content_type="text/html; charset=utf-8"), "endpoint.page"),
        (saying(b"hello"), "endpoint.no_list"),
        (saying({"object": "error"}), "endpoint.no_list"),
        (saying(b"x", Content_Encoding="gzip"), "endpoint.packed"),
        (saying({"error": "down"}, 503), "endpoint.server"),
        (saying({}, 403), "endpoint.denied"),
        (saying({}, 418), "endpoint.answer"),
        (saying({}, 429, Retry_After="9"), "endpoint.wait"),
        (saying(b"", 204), "endpoint.answer"),
    ],
)
def test_answers_that_are_no_list(made, answer, code):
    assert code_of(made, {"/v1/models": answer}) == code


def test_a_redirect_is_told_and_not_followed(made):
    with EndpointServer({"/v1/models": listing("b")}) as other:
        moved = saying({}, 307, Location=f"{other.url}/v1/models")
        reached, _ = reach(made, {"/v1/models": moved}, key="k1")
        assert other.asked == []
    assert (reached.cause.code, reached.cause.values["location"]) == ("endpoint.redirect", f"{other.url}/v1/models")


def test_a_list_without_end_is_given_up(made, monkeypatch):
    monkeypatch.setattr(asking, "MOST_BYTES", 1 << 16)
    assert code_of(made, {"/v1/models": saying(b" " * (1 << 17))}) == "endpoint.broken"


def test_a_further_list_tells_how_much_context_there_is(made):
    answers = {"/v1/models": listing("a", "b"), "/api/ps": {"models": [{"name": "b", "context_length": 4096}]}}
    reached, _ = reach(made, answers, preset="ollama")
    assert [(each.name, each.context) for each in reached.models] == [("a", None), ("b", 4096)]
    made().remove("box")
    reached, _ = reach(made, {"/v1/models": listing("a"), "/api/ps": saying({}, 500)}, preset="ollama")
    assert [(each.name, each.context) for each in reached.models] == [("a", None)]


def test_what_a_server_tells_of_each_model(made, monkeypatch):
    told = {"a": ["completion", "vision"], "b": ["completion"]}

    def show(handler):
        send(handler, {"capabilities": told[server.asked[-1].body["model"]]})

    answers = {"/v1/models": listing("a", "b"), "/api/show": show}
    with EndpointServer(answers) as server:
        endpoints = made()
        endpoints.add(server.url, title="box", preset="ollama")
        assert [each.sees for each in endpoints.reach("box").models] == [True, False]
        answers = [model.remote.sees for model in made().models()]
        monkeypatch.setattr(asking, "EACH_S", -1)
        assert [each.sees for each in endpoints.reach("box").models] == [None, None]
    assert answers == [True, False]


def test_what_llama_cpp_tells_of_the_one_that_it_serves(made):
    answers = {"/v1/models": listing("a"), "/props": {"modalities": {"vision": True}}}
    reached, _ = reach(made, answers, preset="llama_server")
    assert [each.sees for each in reached.models] == [True]


def test_the_port_of_this_very_weighbridge_is_none(made):
    reached, _ = reach(made, {"/v1/models": {**listing("a"), "weighbridge": made().house}})
    assert (reached.cause.code, reached.models) == ("endpoint.self", ())
    made().remove("box")
    reached, _ = reach(made, {"/v1/models": {**listing("a"), "weighbridge": "another"}})
    assert reached.reachable


def test_asking_can_be_given_up(made):
    task, log = Task(), NetworkLog()

    def silent(handler):
        threading.Timer(0.05, task.cancel).start()
        handler.wait_for_hang_up()

    with EndpointServer({"/v1/models": silent}) as server:
        endpoints = made(log=log)
        endpoints.add(server.url, title="box")
        with pytest.raises(Cancelled):
            endpoints.reach("box", task)
        assert server.hung_up.wait(5)
    assert (log.requests[0].error, endpoints.reached("box")) == ("cancelled", None)


def test_the_environments_proxy_is_for_the_network_alone(made, monkeypatch):
    def connect(handler):
        send(handler, {}, 403)

    with EndpointServer({"api.example.com:443": connect, "/v1/models": listing("a")}) as proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
        endpoints = made()
        endpoints.add("https://api.example.com", title="far", key="k1")
        endpoints.add(proxy.url, title="near")
        assert endpoints.reach("far").cause.code == "endpoint.proxy"
        assert endpoints.reach("near").reachable
    assert [(each.method, each.path) for each in proxy.asked] == [
        ("CONNECT", "api.example.com:443"),
        ("GET", "/v1/models"),
    ]
    assert "authorization" not in proxy.asked[0].headers


def test_a_proxy_of_a_kind_that_is_not_spoken(made, monkeypatch):
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    endpoints = made()
    endpoints.add("https://api.example.com", title="far")
    assert endpoints.reach("far").cause.code == "endpoint.proxy"
