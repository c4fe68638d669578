"""The worker that hosts mlx-lm, over its port, on a small model that is made here."""

import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection

import pytest
from tests.engines.mlx_made import make

from weighbridge.running.readiness import free_port
from weighbridge_engines.api import KEY_VARIABLE, Load
from weighbridge_engines.mlx import ENGINE

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(ENGINE.missing() is not None, reason="mlx-lm is not installed, or not with what computes"),
]
PATIENCE_S = 120


class Worker:
    def __init__(self, folder):
        self.port = free_port()
        load = json.dumps(Load(str(folder), alias="small", context=400).as_json())
        argv = [
            sys.executable,
            "-P",
            "-m",
            "weighbridge_engines.worker",
            "mlx",
            "--port",
            str(self.port),
            "--load",
            load,
        ]
        self.process = subprocess.Popen(argv, env={**os.environ, **ENGINE.environment, KEY_VARIABLE: "key"})

    def ask(self, method, route, body=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, route, body and json.dumps(body), {"Authorization": "Bearer key"})
        return connection, connection.getresponse()

    def answer(self, route, **body):
        connection, response = self.ask("POST", route, body)
        try:
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def ready(self):
        try:
            connection, response = self.ask("GET", "/health")
        except OSError:
            return False
        connection.close()
        return response.status == 200


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    one = Worker(make(tmp_path_factory.mktemp("mlx") / "small"))
    try:
        limit_s = time.monotonic() + PATIENCE_S
        while not one.ready():
            assert one.process.poll() is None and time.monotonic() < limit_s
            time.sleep(0.05)
        yield one
    finally:
        one.process.terminate()
        one.process.wait()


CHAT = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("model", ["attacker/repo", "/etc", "../../x", "small"])
def test_the_model_of_a_request_is_never_looked_for(worker, model):
    status, told = worker.answer(CHAT, model=model, messages=HELLO, max_tokens=2, ignore_eos=True, temperature=0)
    assert (status, told["model"], told["usage"]["completion_tokens"]) == (200, "small", 2)
    assert told["timings"]["prompt_n"] + told["timings"]["cache_n"] == told["usage"]["prompt_tokens"]


def test_parts_of_a_message_are_read_one_after_the_other(worker):
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    whole, joined = (
        worker.answer(CHAT, messages=[{"role": "user", "content": content}], max_tokens=6, temperature=0)[1]
        for content in ("hello", parts)
    )
    assert joined["choices"] == whole["choices"]
    assert joined["usage"] == whole["usage"]
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]
    assert worker.answer(CHAT, messages=[{"role": "user", "content": image}])[0] == 400


def test_who_hangs_up_leaves_the_engine_to_the_next(worker):
    connection, response = worker.ask("POST", CHAT, {"messages": HELLO, "stream": True, "ignore_eos": True})
    assert response.readline().startswith(b"data: ")
    response.close()
    connection.close()
    assert worker.answer(CHAT, messages=HELLO, max_tokens=1, ignore_eos=True)[0] == 200


def test_scores_and_what_is_too_long(worker):
    status, told = worker.answer("/v1/score", input="hello harbour master")
    assert (status, told["logprobs"][0], len(told["tokens"])) == (200, None, len(told["logprobs"]))
    status, told = worker.answer(CHAT, messages=[{"role": "user", "content": "count " * 400}])
    assert (status, told["error"]["n_ctx"]) == (400, 400)


def test_a_key_is_asked_for(worker):
    connection = HTTPConnection("127.0.0.1", worker.port, timeout=PATIENCE_S)
    connection.request("POST", CHAT, json.dumps({"messages": HELLO}))
    assert connection.getresponse().status == 401
    connection.close()
