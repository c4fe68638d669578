"""The supervisor over real child processes of the echo engine."""

import contextlib
import dataclasses
import os
import signal
import threading
import time

import httpx2
import psutil
import pytest

from weighbridge.base.errors import BadFile, EngineFailed, Refused
from weighbridge.running import child
from weighbridge.running.choose import Defaults
from weighbridge.running.scales import Scales
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

WAIT_S = 20


def until(true, timeout_s=WAIT_S):
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def states(supervisor):
    return {running.model_id: running.state for running in supervisor.running()}


def ask(lease, text="hello there", **body):
    body = {"messages": [{"role": "user", "content": text}], **body}
    with httpx2.Client(trust_env=False) as client:
        return client.post(f"{lease.url}/v1/chat/completions", json=body, headers=lease.headers, timeout=WAIT_S)


def family(pid):
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_lease_loads_the_model_and_its_url_answers(supervisor, echo):
    with supervisor.lease(echo(tps=0)).result(WAIT_S) as lease:
        answer = ask(lease).json()
        assert answer["choices"][0]["message"]["content"] == "hello there"
        assert answer["model"] == "parrot"
        [running] = supervisor.running()
        assert (running.state, running.in_flight, running.context) == (State.READY, 1, 4096)
        assert running.memory_bytes >= running.private_bytes > 1 << 20
    until(lambda: supervisor.running()[0].in_flight == 0)


def test_without_the_key_nothing_is_answered(supervisor, echo):
    with supervisor.lease(echo(tps=0)).result(WAIT_S) as lease:
        lease.key = "wrong"
        assert ask(lease).status_code == 401


def test_the_second_request_waits_for_the_first(supervisor, echo):
    model = echo(tps=0)
    first = supervisor.lease(model).result(WAIT_S)
    second = supervisor.lease(model)
    until(lambda: supervisor.running()[0].waiting == 1)
    assert not second.done()
    first.give_back()
    first.give_back()
    second.result(WAIT_S).give_back()
    until(lambda: supervisor.running()[0].in_flight == 0)


def test_another_model_takes_the_place_once_the_first_is_idle(supervisor, echo):
    first = supervisor.lease(echo("one", tps=0)).result(WAIT_S)
    second = supervisor.lease(echo("two", tps=0))
    until(lambda: len(supervisor.running()) == 1 and not second.done())
    assert states(supervisor) == {"one": State.READY}
    first.give_back()
    with second.result(WAIT_S):
        assert states(supervisor) == {"two": State.READY}


def test_a_load_as_asked_for(supervisor, echo):
    model = echo(tps=0)
    ready = supervisor.load(model, Load(model=str(model.path), context=77, slots=3)).result(WAIT_S)
    assert (ready.state, ready.context, ready.load.slots) == (State.READY, 77, 3)
    again = supervisor.load(model, Load(model=str(model.path), context=99)).result(WAIT_S)
    assert again.context == 99


def test_a_request_beside_a_load_that_is_wanted_as_such_is_let_in_with_it(supervisor, echo):
    model = echo("slow", load_s=0.3)
    loaded = supervisor.load(model, supervisor.default_load(model))
    with supervisor.lease(model).result(WAIT_S) as lease:
        assert loaded.result(WAIT_S).state is State.READY
        assert ask(lease).status_code == 200


def test_a_cancelled_request_leaves_the_queue(supervisor, echo):
    model = echo(tps=0)
    first = supervisor.lease(model).result(WAIT_S)
    second = supervisor.lease(model)
    until(lambda: supervisor.running()[0].waiting == 1)
    assert second.cancel()
    until(lambda: supervisor.running()[0].waiting == 0)
    first.give_back()


def test_stop_while_it_loads(supervisor, echo):
    lease = supervisor.lease(echo(load_s=60))
    until(lambda: states(supervisor))
    supervisor.stop("parrot").result(WAIT_S)
    with pytest.raises(EngineFailed) as failed:
        lease.result(WAIT_S)
    assert failed.value.code == "engine.stopped"
    assert supervisor.running() == ()


