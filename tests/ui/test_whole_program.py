"""The whole program on a real engine and model: window, library, load, chat, stop, end."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import httpx2
import psutil
import pytest

from weighbridge.base.paths import default_paths
from weighbridge.chat.client import Sampling
from weighbridge.running.readiness import free_port
from weighbridge.running.state import State
from weighbridge.ui.chat.options import Options
from weighbridge.ui.program import Program
from weighbridge_engines.catalogue import catalogue

WAIT_MS = 60_000
WAIT_S = 60
MODEL = "SmolLM2-135M-Instruct.Q4_1"
pytestmark = pytest.mark.engine


@pytest.fixture
def program(qapp, smollm2, monkeypatch):
    monkeypatch.setenv("WEIGHBRIDGE_MODELS", str(smollm2.parent))
    hook = sys.excepthook
    one = Program(qapp, default_paths(), catalogue)
    yield one
    one.close()
    sys.excepthook = hook


def test_load_ask_stop_half_way_and_close(qtbot, program):
    window = program.window
    qtbot.addWidget(window)
    program.open()
    qtbot.waitUntil(lambda: program.services is not None and bool(program.services.library.models), timeout=WAIT_MS)
    page = window.pages["chat"]
    window.show_page("chat")
    program.bus.chat_wanted.emit(MODEL)
    # The same short answer each time: left to chance, this model now and then talks until its context is full.
    page.options.show_options(Options(sampling=Sampling(temperature=0.0)))

    page.send("Say hello to the harbour master in one sentence.")
    qtbot.waitUntil(lambda: page.dialogue.path and page.dialogue.answer is None, timeout=WAIT_MS)
    question, answer = page.dialogue.path
    assert question.text.startswith("Say hello")
    assert answer.text.strip()
    assert answer.state == "complete"
    assert answer.figures["decode_tps"] > 0
    assert page.column.items[-1].raw == answer.text
    [running] = program.services.supervisor.running()
    assert (running.state, running.model_id) == (State.READY, MODEL)

    page.send("Write a very long story about the sea, with many chapters.")
    qtbot.waitUntil(lambda: len(page.dialogue.path[-1].text) > 40, timeout=WAIT_MS)
    page.stop()
    qtbot.waitUntil(lambda: page.dialogue.answer is None, timeout=WAIT_MS)
    stopped = page.dialogue.path[-1]
    assert stopped.state == "stopped"
    assert len(stopped.text) > 40

    children = psutil.Process().children(recursive=True)
    assert len(children) >= 2  # launcher and engine; a probe of the machine may run beside them
    window.close()
    assert not any(child.is_running() for child in children)


def test_a_killed_window_leaves_no_engine(smollm2, home, known_devices):
    port = free_port()
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text(f"port_on = true\nport = {port}\n")
    environment = {**os.environ, "WEIGHBRIDGE_MODELS": str(smollm2.parent), "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen([sys.executable, "-m", "weighbridge"], env=environment, stderr=subprocess.PIPE) as window:
        try:
            _begin_an_answer(f"http://127.0.0.1:{port}")
            children = psutil.Process(window.pid).children(recursive=True)
            assert len(children) >= 2  # launcher and engine; a probe of the machine may run beside them
        finally:
            os.kill(window.pid, signal.SIGKILL)
        _, left = psutil.wait_procs(children, timeout=5)
        assert left == []


def _begin_an_answer(url):
    """Wait for the port, then stay in the middle of an answer."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            listed = httpx2.get(f"{url}/v1/models", trust_env=False).json()["data"]
            assert [model["id"] for model in listed] == [MODEL]
            break
        except (httpx2.TransportError, AssertionError):
            assert time.monotonic() < end, "the port did not open"
            time.sleep(0.05)
    body = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "Count to a thousand."}]}
    with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body, trust_env=False, timeout=WAIT_S) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: ") and json.loads(line[6:])["choices"][0]["delta"].get("content"):
                return


def test_a_context_that_will_not_fit_is_asked_about_and_a_smaller_one_loads(known_devices, qtbot, program, monkeypatch):
    window = program.window
    qtbot.addWidget(window)
    program.open()
    qtbot.waitUntil(lambda: program.services is not None and bool(program.services.library.models), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: program.services.weighing.here() is not None, timeout=WAIT_MS)
    around = program.services.weighing.here()
    little = replace(around.machine, memory=replace(around.machine.memory, available_bytes=1 << 29))
    monkeypatch.setattr(program.services.weighing, "here", lambda: replace(around, machine=little))
    page, impossible = window.pages["chat"], 1_000_000
    window.show_page("chat")
    program.bus.chat_wanted.emit(MODEL)
    page.options.show_options(Options(context=impossible))
    page.send("Say hello.")
    qtbot.waitUntil(lambda: window.unmet is not None and window.unmet.isVisible(), timeout=WAIT_MS)
    supervisor = program.services.supervisor
    assert not supervisor.running()
    next(one for one in window.unmet.fixes if one.text().startswith("Load: A context of")).click()
    qtbot.waitUntil(lambda: [one.state for one in supervisor.running()] == [State.READY], timeout=WAIT_MS)
    assert 256 <= supervisor.running()[0].load.context == page.options.options.context < impossible
    page.stop()
    qtbot.waitUntil(lambda: page.dialogue.answer is None, timeout=WAIT_MS)
