"""llama-cpp-python in a process of its own and in this one: the same answers, Stop, two streams, memory as weighed."""

import threading
import time
from dataclasses import replace
from importlib import util

import httpx2
import psutil
import pytest

from weighbridge.base.errors import Cancelled, EngineFailed, Refused
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.events import Delta, Done, PromptProgress, Usage
from weighbridge.choices.blueprints import Blueprints
from weighbridge.estimates.estimate import HOST, Place, PlaceKind, Term
from weighbridge.estimates.memory import estimate
from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.plans import plan_of
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

WAIT_S = 120
MIB = 1 << 20
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(util.find_spec("llama_cpp") is None, reason="llama-cpp-python is not installed"),
]


@pytest.fixture(scope="module")
def model(smollm2):
    library = Library([smollm2.parent])
    library.scan()
    return library.resolve("SmolLM2-135M-Instruct.Q4_1")


@pytest.fixture(scope="module", params=["child", "in process"])
def load(request, model):
    values = {"context": 1000, "threads": 1, "batch": 64, "engine": "llama_cpp"}
    return Load(str(model.path), alias=model.id, in_process=request.param == "in process", **values)


@pytest.fixture(scope="module")
def loaded(model, load):
    """A supervisor with the model loaded: for all tests that only ask it."""
    one = Supervisor(catalogue(), Defaults(cores=2))
    one.load(model, load).result(WAIT_S)
    yield one
    one.close()


@pytest.fixture
def client():
    one = ChatClient()
    yield one
    one.close()


def ask(client, lease, words, task=None, on_event=None, **sampling):
    events = []
    body = chat_body(lease.model_id, [{"role": "user", "content": words}], Sampling(**sampling))
    client.stream(lease, body, lambda event: (events.append(event), on_event and on_event(event)), task or Task())
    return events


def said(events):
    return "".join(event.text for event in events if isinstance(event, Delta))


ANSWERS = {}


def test_both_give_the_same_greedy_answer_and_tell_what_they_use(loaded, model, load, client):
    with loaded.lease(model, load).result(WAIT_S) as lease:
        events = ask(client, lease, "Say hello to the harbour master.", temperature=0.0, max_tokens=16)
        [running] = loaded.running()
    assert isinstance(events[-1], Done)
    ANSWERS[load.in_process] = said(events)
    assert len(set(ANSWERS.values())) == 1
    assert ANSWERS[load.in_process].strip()
    settings = {setting.name: setting for setting in running.settings}
    assert (settings["context"].effective, settings["threads"].effective, settings["slots"].effective) == (1024, 1, 1)
    assert running.buffers["kv_bytes"] == 30 * 3 * 64 * 2 * 2 * 1024
    assert (running.pid is None) == load.in_process
    assert (running.memory_bytes is None) == load.in_process
    assert running.private_bytes > running.buffers["kv_bytes"]
    usage = next(event for event in events if isinstance(event, Usage))
    assert usage.completion_tokens == 16


def test_stop_amid_the_prompt_and_amid_the_answer(loaded, model, load, client):
    with loaded.lease(model, load).result(WAIT_S) as lease:
        for words, until in (("harbour " * 900, PromptProgress), ("Count to a thousand.", Delta)):
            task = Task()

            def end(event, until=until, task=task):
                if isinstance(event, until) and getattr(event, "processed", 1):
                    task.cancel()

            with pytest.raises(Cancelled):
                ask(client, lease, words, task, end)
            start = time.monotonic()
            assert said(ask(client, lease, "Say hello.", max_tokens=2))
            assert time.monotonic() - start < WAIT_S / 4


