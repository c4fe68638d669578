"""The worker as a child that must not outlive who asked it."""

import os
import signal
import sys

import psutil
import pytest
from tests.processes import running

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
