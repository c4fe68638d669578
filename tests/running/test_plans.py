"""What an engine makes of a load: everything that was left to it decided."""

import pytest

from weighbridge.estimates.plan import Plan
from weighbridge.running.plans import CONTEXT, plan_of
from weighbridge_engines.api import Load
from weighbridge_engines.llama_cpp_parameters import OUTPUTS


def test_what_is_left_to_the_engine_is_decided():
    assert plan_of(Load("m"), "llama_server") == Plan(
        engine="llama_server", context=CONTEXT, batch=512, micro_batch=512, unified=False
    )


@pytest.mark.parametrize(
    ("engine", "batch"),
    [
        ("llama_server", 512),
        ("llama_cpp", 512),
        ("mlx", 2048),
        ("exllamav2", 2048),
        ("exllamav3", 2048),
        ("onnx_genai", 1024),
        ("openvino", 1024),
    ],
)
def test_a_batch_is_as_large_as_each_engine_makes_it(engine, batch):
    plan = plan_of(Load("m", context=8192), engine)
    assert (plan.batch, plan.micro_batch, plan.batch_tokens) == (batch, batch, batch)


@pytest.mark.parametrize(
    ("engine", "extra", "device", "layers"),
    [
        ("openvino", {}, "", None),
        ("openvino", {"device": "GPU.1"}, "GPU.1", None),
        ("openvino", {"device": "CPU"}, "CPU", 0),
        ("onnx_genai", {}, "", 0),
        ("onnx_genai", {"provider": "directml"}, "dml", None),
        ("onnx_genai", {"provider": "cpu"}, "cpu", 0),
        ("llama_server", {}, "", None),
    ],
)
def test_on_what_the_runtimes_are_told_to_compute(engine, extra, device, layers):
    plan = plan_of(Load("m", extra=extra), engine)
    assert (plan.device, plan.gpu_layers) == (device, layers)


def test_the_runtimes_choose_their_steps_by_threads_unless_these_are_told():
    assert plan_of(Load("m", threads=3), "openvino").threads == 3
    told = plan_of(Load("m", threads=3, batch=64, key_type="f16", extra={"cache_precision": "f32"}), "openvino")
    assert (told.threads, told.batch, told.key_type, told.value_type) == (None, 64, "f32", "f32")
    assert plan_of(Load("m", key_type="q4_0"), "onnx_genai").key_type == "f32"  # it has no such setting


def test_the_python_binding_has_room_for_the_logits_of_several_tokens():
    assert plan_of(Load("m", batch=256), "llama_cpp").outputs == OUTPUTS
    assert plan_of(Load("m", batch=256), "llama_server").outputs is None


def test_what_is_asked_for_is_kept():
    load = Load(
        "m",
        context=8192,
        slots=4,
        batch=256,
        micro_batch=64,
        unified=False,
        key_type="q8_0",
        value_type="q4_0",
        flash_attention=False,
        whole_window=True,
        gpu_layers=0,
        cpu_experts=3,
        split=(1.0, 2.0),
        mapped=False,
    )
    assert plan_of(load, "mlx") == Plan(
        engine="mlx",
        context=8192,
        slots=4,
        unified=False,
        key_type="q8_0",
        value_type="q4_0",
        batch=256,
        micro_batch=64,
        flash_attention=False,
        whole_window=True,
        gpu_layers=0,
        cpu_experts=3,
        split=(1.0, 2.0),
        mapped=False,
    )


def test_several_slots_share_one_cache_unless_told_otherwise():
    assert plan_of(Load("m", slots=4), "llama_server").unified
    assert not plan_of(Load("m", slots=4, unified=False), "llama_server").unified
    assert not plan_of(Load("m"), "llama_server").unified


def test_a_batch_is_computed_at_once_unless_told_otherwise():
    assert plan_of(Load("m", batch=64), "llama_server").micro_batch == 64
    assert plan_of(Load("m", micro_batch=128), "llama_server") == Plan(
        engine="llama_server", batch=512, micro_batch=128, unified=False, context=CONTEXT
    )


def test_what_is_read_as_a_whole_is_computed_as_a_whole():
    plan = plan_of(Load("m", context=2048, task="embedding"), "llama_server")
    assert (plan.batch, plan.micro_batch) == (2048, 2048)
    assert plan_of(Load("m", context=2048, batch=64, task="rerank"), "llama_server").batch == 64


def test_a_models_own_head_is_loaded_with_it():
    assert plan_of(Load("m", draft_kind="mtp"), "llama_server").predict
    assert not plan_of(Load("m", draft="/d.gguf"), "llama_server").predict


def test_where_cards_do_not_share_all_lies_on_the_main_one():
    assert plan_of(Load("m", split_mode="none"), "llama_server").split == (1.0,)
    assert plan_of(Load("m", split_mode="none", main_gpu=2, split=(1.0, 1.0)), "llama_server").split == (0.0, 0.0, 1.0)
    assert plan_of(Load("m", split_mode="layer", split=(3.0, 1.0)), "llama_server").split == (3.0, 1.0)
