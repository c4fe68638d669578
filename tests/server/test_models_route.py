from weighbridge.running.state import Running, State
from weighbridge.server.models_route import current
from weighbridge_engines.api import Load


def engine(name, state, since_s=0.0):
    return Running(name, name, "echo", state, Load(name), since_s=since_s)


def test_nothing_is_current_where_nothing_runs():
    assert current(()) is None
    assert current((engine("a", State.FAILED), engine("b", State.STOPPING), engine("c", State.STOPPED))) is None


def test_ready_comes_before_loading_and_the_latest_first():
    assert current((engine("a", State.LOADING, 9.0), engine("b", State.READY, 1.0))) == "b"
    assert current((engine("a", State.READY, 1.0), engine("b", State.READY, 2.0))) == "b"
    assert current((engine("a", State.LOADING),)) == "a"
