"""What the supervisor weighs with."""

from dataclasses import replace

from tests.choices.made_surroundings import NOT_HERE, engine, model
from tests.estimates.made_blueprints import GIB, made
from tests.estimates.made_folders import QWEN3_4B, folder
from tests.running.test_places import running

from weighbridge.estimates.beside import Beside
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.shape import Certainty, Shape
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running import scales
from weighbridge.running.scales import available_bytes, machine_scales, need_bytes, no_scales
from weighbridge_engines.api import Load

LOAD = Load("m", context=4096)
HOST_PLACE = Place(HOST, "", PlaceKind.HOST)


def memory_of(monkeypatch, total, free):
    monkeypatch.setattr(scales, "detect_memory", lambda: Memory(MemoryKind.SHARED, total, free))


def test_free_memory_less_the_margin(monkeypatch):
    memory_of(monkeypatch, 16 * GIB, 10 * GIB)
    assert available_bytes() == 9 * GIB
    memory_of(monkeypatch, 100 * GIB, 50 * GIB)
    assert available_bytes() == 45 * GIB
    memory_of(monkeypatch, 16 * GIB, GIB // 2)
    assert available_bytes() == 0
    memory_of(monkeypatch, None, None)
    assert available_bytes() is None


def test_the_need_is_that_of_the_one_estimator_in_system_memory():
    assert need_bytes(made(), LOAD, "llama_server", HOST_PLACE) > 12 * GIB + 4096 * 10 * 4096
    longer = need_bytes(made(), replace(LOAD, context=8192), "llama_server", HOST_PLACE)
    assert longer - need_bytes(made(), LOAD, "llama_server", HOST_PLACE) == 4096 * 10 * 4096 + 4096 * 512 * 2
    assert need_bytes(made(), replace(LOAD, gpu_layers=5), "llama_server", HOST_PLACE) == need_bytes(
        made(), LOAD, "llama_server", HOST_PLACE
    )


def test_what_is_not_known_is_none():
    assert need_bytes(None, LOAD, "llama_server", HOST_PLACE) is None
    assert need_bytes(replace(made(), shape=Shape((), Certainty.UNKNOWN)), LOAD, "llama_server", HOST_PLACE) is None
    assert no_scales().available_bytes() is None
    assert no_scales().need_bytes(running(1), LOAD) is None


def scales_for(*engines, digest):
    return machine_scales(lambda model: digest if model.id == "m" else None, {one.id: one for one in engines})


def test_both_are_asked_anew_at_each_decision(monkeypatch):
    both = scales_for(engine(), digest=made())
    assert both.need_bytes(model(), LOAD) == need_bytes(made(), LOAD, "llama_server", HOST_PLACE)
    assert both.need_bytes(model(id="other"), LOAD) is None
    memory_of(monkeypatch, 16 * GIB, 10 * GIB)
    assert both.available_bytes() == 9 * GIB
    memory_of(monkeypatch, 16 * GIB, 5 * GIB)
    assert both.available_bytes() == 4 * GIB


def test_what_a_load_names_beside_the_model_is_weighed_with_it():
    beside = Beside(projector_bytes=1000, adapter_bytes=50)
    both = machine_scales(lambda model: made(), {"llama_server": engine()}, lambda load: beside)
    alone = need_bytes(made(), LOAD, "llama_server", HOST_PLACE)
    assert both.need_bytes(model(), LOAD) == alone + 1400 + 50
    assert need_bytes(made(), LOAD, "llama_server", HOST_PLACE, Beside()) == alone


def test_each_model_is_weighed_by_the_engine_that_would_run_it():
    digest = replace(folder(QWEN3_4B, "mlx"), widths=Widths(2560, 151936, 9728, 32, 128))
    mlx = engine("mlx", formats=("mlx",))
    told = scales_for(engine(), mlx, digest=digest).need_bytes(model("mlx"), LOAD)
    assert told == need_bytes(digest, LOAD, "mlx", HOST_PLACE)
    step = need_bytes(digest, replace(LOAD, batch=512), "mlx", HOST_PLACE)
    assert told - step == (2048 - 512) * 2 * (18 * 2560 + 2 * 9728 + 32 * 4096)  # mlx-lm's step, not llama.cpp's batch


def test_nobody_goes_for_what_no_engine_here_runs():
    assert scales_for(engine(), digest=made()).need_bytes(model("exl3"), LOAD) == 0
    assert scales_for(engine(missing=NOT_HERE), digest=made()).need_bytes(model(), LOAD) == 0


def test_an_embedding_that_is_reordered_as_the_output_is_held_twice():
    tied = replace(made().weights, tied=True, embedding_bytes=GIB, embedding_type="Q4_K")
    once = need_bytes(replace(made(), weights=tied), LOAD, "llama_server", HOST_PLACE)
    twice = need_bytes(
        replace(made(), weights=tied),
        LOAD,
        "llama_server",
        replace(HOST_PLACE, reordered=frozenset({"Q4_K", "IQ4_NL"})),
    )
    assert twice - once == GIB
