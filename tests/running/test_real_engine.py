"""A real engine on a real model: llama.cpp by xllamacpp, on SmolLM2."""

import sys
import threading
import time
from dataclasses import replace

import psutil
import pytest

from weighbridge.base.errors import BadFile, Cancelled, EngineFailed, Refused
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.events import Delta, Done, PromptProgress, StreamFault, Timings, Usage
from weighbridge.chat.meter import Meter
from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

WAIT_S = 120
pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def model(smollm2):
    library = Library([smollm2.parent])
    library.scan()
    return library.resolve("SmolLM2-135M-Instruct.Q4_1")


@pytest.fixture(scope="module")
def loaded(model):
    """A supervisor with the model loaded: for all tests that only ask it."""
    one = Supervisor(catalogue(), Defaults(cores=2))
    one.load(model, load_of(model)).result(WAIT_S)
    yield one
    one.close()


@pytest.fixture
def client():
    one = ChatClient()
    yield one
    one.close()


def load_of(model):
    return Load(model=str(model.path), alias=model.id, context=2000, threads=1, batch=64)


def ask(client, lease, words, task=None, **sampling):
    events = []
    body = chat_body(lease.model_id, [{"role": "user", "content": words}], Sampling(**sampling))
    client.stream(lease, body, events.append, task or Task())
    return events


def test_it_answers_and_tells_what_it_really_uses(loaded, model, client):
    with loaded.lease(model, load_of(model)).result(WAIT_S) as lease:
        events = ask(client, lease, "Say hello to the harbour master.", temperature=0.0, max_tokens=12)
        [running] = loaded.running()
    assert "".join(event.text for event in events if isinstance(event, Delta)).strip()
    assert isinstance(events[-1], Done)
    meter = Meter(time.monotonic)
    for event in events:
        meter.feed(event)
    reading = meter.reading()
    assert reading.source == "engine"
    assert reading.decode_tps > 0 and reading.prompt_tps > 0
    usage = next(event for event in events if isinstance(event, Usage))
    assert reading.context_used == usage.prompt_tokens + usage.completion_tokens

    settings = {setting.name: setting for setting in running.settings}
    assert (settings["context"].requested, settings["context"].effective) == (2000, 2048)
    assert settings["context"].reason == "setting.padded"
    assert (settings["threads"].effective, settings["batch"].effective, settings["slots"].effective) == (1, 64, 1)
    # 30 layers x 3 KV heads x 64 elements x (K and V) x 2 bytes, for 2,048 cells.
    assert running.buffers["kv_bytes"] == 30 * 3 * 64 * 2 * 2 * 2048
    assert running.buffers["weights_bytes"] > 90 << 20
    assert running.memory_bytes > running.buffers["weights_bytes"]
    if sys.platform == "linux":  # the weights are pages of the file, which no engine copies in this type
        assert running.private_bytes < running.memory_bytes - running.buffers["weights_bytes"] / 2


def test_a_seed_makes_an_answer_repeatable(loaded, model, client):
    def said(seed):
        events = ask(client, lease, "Tell me of the sea.", temperature=1.0, seed=seed, max_tokens=16)
        return "".join(event.text for event in events if isinstance(event, Delta))

    with loaded.lease(model, load_of(model)).result(WAIT_S) as lease:
        first = said(7)
        assert said(7) == first
        assert said(8) != first


def test_the_reading_of_a_long_prompt_is_seen_and_can_be_stopped(loaded, model, client):
    task, seen = Task(), []

    def watch(event):
        seen.append(event)
        if isinstance(event, PromptProgress) and event.processed:
            task.cancel()

    with loaded.lease(model, load_of(model)).result(WAIT_S) as lease:
        body = chat_body(model.id, [{"role": "user", "content": "harbour " * 1500}], Sampling())
        with pytest.raises(Cancelled):
            client.stream(lease, body, watch, task)
        progress = [event for event in seen if isinstance(event, PromptProgress)]
        assert progress[-1].processed < progress[-1].total
        assert not any(isinstance(event, Delta) for event in seen)
        assert isinstance(ask(client, lease, "Hi", max_tokens=2)[-1], Done)


def test_an_answer_is_stopped_from_another_thread_half_way(loaded, model, client):
    task, seen = Task(), []
    with loaded.lease(model, load_of(model)).result(WAIT_S) as lease:

        def answer():
            body = chat_body(model.id, [{"role": "user", "content": "Count to a thousand."}], Sampling(seed=1))
            with pytest.raises(Cancelled):
                client.stream(lease, body, seen.append, task)

        thread = threading.Thread(target=answer)
        thread.start()
        end = time.monotonic() + WAIT_S
        while sum(isinstance(event, Timings) for event in seen) < 10:
            assert time.monotonic() < end
            time.sleep(0.01)
        task.cancel()
        thread.join(WAIT_S)
        assert not any(isinstance(event, Done | StreamFault) for event in seen)


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(loaded, model, client):
    with loaded.lease(model, load_of(model)).result(WAIT_S) as lease:
        with pytest.raises(Refused) as refused:
            ask(client, lease, "harbour " * 2100)
        assert refused.value.code == "context.exceeded"
        assert refused.value.values["context"] == 2048
        assert refused.value.values["prompt_tokens"] > 2100
        assert isinstance(ask(client, lease, "Hi", max_tokens=2)[-1], Done)


def children():
    return set(psutil.Process().children(recursive=True))


def test_a_damaged_file_fails_with_its_cause_and_leaves_nothing(supervisor, model, tmp_path):
    before = children()
    cut = tmp_path / "cut.gguf"
    with model.path.open("rb") as whole:
        cut.write_bytes(whole.read(3_000_000))
    broken = replace(model, id="cut", path=cut, parts=(cut,))
    with pytest.raises(BadFile) as failed:
        supervisor.lease(broken).result(WAIT_S)
    assert failed.value.code == "file.truncated"
    assert failed.value.values["size_bytes"] == 3_000_000
    assert supervisor.running()[0].state is State.FAILED
    assert children() == before


def test_stop_amid_a_load(supervisor, model):
    before = children()
    lease = supervisor.lease(model, load_of(model))
    end = time.monotonic() + WAIT_S
    while not (supervisor.running() and supervisor.running()[0].stage in ("weights", "context", "warming")):
        assert time.monotonic() < end
        time.sleep(0.001)
    supervisor.stop(model.id).result(WAIT_S)
    with pytest.raises(EngineFailed):
        lease.result(WAIT_S)
    assert children() == before