def test_streams_at_the_same_time_are_all_whole(loaded, model, load, client):
    told = {}
    with loaded.lease(model, load).result(WAIT_S) as lease:
        alone = said(ask(client, lease, "Name a bird.", temperature=0.0, max_tokens=12))

        def one(name):
            told[name] = ask(client, lease, "Name a bird.", temperature=0.0, max_tokens=12)

        threads = [threading.Thread(target=one, args=(name,)) for name in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
    assert [said(events) for events in told.values()] == [alone] * 3
    assert all(isinstance(events[-1], Done) for events in told.values())


def test_what_is_refused_is_a_400_and_the_next_is_answered(loaded, model, load, client):
    with loaded.lease(model, load).result(WAIT_S) as lease:
        with pytest.raises(Refused) as refused:
            ask(client, lease, "harbour " * 1200)
        assert refused.value.code == "context.exceeded"
        body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 4}
        with httpx2.Client(base_url=lease.url, headers=lease.headers, trust_env=False, timeout=60) as http:
            for fields, named in (
                ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"minimum": 3}}}}, "minimum"),
                ({"tools": [{"type": "function"}]}, "tools"),
                ({"messages": []}, "messages"),
                ({"messages": [{"role": "banana", "content": "x"}]}, "banana"),
            ):
                response = http.post("/v1/chat/completions", json={**body, **fields})
                assert response.status_code == 400, response.text
                assert named in response.text
            assert http.post("/v1/chat/completions", json=body).status_code == 200
            scores = http.post("/v1/score", json={"input": "The quick brown fox"}).json()
            assert len(scores["tokens"]) == len(scores["logprobs"]) > 3


@pytest.mark.parametrize(
    "values",
    [
        {"context": 2000, "batch": 64},
        {"context": 4096, "batch": 512},
        {"context": 2048, "batch": 256, "micro_batch": 128, "key_type": "q8_0", "value_type": "q8_0"},
        {"context": 1024, "batch": 256, "flash_attention": False, "mapped": False},
    ],
    ids=["plain", "large batch", "cache types", "no flash attention"],
)
def test_a_load_takes_what_was_weighed(supervisor, model, values):
    load = Load(str(model.path), alias=model.id, threads=1, engine="llama_cpp", **values)
    running = supervisor.load(model, load).result(WAIT_S)
    weighed = estimate(Blueprints().of(model), plan_of(load, "llama_cpp"), [Place(HOST, "", PlaceKind.HOST)])
    terms = {term: amount or 0 for term, amount in weighed.shares[0].terms.items()}
    told = running.buffers
    assert terms[Term.KV] == pytest.approx(told["kv_bytes"], rel=0.01)
    assert terms[Term.COMPUTE] == pytest.approx(told["compute_bytes"], rel=0.1, abs=MIB)
    assert terms[Term.OUTPUT] == pytest.approx(told["output_bytes"], abs=MIB / 8)
    assert terms[Term.WEIGHTS] == pytest.approx(told["weights_bytes"], rel=0.02)
    # What a batch has not touched yet is not resident.
    assert 0 < weighed.total_bytes - running.memory_bytes < 16 * MIB + terms[Term.COMPUTE]


def children():
    return set(psutil.Process().children(recursive=True))


def test_its_end_leaves_nothing(supervisor, model, load):
    before, threads = children(), set(threading.enumerate())
    supervisor.lease(model, load).result(WAIT_S).give_back()
    supervisor.stop(model.id).result(WAIT_S)
    assert children() == before
    names = [thread.name for thread in threading.enumerate() if thread not in threads]
    assert not [name for name in names if name.startswith(("session-", "host-", "engine-"))]


def test_a_load_that_fails_says_why(supervisor, model, load):
    with pytest.raises(Refused) as refused:
        supervisor.lease(model, replace(load, value_type="q4_0", flash_attention=False)).result(WAIT_S)
    assert refused.value.code == "setting.needs"
    with pytest.raises(EngineFailed) as failed:
        supervisor.lease(model, replace(load, adapters=("/nowhere/adapter.gguf",))).result(WAIT_S)
    assert failed.value.code == "engine.no_model_file"
    assert "/nowhere/adapter.gguf" in failed.value.values["line"]
    assert supervisor.running()[0].state is State.FAILED
