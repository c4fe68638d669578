"""What every test gets: a home of its own, and a failure for leftover threads, running timers and unexpected log
records.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import re
import shutil
import threading
import time
import weakref

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each program that a test starts compiles its modules anew

_PATIENCE_S = 2.0
_PLACES = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE", "LMSTUDIO_HOME", "OLLAMA_MODELS")
"""By these other programs are told where to keep models."""
_NUMBERS = itertools.count()
"""Of the folders of tests."""


@pytest.fixture
def tmp_path(request, tmp_path_factory):
    """A folder of its own, named by a count. pytest's own looks through all folders there are for a name that is free:
    in the midst of ten thousand tests that took 6 ms for each.
    """
    name = re.sub(r"\W", "_", request.node.name)[:25]
    place = tmp_path_factory.getbasetemp() / f"{next(_NUMBERS)}_{name}"
    place.mkdir(0o700)
    return place


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once():
    """Those of the system: 20 ms for each client, of which a test of the Hub makes several."""
    import httpcore2

    read, kept = httpcore2.default_ssl_context, {}

    def once(*, _trust_env=True):
        key = _trust_env, *(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        if key not in kept:
            kept[key] = read(_trust_env=_trust_env)
        return kept[key]

    httpcore2.default_ssl_context = once
    yield
    httpcore2.default_ssl_context = read


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of its own for data, settings and models, and no trace of the user's language and other programs."""
    place = tmp_path / "home"
    monkeypatch.setenv("WEIGHBRIDGE_HOME", str(place))
    monkeypatch.delenv("WEIGHBRIDGE_MODELS", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("USERPROFILE" if os.name == "nt" else "HOME", str(tmp_path / "user"))
    for name in _PLACES:
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture(autouse=True)
def no_thread_left():
    """Each thread that a test starts ends with it, at most two seconds later."""
    before = set(threading.enumerate())
    yield
    until = time.monotonic() + _PATIENCE_S
    left = _threads_since(before)
    while left and time.monotonic() < until:
        left[0].join(0.05)
        left = _threads_since(before)
    assert not left, f"threads left over: {[thread.name for thread in left]}"


def _threads_since(before):
    return [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]


class _Records(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.seen = []

    def emit(self, record):
        self.seen.append(f"{record.name} {record.levelname}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_unexpected_log(request):
    """A record at WARNING or above fails the test, unless the test asks for `caplog` and looks at it."""
    records = _Records()
    logging.getLogger().addHandler(records)
    yield
    logging.getLogger().removeHandler(records)
    if "caplog" not in request.fixturenames:
        assert not records.seen, f"unexpected log records: {records.seen}"


@pytest.fixture(autouse=True)
def no_timer_left(request, monkeypatch):
    """A QTimer that a test of the window starts is stopped, or gone, at its end."""
    if not {"qtbot", "qapp"} & set(request.fixturenames):
        yield
        return
    from PySide6.QtCore import QTimer
    from shiboken6 import isValid

    started = weakref.WeakSet()
    original = QTimer.start

    def start(self, *args):
        started.add(self)
        original(self, *args)

    monkeypatch.setattr(QTimer, "start", start)
    yield
    left = [timer for timer in started if isValid(timer) and timer.isActive() and not timer.isSingleShot()]
    assert not left, f"timers left running: {[timer.objectName() or timer.parent() for timer in left]}"


@pytest.fixture(scope="session")
def smollm2():
    """The file of a real model."""
    from tests.model import starter_model

    return starter_model()


@pytest.fixture(scope="session")
def told_devices(tmp_path_factory):
    """What the engines that are installed see, as a first start remembers it."""
    from weighbridge.hardware.detect import detect
    from weighbridge.running.devices import FILE, EngineDevices
    from weighbridge_engines.catalogue import catalogue

    data = tmp_path_factory.mktemp("told")
    EngineDevices(catalogue(), data).told(detect())
    return data / FILE


@pytest.fixture
def known_devices(home, told_devices):
    """The engines were asked what they see before: asking all of them takes more than a second."""
    data = home / "data"
    data.mkdir(parents=True, exist_ok=True)
    shutil.copy(told_devices, data)


@pytest.fixture(autouse=True)
def garbage_on_the_main_thread(request):
    """As in the window: a widget in a cycle must not be destroyed by whatever thread happens to allocate.

    All widgets go with their test, those too that wait to be deleted, and a page that its window had not taken in yet.
    What stood on would be dressed anew with each window after it.
    """
    if not {"qtbot", "qapp"} & set(request.fixturenames):
        yield
        return
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    gc.disable()
    yield
    for widget in QApplication.topLevelWidgets():
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect(0)
    gc.enable()
