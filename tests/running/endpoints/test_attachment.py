"""Models of endpoints while they are lent: at once, beside what runs here, and cut at a stop."""

import json
import threading
import time
from concurrent.futures import CancelledError

import pytest
from tests.endpoint_server import EndpointServer, lending, listing, saying, send

from weighbridge.base.errors import EngineFailed, NotFound, Refused
from weighbridge.library.model import Model
from weighbridge.running.endpoints.asking import Asker
from weighbridge.running.endpoints.attachment import Attachment
from weighbridge.running.endpoints.endpoint import Listed, models_of
from weighbridge.running.scales import Scales
from weighbridge.running.state import State
from weighbridge_engines.api import Load

WAIT_S = 20
SERVED = {"/v1/models": listing("a", "b", max_model_len=512)}


def until(true):
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def echo(folder, name="parrot", **script):
    path = folder / f"{name}.echo"
    path.write_text(json.dumps(script), encoding="utf-8")
    return Model(id=name, title=name, path=path, parts=(path,), format="echo", quant=None, size_bytes=10)


def states(supervisor):
    return {running.model_id: running.state for running in supervisor.running()}


def test_it_is_lent_with_the_name_the_key_and_the_words_of_its_server(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server, key="k1") as house:
        with house.lease() as lease:
            [running] = house.supervisor.running()
            assert (running.state, running.in_flight, running.engine_id) == (State.READY, 1, "endpoint")
            assert (running.memory_bytes, running.pid, running.context) == (None, None, 512)
            assert (lease.address("/chat/completions"), lease.context) == (f"{server.url}/v1/chat/completions", 512)
            assert lease.headers == {"Authorization": "Bearer k1"}
            body = {"messages": [], "model": "a@box", "timings_per_token": True, "top_k": 4, "top_p": 0.5}
            assert lease.spoken(body) == {"messages": [], "model": "a", "top_p": 0.5}
            assert lease.left_out(body) == ("timings_per_token", "top_k")
        until(lambda: house.supervisor.running()[0].in_flight == 0)


