"""SIGTERM and SIGINT as something to wait for."""

import signal
import threading

import pytest

from weighbridge.base.stop_signals import STOPPING, StopSignals

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="sends a signal to one thread")


@pytest.fixture
def signals():
    with StopSignals() as signals:
        yield signals


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_that_the_kernel_hands_to_another_thread_wakes_who_waits(signals, number):
    def ask():
        asked.wait(0.1)  # by then the main thread waits
        signal.pthread_kill(threading.get_ident(), number)
        asked.wait(30)  # and this one runs nothing of Python's for it

    asked = threading.Event()
    thread = threading.Thread(target=ask)
    thread.start()
    assert signals.wait(20)
    assert signals.wait()
    asked.set()
    thread.join()


def test_waiting_ends_with_its_time(signals):
    assert not signals.wait(0.01)
    assert not signals.came()


def test_each_signal_is_seen_once_by_who_looks(signals):
    signal.raise_signal(signal.SIGTERM)
    assert signals.came()
    assert not signals.came()
    signal.raise_signal(signal.SIGTERM)
    assert signals.came()


def test_closing_puts_the_old_handlers_back():
    before = [signal.getsignal(number) for number in STOPPING]
    StopSignals().close()
    assert [signal.getsignal(number) for number in STOPPING] == before
