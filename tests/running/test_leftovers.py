"""What an owner that is gone left behind."""

import os
import subprocess
import sys

import psutil
import pytest

from weighbridge.running.leftovers import MARK_VARIABLE, end_leftovers, marked

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; print('up', flush=True); time.sleep(600)"]


@pytest.fixture
def start():
    """Starts a program with a mark, or without."""
    started = []

    def start(mark):
        one = subprocess.Popen(SLEEP, env=marked(os.environ, mark), stdout=subprocess.PIPE)
        started.append(one)
        assert one.stdout.readline()
        return one

    yield start
    for one in started:
        one.kill()
        one.communicate()


def test_an_environment_bears_the_mark_of_who_holds_the_lock_and_of_nobody_else():
    assert marked({"A": "b"}, "7:8") == {"A": "b", MARK_VARIABLE: "7:8"}
    assert marked({"A": "b", MARK_VARIABLE: "1:2"}, None) == {"A": "b"}


def test_only_what_bears_the_mark_is_ended(start):
    mine, others, unmarked = start("mine"), start("others"), start(None)
    end_leftovers("mine")
    assert not psutil.pid_exists(mine.pid)
    assert (others.poll(), unmarked.poll()) == (None, None)


def test_without_a_lock_nothing_is_ended(start):
    others = start("others")
    end_leftovers(None)
    assert others.poll() is None


def test_who_bears_the_mark_itself_lives_on():
    code = "from weighbridge.running.leftovers import end_leftovers; end_leftovers('mine'); print('alive')"
    done = subprocess.check_output([sys.executable, "-c", code], env=marked(os.environ, "mine"), text=True)
    assert done == "alive\n"