def test_stop_of_what_does_not_run_is_done_at_once(supervisor):
    assert supervisor.stop("nothing").result(WAIT_S) is None


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ({"fail_how": "exit"}, "engine.ended"),
        ({"fail_how": "crash"}, "engine.crashed"),
        ({"fail_how": "kill"}, "engine.killed"),
        ({"fail_how": "crash", "fail_log": ["ggml: failed to allocate CUDA0 buffer"]}, "engine.out_of_memory"),
        ({"fail_log": ["error: unknown model architecture: 'brandnew9'"]}, "engine.unknown_architecture"),
    ],
)
def test_a_load_that_fails_says_why(supervisor, echo, script, code):
    with pytest.raises(EngineFailed) as failed:
        supervisor.lease(echo(fail_at="load", log=["last words"], **script)).result(WAIT_S)
    assert failed.value.code == code
    assert "last words" in failed.value.log
    [running] = supervisor.running()
    assert running.state is State.FAILED
    assert running.error is failed.value
    assert "last words" in supervisor.log("parrot")


def test_a_bad_script_is_a_bad_model_file(supervisor, echo):
    with pytest.raises(EngineFailed) as failed:
        supervisor.lease(echo(no_such_key=1)).result(WAIT_S)
    assert failed.value.code == "engine.bad_model_file"


def test_a_crash_while_answering_is_reported_and_the_next_request_loads_again(supervisor, echo):
    model = echo(text="a b c d", fail_at="token", fail_after=2, fail_how="crash", tps=0)
    lease = supervisor.lease(model).result(WAIT_S)
    with contextlib.suppress(httpx2.TransportError):
        ask(lease, stream=True)
    until(lambda: states(supervisor).get("parrot") is State.FAILED)
    assert supervisor.running()[0].error.code == "engine.crashed"
    lease.give_back()
    supervisor.lease(model).result(WAIT_S).give_back()
    assert states(supervisor) == {"parrot": State.READY}


def test_those_who_wait_while_an_engine_dies_are_served_by_the_next(supervisor, echo):
    model = echo(tps=0)
    first = supervisor.lease(model).result(WAIT_S)
    waiting = [supervisor.lease(model) for _ in range(3)]
    [engine] = family(supervisor.running()[0].pid)
    os.kill(engine, signal.SIGKILL)
    until(lambda: is_gone(engine))
    first.give_back()
    for future in waiting:
        with future.result(WAIT_S) as lease:
            assert ask(lease).status_code == 200


def test_an_engine_that_ignores_sigterm_and_its_grandchildren_are_gone(supervisor, echo, monkeypatch):
    monkeypatch.setattr(child, "GRACE_S", 0.3)
    lease = supervisor.lease(echo(tps=0, ignore_sigterm=True, grandchildren=2)).result(WAIT_S)
    pids = family(supervisor.running()[0].pid)
    assert len(pids) == 3
    os.kill(pids[0], signal.SIGTERM)
    assert ask(lease).status_code == 200
    lease.give_back()
    supervisor.stop("parrot").result(WAIT_S)
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_killed_launcher_takes_its_engine_along(supervisor, echo):
    lease = supervisor.lease(echo(tps=0)).result(WAIT_S)
    pid = supervisor.running()[0].pid
    [engine] = family(pid)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(engine))
    until(lambda: states(supervisor).get("parrot") is State.FAILED)
    lease.give_back()


def test_a_killed_launcher_takes_what_its_engine_started_along(supervisor, echo):
    lease = supervisor.lease(echo(tps=0, grandchildren=2)).result(WAIT_S)
    pid = supervisor.running()[0].pid
    pids = family(pid)
    assert len(pids) == 3
    os.kill(pid, signal.SIGKILL)
    until(lambda: states(supervisor).get("parrot") is State.FAILED)
    until(lambda: not any(psutil.pid_exists(each) for each in pids))
    lease.give_back()


def test_an_engine_that_cannot_answer_is_not_waited_for(supervisor, echo):
    with pytest.raises(EngineFailed) as failed:
        supervisor.lease(echo(fail_at="prompt", fail_how="error", log=["last words"])).result(WAIT_S)
    assert failed.value.code == "engine.no_token"
    assert failed.value.values["status"] == 500
    assert "echo was told to fail" in failed.value.values["message"]
    assert "last words" in failed.value.log
    assert states(supervisor) == {"parrot": State.FAILED}


