"""The launcher as a program: what it ends, when, and what it says of it."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tests.processes import running

from weighbridge.running import launcher

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; print('up', flush=True); time.sleep(600)"]
DEAF = [
    sys.executable,
    "-I",
    "-S",
    "-c",
    "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
]
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", {launcher!r}, "1", *{command!r}], stdin=subprocess.PIPE)
print(child.pid, flush=True)
time.sleep(600)
"""


def start(command, grace_s=1.0):
    return subprocess.Popen(
        [sys.executable, "-I", "-S", launcher.__file__, str(grace_s), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=10)
    return process.returncode, out, err


def gone(pid):
    end = time.monotonic() + 5
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize(("code", "status"), [("pass", 0), ("raise SystemExit(7)", 7)])
def test_the_programs_own_status(code, status):
    with start([sys.executable, "-I", "-S", "-c", code]) as process:
        process.wait(10)
        assert process.returncode == status


def test_a_signal_is_told_as_128_and_its_number():
    with start(
        [sys.executable, "-I", "-S", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"]
    ) as process:
        process.wait(10)
        assert process.returncode == 128 + signal.SIGABRT


@pytest.mark.parametrize(
    ("inherited", "frozen", "left"),
    [
        (
            {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/theirs", "A": "a"},
            True,
            {"LD_LIBRARY_PATH": "/theirs", "A": "a"},
        ),
        ({"LD_LIBRARY_PATH": "/bundle", "A": "a"}, True, {"A": "a"}),
        ({"LD_LIBRARY_PATH": "/mine", "A": "a"}, False, {"LD_LIBRARY_PATH": "/mine", "A": "a"}),
    ],
)
def test_a_program_is_not_pointed_at_the_libraries_of_a_frozen_launcher(inherited, frozen, left):
    assert launcher.without_bundle(inherited, frozen) == left


def test_a_program_that_is_not_there():
    status, _, err = finish(start(["/no/such/program"]))
    assert status == launcher.CANNOT_START
    assert "/no/such/program" in err


@pytest.mark.parametrize("command", [SLEEP, DEAF], ids=["polite", "deaf"])
def test_the_end_of_the_pipe_ends_the_program(command):
    process = start(command, grace_s=0.2)
    assert process.stdout.readline() == "up\n"
    [program] = [child.pid for child in psutil.Process(process.pid).children()]
    status, _, _ = finish(process)
    assert status in (128 + signal.SIGTERM, 128 + signal.SIGKILL)
    assert gone(program)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the subreaper flag and the death signal of Linux")
@pytest.mark.parametrize("victim", ["parent", "launcher"])
def test_a_kill_of_parent_or_launcher_leaves_nothing(victim):
    script = PARENT.format(launcher=launcher.__file__, command=SLEEP)
    with running([sys.executable, "-c", script]) as parent:
        between = int(parent.stdout.readline())
        assert parent.stdout.readline() == "up\n"
        [program] = [child.pid for child in psutil.Process(between).children()]
        os.kill(parent.pid if victim == "parent" else between, signal.SIGKILL)
        assert gone(program)
    assert gone(between)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the subreaper flag of Linux")
def test_what_left_the_group_is_ended_too():
    code = (
        "import subprocess, sys;"
        "sleep = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'];"
        "print(subprocess.Popen(sleep, start_new_session=True).pid, flush=True)"
    )
    process = start([sys.executable, "-I", "-S", "-c", code])
    runaway = int(process.stdout.readline())
    assert process.wait(10) == 0
    finish(process)
    assert gone(runaway)


class Kernel:
    """Stands for kernel32: takes functions' names as attributes, as ctypes does, and records the calls."""

    class Function:
        def __init__(self, name, answer, calls):
            self.name, self.answer, self.calls = name, answer, calls
            self.restype = None

        def __call__(self, *arguments):
            self.calls.append((self.name, *arguments))
            return self.answer

    def __init__(self, **answers):
        self.calls = []
        given = {
            "CreateJobObjectW": 77,
            "GetCurrentProcess": (1 << 64) - 1,
            "SetInformationJobObject": 1,
            "AssignProcessToJobObject": 1,
        }
        for name, answer in {**given, **answers}.items():
            setattr(self, name, self.Function(name, answer, self.calls))


def test_on_windows_the_launcher_puts_itself_into_a_job_that_ends_with_it():
    kernel = Kernel()
    launcher.contain(kernel)
    create, limit, current, assign = kernel.calls
    assert create == ("CreateJobObjectW", None, None)
    assert (limit[0], limit[1].value, limit[2]) == ("SetInformationJobObject", 77, 9)
    limits = limit[3]._obj
    assert limits.BasicLimitInformation.LimitFlags == 0x2000
    assert limit[4] == ctypes.sizeof(limits) == 144
    assert current == ("GetCurrentProcess",)
    # The whole 64 bits of the handle arrive: cut to an int it would name another process.
    assert (assign[1].value, assign[2].value) == (77, (1 << 64) - 1)


@pytest.mark.parametrize("failing", ["CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject"])
def test_on_windows_a_refused_job_is_an_error(failing):
    with pytest.raises(OSError, match="job object"):
        launcher.contain(Kernel(**{failing: 0}))
