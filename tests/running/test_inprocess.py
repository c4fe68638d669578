"""Engines that this program hosts itself, over an echo whose library may be hosted."""

import os
import sys
import threading
from dataclasses import replace

import httpx2
import pytest

from weighbridge.base.errors import EngineFailed, Refused
from weighbridge.running.choose import Defaults, engine_for
from weighbridge.running.inprocess import EngineInProcess, Survived, check_in_process
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.echo import EchoSession, Script

WAIT_S = 60
BODY = {"messages": [{"role": "user", "content": "one two"}]}


class Hosted:
    """An echo that can be hosted here, and what was done with it."""

    def __init__(self, fails=None):
        self.fails = fails
        self.threads = []
        self.closed = threading.Event()
        self.engine = replace(catalogue()["echo"], open_here=self.open)

    def open(self, load, say, stopped):
        self.threads.append(threading.current_thread().name)
        say("echo: context = 64, slots = 1")
        if self.fails is not None:
            say("E something is wrong")
            raise self.fails
        while self.slow and not stopped():
            stopped_or_not = threading.Event()
            stopped_or_not.wait(0.01)
        session = EchoSession(Script(tps=0), 64)
        session.close = self.closed.set
        return session

    slow = False


@pytest.fixture
def here(echo):
    """Starts an echo in this process; stops it at the end."""
    made = []

    def start(hosted, survived=None, **script):
        model = echo(**script)
        load = Load(str(model.path), alias="parrot", in_process=True)
        changed = threading.Event()
        process = EngineInProcess(hosted.engine, model, load, {}, changed.set, survived or known(hosted.engine, load))
        made.append(process)
        return process, changed

    yield start
    for process in made:
        process.stop()
        process.join()


def known(engine, load):
    survived = Survived()
    survived.add(engine, load)
    return survived


def reach(process, changed, *states):
    while process.running.state not in states:
        assert changed.wait(WAIT_S)
        changed.clear()
    return process.running


def test_it_answers_on_a_port_of_its_own_with_its_own_key(here):
    hosted = Hosted()
    process, changed = here(hosted)
    running = reach(process, changed, State.READY, State.FAILED)
    assert (running.state, running.pid, running.memory_bytes, running.context) == (State.READY, None, None, 64)
    with httpx2.Client(base_url=running.url, trust_env=False) as client:
        assert client.post("/v1/chat/completions", json=BODY).status_code == 401
        headers = {"Authorization": f"Bearer {process.key}"}
        answer = client.post("/v1/chat/completions", json=BODY, headers=headers).json()
    assert answer["choices"][0]["message"]["content"] == "one two"
    assert hosted.threads == ["session-parrot"]
    process.stop()
    process.join()
    assert hosted.closed.is_set()
    assert (process.running.state, process.running.url, process.lives) == (State.STOPPED, None, False)


def test_what_is_not_known_yet_is_tried_in_a_process_of_its_own_first(here, monkeypatch):
    hosted, survived = Hosted(), Survived()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    process, changed = here(hosted, survived)
    assert reach(process, changed, State.READY, State.FAILED).state is State.READY
    assert survived(hosted.engine, process.running.load)
    assert not survived(hosted.engine, replace(process.running.load, context=128))


@pytest.mark.parametrize("script", [{"fail_at": "load", "fail_how": "crash"}, {"fail_at": "token"}])
def test_what_does_not_survive_a_process_of_its_own_is_never_loaded_here(here, script):
    hosted, survived = Hosted(), Survived()
    process, changed = here(hosted, survived, **script)
    running = reach(process, changed, State.FAILED)
    assert running.error.code in ("engine.crashed", "engine.ended")
    assert hosted.threads == []
    assert not survived(hosted.engine, running.load)


@pytest.mark.skipif(os.name != "posix", reason="ends by a signal")
def test_a_library_that_this_processor_cannot_run_ends_a_process_of_its_own_and_not_this_one(echo, tmp_path):
    (tmp_path / "llama_cpp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")
    model, environment = echo(), {**os.environ, "PYTHONPATH": str(tmp_path)}
    load = Load(str(model.path), threads=1, in_process=True)
    process = EngineInProcess(catalogue()["llama_cpp"], model, load, environment, lambda: None, Survived())
    process.join()
    assert (process.running.state, process.running.error.code) == (State.FAILED, "engine.illegal_instruction")


def test_a_load_that_fails_here_says_so_and_leaves_nothing(here):
    process, changed = here(Hosted(fails=RuntimeError("gone")))
    running = reach(process, changed, State.FAILED)
    assert (running.error.code, running.error.values["reason"]) == ("engine.load_refused", "RuntimeError: gone")
    assert "E something is wrong" in process.log.lines()
    process, changed = here(Hosted(fails=EngineFailed("engine.silent", reason="x")))
    assert reach(process, changed, State.FAILED).error.code == "engine.silent"


def test_stop_amid_a_load_gives_it_up(here):
    hosted = Hosted()
    hosted.slow = True
    process, _ = here(hosted)
    while not hosted.threads:
        threading.Event().wait(0.01)
    process.stop()
    process.join()
    assert process.running.state is State.STOPPED


def test_only_what_is_made_for_it_is_hosted_here(monkeypatch):
    engine = Hosted().engine
    check_in_process(engine)
    with pytest.raises(Refused) as refused:
        check_in_process(catalogue()["echo"])
    assert refused.value.code == "engine.not_in_process"
    with pytest.raises(Refused) as refused:
        check_in_process(replace(engine, python="/elsewhere/python", build="cuda"))
    assert refused.value.code == "engine.in_process_elsewhere"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(Refused) as refused:
        check_in_process(engine)
    assert refused.value.code == "engine.in_process_release"


def test_a_load_names_its_engine(echo):
    model, engines = echo(), catalogue()
    twin = replace(engines["echo"], id="twin", open_here=Hosted().open)
    both = [engines["echo"], twin]
    load = Load(str(model.path))
    assert engine_for(model, both, load).id == "echo"
    assert engine_for(model, both, replace(load, engine="twin")).id == "twin"
    assert engine_for(model, both, replace(load, in_process=True)).id == "twin"
    with pytest.raises(Refused) as refused:
        engine_for(model, both, replace(load, engine="llama_server"))
    assert refused.value.code == "engine.not_for_format"
    with pytest.raises(Refused) as refused:
        engine_for(model, both, replace(load, engine="echo", in_process=True))
    assert refused.value.code == "engine.not_in_process"


def test_the_supervisor_lends_it_like_any_other(echo):
    hosted, model = Hosted(), echo()
    supervisor = Supervisor({"echo": hosted.engine}, Defaults(cores=2))
    try:
        load = replace(supervisor.default_load(model), in_process=True)
        with supervisor.lease(model, load).result(WAIT_S) as lease, httpx2.Client(trust_env=False) as client:
            answer = client.post(f"{lease.url}/v1/chat/completions", json=BODY, headers=lease.headers).json()
        assert answer["choices"][0]["message"]["content"] == "one two"
        supervisor.stop(model.id).result(WAIT_S)
        assert supervisor.running() == ()
    finally:
        supervisor.close()