def test_a_hanging_load_that_was_given_up_does_not_stand_in_the_way(supervisor, echo):
    given_up = supervisor.lease(echo("hanger", fail_at="prompt", fail_how="hang"))
    until(lambda: states(supervisor) == {"hanger": State.LOADING})
    given_up.cancel()
    supervisor.lease(echo("parrot")).result(WAIT_S).give_back()
    assert states(supervisor) == {"parrot": State.READY}


def test_a_flood_of_log_lines_does_not_hold_up_the_load(supervisor, echo):
    log = ["x" * 5000] * 200
    supervisor.lease(echo(log=log)).result(WAIT_S).give_back()
    kept = supervisor.log("parrot")
    assert len(kept[0]) == 2000


def test_a_model_with_a_problem_is_not_given_to_an_engine(supervisor, echo):
    problem = BadFile("model.part_missing", count=2, here=1, missing=["b"])
    with pytest.raises(BadFile) as failed:
        supervisor.lease(dataclasses.replace(echo(), problem=problem)).result(WAIT_S)
    assert failed.value is problem
    assert states(supervisor) == {"parrot": State.FAILED}


def test_a_pipe_in_the_place_of_the_model_is_not_given_to_an_engine(supervisor, echo):
    model = echo()
    model.path.unlink()
    os.mkfifo(model.path)
    with pytest.raises(BadFile) as failed:
        supervisor.lease(model).result(WAIT_S)
    assert failed.value.code == "file.not_regular"


def test_no_engine_for_the_format(supervisor, echo):
    with pytest.raises(Refused) as refused:
        supervisor.lease(dataclasses.replace(echo(), format="exl9")).result(WAIT_S)
    assert refused.value.code == "engine.none_for_format"


def test_closing_ends_all_and_refuses_the_rest(echo):
    one = Supervisor(catalogue(), Defaults(cores=2), Scales(lambda: 10, lambda model, load: 1))
    one.lease(echo("one", tps=0)).result(WAIT_S)
    loading = one.lease(echo("two", load_s=60))
    until(lambda: len(one.running()) == 2)
    pids = [pid for running in one.running() if running.pid for pid in family(running.pid)]
    one.close()
    with pytest.raises(EngineFailed):
        loading.result(WAIT_S)
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_listeners_hear_of_changes_until_they_leave(supervisor, echo):
    heard = []
    leave = supervisor.subscribe(lambda: heard.append(1))
    supervisor.lease(echo(tps=0)).result(WAIT_S).give_back()
    until(lambda: supervisor.running()[0].in_flight == 0)
    leave()
    count = len(heard)
    assert count >= 3
    supervisor.stop("parrot").result(WAIT_S)
    assert len(heard) == count


def test_a_question_that_is_given_up_harms_nobody(supervisor, echo):
    held = threading.Event()
    supervisor._inbox.put(lambda: held.wait(WAIT_S))
    asked = supervisor.would_end(echo(), supervisor.default_load(echo()))
    assert asked.cancel()
    held.set()
    assert supervisor.would_end(echo(), supervisor.default_load(echo())).result(WAIT_S) == ()


def test_each_load_that_is_ready_is_told_once(echo):
    told = []
    one = Supervisor(catalogue(), Defaults(cores=2), loaded=lambda model, running: told.append((model, running)))
    try:
        model = echo()
        for _ in range(2):
            with one.lease(model).result(WAIT_S):
                pass
        one.stop(model.id).result(WAIT_S)
        with one.lease(model).result(WAIT_S):
            pass
        with pytest.raises(EngineFailed):
            one.lease(echo("broken", fail_at="load")).result(WAIT_S)
    finally:
        one.close()
    assert [(each.id, running.state) for each, running in told] == [(model.id, State.READY)] * 2


def test_each_answer_and_each_load_is_a_use(echo):
    used = []
    one = Supervisor(catalogue(), Defaults(cores=2), used=used.append)
    try:
        model = echo()
        one.load(model, one.default_load(model)).result(WAIT_S)
        for _ in range(2):
            with one.lease(model).result(WAIT_S):
                pass
        with pytest.raises(EngineFailed):
            one.lease(echo("broken", fail_at="load")).result(WAIT_S)
    finally:
        one.close()
    assert used == [model] * 3