def test_many_are_lent_at_a_time(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        leases = [house.lease() for _ in range(20)]
        assert house.supervisor.running()[0].in_flight == 20
        for lease in leases:
            lease.give_back()


@pytest.mark.parametrize(
    ("preset", "asked"),
    [
        ("ollama", ("POST", "/v1/chat/completions", 1)),
        ("vllm", ("GET", "/health", None)),
        ("other", ("GET", "/v1/models", None)),
        ("groq", None),
    ],
)
def test_what_is_asked_before_it_counts_as_ready(tmp_path, preset, asked):
    answers = {**SERVED, "/openai/v1/models": listing("a"), "/health": {}, "/v1/chat/completions": {"choices": []}}
    with EndpointServer(answers) as server, lending(tmp_path, server, preset=preset) as house:
        before = len(server.asked)
        house.lease().give_back()
        later = [(each.method, each.path, each.body and each.body["max_tokens"]) for each in server.asked[before:]]
        assert later == ([] if asked is None else [asked])


def test_no_token_is_asked_of_what_another_sends_on(tmp_path):
    listed = {"/v1/models": {"data": [{"id": "a", "leaves_computer": True}]}}
    with EndpointServer(listed) as server, lending(tmp_path, server, preset="ollama") as house:
        house.lease().give_back()
        assert "/v1/chat/completions" not in server.paths


def test_a_server_that_is_away_says_so_and_is_asked_again(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        server.answers["/v1/models"] = saying({"error": "loading"}, 503)
        for _ in range(3):
            with pytest.raises(EngineFailed) as caught:
                house.lease()
            assert caught.value.code == "endpoint.server"
        server.answers["/v1/models"] = listing("a")
        house.lease().give_back()


def test_nothing_has_to_go_for_it_and_it_goes_for_nothing(tmp_path):
    """One model at a time: what is here stays, though nobody knows how much memory there is."""
    first, second = echo(tmp_path, "first", tps=0), echo(tmp_path, "second", tps=0)
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        supervisor = house.supervisor
        with supervisor.lease(first).result(WAIT_S):
            house.lease().give_back()
            assert (
                supervisor.would_end(house.model("b@box"), supervisor.default_load(house.model("b@box"))).result(WAIT_S)
                == ()
            )
            waiting = supervisor.lease(second)
            house.lease("b@box").give_back()
            assert not waiting.done()
        waiting.result(WAIT_S).give_back()
        assert states(supervisor) == dict.fromkeys(("a@box", "b@box", "second"), State.READY)


def test_a_load_that_hangs_here_does_not_keep_it_waiting(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        loading = house.supervisor.lease(echo(tmp_path, load_s=30))
        until(lambda: states(house.supervisor).get("parrot") is State.LOADING)
        house.lease().give_back()
        loading.cancel()
        house.supervisor.stop("parrot").result(WAIT_S)


def test_a_server_that_thinks_does_not_keep_what_is_here_waiting(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        server.answers["/v1/models"] = lambda handler: handler.wait_for_hang_up()
        waiting = house.supervisor.lease(house.model())
        house.supervisor.lease(echo(tmp_path, tps=0)).result(WAIT_S).give_back()
        house.supervisor.stop("a@box").result(WAIT_S)
        assert server.hung_up.wait(5)
        with pytest.raises((EngineFailed, CancelledError)):
            waiting.result(WAIT_S)


def test_memory_that_is_short_is_none_of_its_business(tmp_path):
    scales = Scales(lambda: 0, lambda model, load: 1 << 40)
    with EndpointServer(SERVED) as server, lending(tmp_path, server, scales=scales) as house:
        house.lease().give_back()
        house.supervisor.lease(echo(tmp_path, tps=0)).result(WAIT_S).give_back()
        assert states(house.supervisor) == {"a@box": State.READY, "parrot": State.READY}


def test_a_stop_cuts_what_is_under_way(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        lease, cut = house.lease(), threading.Event()
        leave = lease.way.at_stop(cut.set)
        house.supervisor.stop("a@box").result(WAIT_S)
        assert cut.is_set()
        leave()
        lease.give_back()
        assert house.supervisor.running() == ()


def test_a_server_that_never_answers_keeps_nobody_from_ending(tmp_path, monkeypatch):
    """Connecting cannot be cut: the end does not wait for it."""
    asked, over = threading.Event(), threading.Event()
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        monkeypatch.setattr(Asker, "check", lambda *_: (asked.set(), over.wait(WAIT_S)))
        waiting = house.supervisor.lease(house.model())
        assert asked.wait(WAIT_S)
        house.supervisor.stop("a@box").result(WAIT_S)
        assert house.supervisor.running() == () and waiting.exception(WAIT_S).code == "engine.stopped"
        over.set()


def test_offline_what_leaves_is_not_asked(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server, offline=lambda: True) as house:
        with house.lease() as lease:
            assert lease.way.begin("POST").ended(0) is None
        (far,) = models_of(house.endpoints.add("https://api.groq.com", key="k"), [Listed("m")])
        with house.supervisor.lease(far).result(WAIT_S) as lease, pytest.raises(Refused) as caught:
            lease.way.begin()
        assert caught.value.code == "endpoint.offline"


def test_what_was_forgotten_meanwhile_is_not_lent(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        model = house.model()
        house.endpoints.remove("box")
        with pytest.raises(NotFound):
            house.supervisor.lease(model).result(WAIT_S)


def test_another_key_and_another_address_hold_from_the_next_request_on(tmp_path):
    with EndpointServer(SERVED) as server, EndpointServer(SERVED) as moved, lending(tmp_path, server) as house:
        model, cut = house.model(), threading.Event()
        with house.lease() as first:
            leave = first.way.at_stop(cut.set)
            house.endpoints.use_key("box", "k2")
            with house.lease() as second:
                assert (first.headers, second.headers) == ({}, {"Authorization": "Bearer k2"})
        house.endpoints.change("box", address=moved.url)
        with house.supervisor.lease(model).result(WAIT_S) as third:
            assert (third.url, third.headers) == (moved.url, {})
        leave()
    assert not cut.is_set()


def test_a_change_while_its_server_thinks_begins_anew(tmp_path):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        server.answers["/v1/models"] = lambda handler: handler.wait_for_hang_up()
        waiting = house.supervisor.lease(house.model())
        until(lambda: len(server.asked) > 1)
        server.answers["/v1/models"] = listing("a")
        house.endpoints.use_key("box", "k2")
        with waiting.result(WAIT_S) as lease:
            assert lease.headers == {"Authorization": "Bearer k2"}
        house.endpoints.remove("box")
        until(lambda: house.supervisor.running() == ())


def test_a_change_just_as_it_begins_to_listen_ends_it(tmp_path, monkeypatch):
    with EndpointServer(SERVED) as server, lending(tmp_path, server) as house:
        left, model, subscribe = threading.Event(), house.model(), house.endpoints.subscribe

        def changed_meanwhile(listener):
            leave = subscribe(listener)
            house.endpoints.use_key("box", "k2")
            return lambda: (leave(), left.set())

        monkeypatch.setattr(house.endpoints, "subscribe", changed_meanwhile)
        attachment = Attachment(house.endpoints, model, Load("a"), lambda: None)
        attachment.join()
        assert attachment.running.state is State.STOPPED
        assert left.is_set()


def test_an_answer_with_a_fault_of_its_own_form_fails_the_check(tmp_path):
    def refusing(handler):
        send(handler, {"error": {"message": "model 'a' not found"}}, 404)

    answers = {**SERVED, "/v1/chat/completions": refusing}
    with EndpointServer(answers) as server, lending(tmp_path, server, preset="ollama") as house:
        with pytest.raises(EngineFailed) as caught:
            house.lease()
        assert caught.value.code == "endpoint.no_model"
