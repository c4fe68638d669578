from dataclasses import replace

import pytest
from tests.estimates.made_blueprints import made

from weighbridge.estimates.cache import checkpoint_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer, Shape
from weighbridge.running.prompt_room import checkpoints, prompt_cache_mib
from weighbridge_engines.api import Load

MIB = 1 << 20
GIB = 1 << 30


@pytest.mark.parametrize(
    ("memory_bytes", "mib"),
    [(None, None), (2 * GIB, 128), (16 * GIB, 512), (64 * GIB, 2048), (2048 * GIB, 8192)],
)
def test_the_room_for_prompts_goes_by_the_machine(memory_bytes, mib):
    assert prompt_cache_mib(memory_bytes) == mib


def test_a_checkpoint_holds_the_windows_and_the_states():
    shape = Shape((Layer(8, 1024, 1024), Layer(8, 1024, 1024, window=512), Layer(conv=100, state=1000)))
    window = 512 * 2048 * 2
    assert checkpoint_bytes(shape, Plan(slots=2)) == window + 1100 * 4
    assert checkpoint_bytes(shape, Plan(whole_window=True)) == 1100 * 4
    assert checkpoint_bytes(Shape((Layer(8, 1024, 1024),)), Plan()) == 0


def windowed(window_mib):
    """A blueprint whose checkpoint takes so many MiB."""
    layer = Layer(8, 512, 512, window=512)
    return replace(made(), shape=Shape((layer,) * window_mib))


@pytest.mark.parametrize(
    ("window_mib", "room_mib", "slots", "count"),
    [(1, 512, 1, 32), (16, 512, 1, 32), (64, 512, 1, 8), (64, 512, 2, 4), (436, 512, 4, 1), (600, 128, 1, 1)],
)
def test_checkpoints_take_no_more_than_the_room(window_mib, room_mib, slots, count):
    load = Load("m", context=8192, slots=slots, prompt_cache_mib=room_mib)
    assert checkpoints(windowed(window_mib), load, "llama_server") == count


def test_checkpoints_are_left_to_the_engine_where_there_is_nothing_to_say():
    load = Load("m", prompt_cache_mib=512)
    assert checkpoints(None, load, "llama_server") is None
    assert checkpoints(made(), load, "llama_server") is None
    assert checkpoints(windowed(1), Load("m"), "llama_server") is None
    assert checkpoints(windowed(1), replace(load, task="embedding"), "llama_server") is None
