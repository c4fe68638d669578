"""Ends that nothing may hold up: suspended processes, faults of an engine's own code, and those who ask too late."""

import dataclasses
import os
import signal
import threading
import time

import psutil
import pytest
from tests.running.test_supervisor import WAIT_S, family, states, until

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.running import child
from weighbridge.running.choose import Defaults
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.echo import ENGINE

ENOUGH_S = 10
"""Far more than an end takes here, and far less than what holds it up."""


@pytest.fixture
def hurry(monkeypatch):
    monkeypatch.setattr(child, "GRACE_S", 0.3)
    monkeypatch.setattr(child, "INSIST_S", 0.3)


@pytest.fixture
def owner():
    """Makes a supervisor over echo, changed as told; closed at the end of the test."""
    made = []

    def make(**changes):
        made.append(Supervisor({"echo": dataclasses.replace(ENGINE, **changes)}, Defaults(cores=2)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def closes_and_leaves(supervisor, pids):
    """Close, in a thread so that a test can fail instead of waiting for ever."""
    closing = threading.Thread(target=supervisor.close)
    closing.start()
    closing.join(ENOUGH_S)
    held_up = closing.is_alive()
    for pid in pids:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGCONT)
    assert not held_up
    until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


@pytest.mark.parametrize("suspended", ["launcher", "engine", "both"])
def test_what_is_suspended_does_not_hold_up_the_end(hurry, owner, echo, suspended):
    one = owner()
    one.lease(echo(tps=0, grandchildren=1)).result(WAIT_S)
    launcher = one.running()[0].pid
    below = family(launcher)
    assert len(below) == 2
    for pid in {"launcher": [launcher], "engine": below, "both": [launcher, *below]}[suspended]:
        os.kill(pid, signal.SIGSTOP)
    closes_and_leaves(one, [launcher, *below])


def test_a_suspended_launcher_of_an_engine_that_hangs_at_its_first_token_does_not_hold_up_the_end(hurry, owner, echo):
    one = owner()
    one.lease(echo(fail_at="prompt", fail_how="hang", log=["up"]))
    until(lambda: "up" in one.log("parrot"))
    until(lambda: one.running()[0].pid is not None and family(one.running()[0].pid))
    launcher = one.running()[0].pid
    below = family(launcher)
    time.sleep(0.5)  # by now its first token is waited for, for up to ten minutes
    os.kill(launcher, signal.SIGSTOP)
    closes_and_leaves(one, [launcher, *below])


def test_a_stop_that_is_given_up_harms_nobody(owner, echo):
    one = owner()
    one.lease(echo(tps=0)).result(WAIT_S).give_back()
    held = threading.Event()
    one._inbox.put(lambda: held.wait(WAIT_S))
    given_up = [one.stop("parrot"), one.stop("nothing")]
    kept = one.stop("parrot")
    assert all(future.cancel() for future in given_up)
    held.set()
    assert kept.result(WAIT_S) is None
    assert one.running() == ()
    assert one.stop("parrot").result(WAIT_S) is None


def test_a_stop_that_is_given_up_while_the_engine_ends_harms_nobody(owner, echo):
    one = owner()
    one.lease(echo(tps=0, ignore_sigterm=True)).result(WAIT_S).give_back()
    given_up, kept = one.stop("parrot"), one.stop("parrot")
    until(lambda: states(one) == {"parrot": State.STOPPING})
    assert given_up.cancel()
    assert kept.result(WAIT_S) is None


def test_who_asks_after_the_end_is_told(owner, echo):
    one = owner()
    held = one.lease(echo(tps=0)).result(WAIT_S)
    one.close()
    for future in (one.lease(echo()), one.load(echo(), Load(model=str(echo().path)))):
        with pytest.raises(EngineFailed) as failed:
            future.result(WAIT_S)
        assert failed.value.code == "engine.stopped"
    assert one.stop("parrot").result(WAIT_S) is None
    assert one.would_end(echo(), one.default_load(echo())).result(WAIT_S) == ()
    held.give_back()
    one.close()


def broken(*_):
    raise LookupError("a fault of the engine's own code")


@pytest.mark.parametrize("part", ["missing", "report", "diagnose"])
def test_a_fault_of_an_engines_own_code_is_an_error_and_leaves_nothing(owner, echo, caplog, part):
    one = owner(**{part: broken})
    with pytest.raises(WeighbridgeError) as failed:
        one.lease(echo(fail_at="load", log=["up"])).result(WAIT_S)
    assert (failed.value.code, failed.value.values) == ("internal", {"kind": "LookupError"})
    assert "a fault of the engine's own code" in caplog.text
    until(lambda: not psutil.Process().children())
    assert all(state is State.FAILED for state in states(one).values())
