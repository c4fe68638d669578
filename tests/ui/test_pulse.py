"""Many pokes from many threads, few beats in the GUI thread."""

import threading

from PySide6.QtCore import QThread

from weighbridge.ui.pulse import Pulse


def test_many_pokes_are_few_beats_and_the_last_one_is_heard(qtbot, qapp):
    pulse = Pulse(pace_ms=50)
    seen, state = [], []
    pulse.beat.connect(lambda: seen.append((len(state), QThread.currentThread() is qapp.thread())))

    def work():
        for number in range(500):
            state.append(number)
            pulse.poke(number)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    qtbot.waitUntil(lambda: bool(seen) and seen[-1][0] == 1000)
    assert all(in_gui for _, in_gui in seen)
    assert len(seen) <= 3
    pulse.stop()


def test_without_pokes_nothing_runs(qtbot):
    pulse = Pulse(pace_ms=1)
    with qtbot.waitSignal(pulse.beat):
        pulse.poke()
    qtbot.waitUntil(lambda: not pulse._rest.isActive())
    with qtbot.assertNotEmitted(pulse.beat, wait=20):
        pass


def test_after_stop_there_is_no_beat(qtbot):
    pulse = Pulse(pace_ms=1)
    pulse.poke()
    pulse.stop()
    with qtbot.assertNotEmitted(pulse.beat, wait=20):
        pulse.poke()
