"""The life of a described server program under the supervisor: a small server of the tests stands for it."""

import json
import os
import sys

import psutil
import pytest
from tests.running.test_supervisor import WAIT_S, until

from weighbridge.base.errors import EngineFailed
from weighbridge.library.model import Model
from weighbridge.running.choose import Defaults
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.program import engines_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made program is a script of POSIX")

SERVER = """#!{python}
import http.server, json, os, subprocess, sys, time
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
mode, port = words["--mode"], int(words["--port"])
key = os.environ.get("SERVER_KEY", "")
say = lambda *told: print(*told, flush=True)
say("key", key, "folder", os.getcwd(), "threads", os.environ.get("OMP_NUM_THREADS"))
if mode == "leaver":
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    say("worker", child.pid)
if mode == "elsewhere":
    say("listening on", port + 1)
    time.sleep(600)
if mode == "slow":
    time.sleep(600)
if mode == "dead":
    sys.exit("RuntimeError: max seq len (8192), (0.50 GiB KV cache is needed, larger than (0.25 GiB); at most 256")

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *told):
        pass

    def answer(self, status, told):
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200 if self.path == "/ready" else 500, {{}})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != "Bearer " + key:
            return self.answer(401, {{"error": {{"message": "Unauthorized"}}}})
        say("asked for", asked["model"], "at", self.path)
        self.answer(200, {{"choices": []}})

say("context is 256, room for 4096")
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
ENTRY = """
[[program]]
id = "mine"
title = "Mine"
formats = ["safetensors"]
program = "{program}"
argv = ["--mode", "{mode}", "--port", "{{port}}", "--model", "{{model}}"]
key = "variable"
key_by = "SERVER_KEY"
named_by = "model_name"
health = "/ready"
base_path = "/v3"
ready_s = {ready_s}
environment = {{ OWN = "1" }}
[[program.option]]
name = "threads"
kind = "whole"
variable = "OMP_NUM_THREADS"
[[program.says]]
words = 'context is (\\d+)'
value = "context"
[[program.says]]
words = 'room for (\\d+)'
value = "cache_tokens"
[[program.says]]
words = 'listening on (\\d+)'
value = "port"
[[program.fails]]
words = '\\((?P<context_n>\\d+)\\), \\((?P<needed_gib>[\\d.]+) .*\\((?P<available_gib>[\\d.]+).*most (?P<offer_n>\\d+)'
code = "program.context_too_long"
"""


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "the model"
    folder.mkdir()
    weights = folder / "model.safetensors"
    weights.write_bytes(b"x" * 100)
    return Model("m", "M", folder, (weights,), "safetensors", None, 100)


@pytest.fixture
def start(tmp_path, model):
    """Loads the model with the program in a mode of it; returns the supervisor and the future."""
    program = tmp_path / "server"
    program.write_text(SERVER.format(python=sys.executable))
    program.chmod(0o755)
    made = []

    def make(mode, ready_s=600):
        engines, wrong = engines_of(ENTRY.format(program=program, mode=mode, ready_s=ready_s), yours=True)
        assert wrong == ()
        supervisor = Supervisor({"mine": engines[0]}, Defaults(cores=4))
        made.append(supervisor)
        return supervisor, supervisor.load(model, supervisor.default_load(model))

    yield make
    for one in made:
        one.close()


def test_its_whole_life(start, model):
    supervisor, future = start("plain")
    running = future.result(WAIT_S)
    log = "\n".join(supervisor.log("m"))
    assert "threads 3" in log
    assert "key *** folder" in log
    assert "asked for the model at /v3/chat/completions" in log
    assert running.context == 256
    assert {one.name: one.effective for one in running.settings if one.requested is None} == {"cache_tokens": 4096}
    with supervisor.lease(model).result(WAIT_S) as lease:
        assert lease.address("/chat/completions").endswith("/v3/chat/completions")
        assert lease.spoken({"model": "m"})["model"] == "the model"
        assert lease.key and lease.key not in log
    supervisor.stop("m").result(WAIT_S)
    assert not psutil.pid_exists(running.pid)


def test_what_began_a_session_of_its_own_ends_with_it(start):
    supervisor, future = start("leaver")
    future.result(WAIT_S)
    worker = int(next(line for line in supervisor.log("m") if line.startswith("worker")).split()[1])
    assert psutil.pid_exists(worker)
    supervisor.stop("m").result(WAIT_S)
    until(lambda: not psutil.pid_exists(worker))


def test_a_leader_that_is_killed_leaves_no_worker(start):
    supervisor, future = start("leaver")
    running = future.result(WAIT_S)
    worker = int(next(line for line in supervisor.log("m") if line.startswith("worker")).split()[1])
    leader = next(one for one in psutil.Process(running.pid).children() if one.pid != worker)
    leader.kill()
    until(lambda: not psutil.pid_exists(worker))


def test_another_port_than_the_one_it_was_given_is_no_port_of_ours(start):
    _, future = start("elsewhere")
    with pytest.raises(EngineFailed) as failure:
        future.result(WAIT_S)
    assert failure.value.code == "engine.port_taken"
    assert sum("listening on" in line for line in failure.value.log) == 3


def test_a_load_that_takes_longer_than_it_may(start):
    _, future = start("slow", ready_s=1)
    with pytest.raises(EngineFailed) as failure:
        future.result(WAIT_S)
    assert (failure.value.code, failure.value.values["limit_s"]) == ("program.slow", 1)


def test_why_it_ended_is_told_with_the_numbers_it_told(start):
    _, future = start("dead")
    with pytest.raises(EngineFailed) as failure:
        future.result(WAIT_S)
    assert failure.value.code == "program.context_too_long"
    told = {name: failure.value.values[name] for name in ("context", "needed_bytes", "available_bytes", "offer")}
    assert told == {"context": 8192, "needed_bytes": 1 << 29, "available_bytes": 1 << 28, "offer": 256}
    assert json.dumps(told)
