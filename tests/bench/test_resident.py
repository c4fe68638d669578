"""What the processes below a launcher hold."""

import subprocess
import sys

import pytest

from weighbridge.bench.resident import held_by
from weighbridge.bench.result import Held

CHILD = "import sys; held = bytearray(64 << 20); del held; print('ready', flush=True); sys.stdin.read()"
LAUNCHER = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


@pytest.fixture
def launcher():
    """A process with one below it, which held 64 MiB for a moment."""
    process = subprocess.Popen([sys.executable, "-c", LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"ready"
    yield process.pid
    process.communicate()


def test_the_most_that_was_ever_held_is_known_where_the_system_counts_it(launcher):
    held = held_by(launcher)
    assert held.resident_bytes > 1 << 20
    if sys.platform in ("linux", "win32"):
        assert held.peak_bytes > held.resident_bytes + (48 << 20)
    else:
        assert held.peak_bytes is None
    assert held.swapped_bytes is None or held.swapped_bytes >= 0


def test_of_what_is_gone_nothing_is_known():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert held_by(process.pid) == Held()
    assert held_by(None) == Held()
