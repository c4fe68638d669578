"""The worker as a child that must not outlive who asked it."""

import json
import os
import signal
import sys
from dataclasses import replace

import psutil
import pytest
from tests.processes import running

from weighbridge_engines import worker
from weighbridge_engines.api import Cause, Unsupported
from weighbridge_engines.catalogue import catalogue

ASKING = """
import subprocess, sys, time
argv = [sys.executable, "-m", "weighbridge_engines.worker", "llama_server", "--devices"]
print(subprocess.Popen(argv).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_a_question_that_hangs_ends_with_who_asked(tmp_path):
    (tmp_path / "xllamacpp.py").write_text("print('up', flush=True)\nimport time\ntime.sleep(600)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with running([sys.executable, "-c", ASKING], env=environment) as asking:
        hanging = psutil.Process(int(asking.stdout.readline()))
        assert asking.stdout.readline() == "up\n"
        os.kill(asking.pid, signal.SIGKILL)
        asking.wait(5)
        _, alive = psutil.wait_procs([hanging], timeout=20)
        if alive:
            hanging.kill()
    assert alive == []


def test_an_engine_that_can_use_nothing_says_why(monkeypatch, capsys):
    def refuse():
        raise Unsupported(Cause("exl.no_card", {"torch": "2.13.0"}))

    engine = replace(catalogue()["echo"], devices=refuse)
    monkeypatch.setattr(worker, "engine_called", lambda engine_id: engine)
    monkeypatch.setattr(worker.threading, "Thread", lambda **_: Quiet())
    assert worker.main(["echo", "--devices"]) == 0
    assert json.loads(capsys.readouterr().out) == {"problem": {"code": "exl.no_card", "values": {"torch": "2.13.0"}}}


class Quiet:
    """In the place of the thread that looks after the parent for as long as the process lives."""

    def start(self):
        """Nothing looks."""
