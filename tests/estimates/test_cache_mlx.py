"""The caches of MLX, against what mlx-lm allocates for small models of many types (`tests/mlx_caches.py`)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.estimates.cache_mlx import mlx_kv_bytes, mlx_state_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.shape_config import shape_of_config
from weighbridge.formats.architectures import Kind
from weighbridge.formats.configs import config_info

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "mlx_caches.json").read_text())
PLAN = Plan(engine="mlx", context=4096, batch=2048)


def caches(shape, tokens, step, *, chunked):
    plan = replace(PLAN, context=tokens, batch=step)
    kept = {"ArraysCache": sum(map(mlx_state_bytes, shape.layers)), "KVCache": 0}
    kept[windowed := "ChunkedKVCache" if chunked else "RotatingKVCache"] = 0
    for layer in shape.layers:
        kept["KVCache" if layer.window is None else windowed] += mlx_kv_bytes(layer, plan, chunked=chunked)
    return {name: size for name, size in kept.items() if size}


@pytest.mark.parametrize("name", TRUTH)
def test_caches_are_what_mlx_allocates(name):
    shape = shape_of_config(config_info(TRUTH[name]["config"], "mlx", Kind.CHAT, None, guessed=False))
    assert shape.certainty is Certainty.KNOWN
    for run in TRUTH[name]["runs"]:
        found = caches(shape, run["tokens"], run["step"], chunked=name == "llama4")
        assert found == run["bytes"], (name, run["tokens"])
