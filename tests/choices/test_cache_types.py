"""The types of a KV cache by the names that each engine has for them: none keeps a load from being weighed."""

from dataclasses import replace

import pytest
from tests.choices.made_speeds import TABLES
from tests.choices.made_surroundings import RTX, around
from tests.library.made_folders import put_exl2, put_exl3, put_mlx, put_plain

from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import weigh
from weighbridge.choices.speeds import Speedometer
from weighbridge.estimates.plan import element_bytes
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.load_settings import with_value
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

NOT_TOLD = {
    "turbo_quant",
    "turboquant_k8v4",
    "turboquant_4bit_nc",
    "turboquant_k3v4_nc",
    "turboquant_3bit_nc",
}
"""What an element of these takes is nowhere told in a figure."""

FOLDERS = {
    "mlx": put_mlx,
    "exllamav2": put_exl2,
    "exllamav3": lambda folder: put_exl3(folder, 4.0),
    "vllm": put_plain,
    "sglang": put_plain,
    "lmdeploy": put_plain,
    "aphrodite": put_plain,
}


@pytest.mark.parametrize("engine_id", FOLDERS)
def test_each_type_of_an_engines_cache_is_weighed_and_timed_or_is_not_known(tmp_path, engine_id):
    engine = replace(catalogue()[engine_id], missing=lambda: None)
    FOLDERS[engine_id](tmp_path)
    one, surroundings = recognise_path(tmp_path), around(RTX, engines=(engine,))
    blueprint, load = Blueprints().of(one), Load(str(tmp_path), context=4096)
    types = next(control for control in engine.controls if control.name == "key_type")
    for kind in types.choices:
        choice = weigh(one, blueprint, with_value(load, types, kind), surroundings, engine_id=engine_id)
        assert (choice.fit is None) is (kind in NOT_TOLD), kind
        Speedometer(surroundings, TABLES, ()).of(choice)


@pytest.mark.parametrize(
    ("kind", "bytes_told"),
    [
        ("f16", 2.0),
        ("auto", 2.0),
        ("q8_0", 34 / 32),
        ("q8", 8.5 / 8),
        ("q6", 6.5 / 8),
        ("q2_0", 2.5 / 8),
        ("fp8_e4m3", 1.0),
        ("nvfp4", 0.5625),
        ("turbo_quant", None),
        ("q9", None),
    ],
)
def test_what_an_element_takes(kind, bytes_told):
    assert element_bytes(kind) == bytes_told
