import pytest

from weighbridge_engines.api import DRAFT_KINDS, Load
from weighbridge_engines.llama_parameters import values
from weighbridge_engines.llama_server import devices, parameters, version


def test_values_are_set_and_not_left_to_the_wheel():
    chosen = values(Load(model="/m.gguf", alias="m", context=2000, threads=3, batch=64), 2500, "secret")
    assert chosen["model.path"] == "/m.gguf"
    assert (chosen["n_ctx"], chosen["n_batch"], chosen["n_ubatch"]) == (2000, 64, 64)
    assert (chosen["n_parallel"], chosen["kv_unified"]) == (1, False)
    assert (chosen["cpuparams.n_threads"], chosen["cpuparams_batch.n_threads"]) == (3, 3)
    assert (chosen["hostnames"], chosen["port"], chosen["api_keys"]) == (["127.0.0.1"], 2500, ["secret"])
    assert (chosen["fit_params"], chosen["ui"], chosen["offline"]) == (False, False, True)
    assert chosen["cors_origins"] != "*"


def test_what_is_left_open_is_left_to_the_engine():
    chosen = values(Load(model="m"), 1, "k")
    assert chosen["n_ctx"] == 0
    assert "cpuparams.n_threads" not in chosen
    assert "model_alias" not in chosen


def test_the_wheel_knows_every_value():
    params = parameters(Load(model="/m.gguf", alias="m", context=2000, threads=3, batch=64, slots=2), 2500, "secret")
    assert (params.model.path, params.n_ctx, params.n_batch, params.n_parallel) == ("/m.gguf", 2000, 64, 2)
    assert (params.kv_unified, params.cpuparams.n_threads, params.cpuparams_batch.n_threads) == (True, 3, 3)
    assert (params.fit_params, params.ui, params.offline, params.cache_ram_mib) == (False, False, True, 512)
    assert set(params.model_alias) == {"m"}


def test_the_wheel_knows_what_a_load_may_choose():
    load = Load(
        "/m.gguf",
        batch=512,
        micro_batch=128,
        slots=2,
        unified=False,
        key_type="q8_0",
        value_type="q4_1",
        flash_attention=True,
        whole_window=True,
        gpu_layers=7,
        cpu_experts=2,
        split=(3.0, 1.0),
        mapped=False,
    )
    params = parameters(load, 2500, "secret", no_alloc=True)
    assert (params.n_batch, params.n_ubatch, params.kv_unified, params.n_gpu_layers) == (512, 128, False, 7)
    assert (params.cache_type_k.name, params.cache_type_v.name) == ("GGML_TYPE_Q8_0", "GGML_TYPE_Q4_1")
    assert params.flash_attn_type.name == "LLAMA_FLASH_ATTN_TYPE_ENABLED"
    assert params.load_mode.name == "LLAMA_LOAD_MODE_NONE"
    assert (params.swa_full, params.no_alloc) == (True, True)
    assert params.tensor_split[:3] == [3.0, 1.0, 0.0]
    experts = r"blk\.{}\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU"
    assert params.tensor_buft_overrides == ",".join(experts.format(layer) for layer in (0, 1))


def test_files_beside_the_model_reach_the_wheel():
    load = Load("/m.gguf", projector="/mmproj.gguf", draft="/d.gguf", draft_kind="mtp", adapters=("/a.gguf", "/b.gguf"))
    params = parameters(load, 2500, "secret")
    assert params.mmproj.path == "/mmproj.gguf"
    assert params.speculative.draft.mparams.path == "/d.gguf"
    assert [each.name for each in params.speculative.types] == ["COMMON_SPECULATIVE_TYPE_DRAFT_MTP"]
    assert [(each.path, each.scale) for each in params.lora_adapters] == [("/a.gguf", 1.0), ("/b.gguf", 1.0)]


@pytest.mark.parametrize("kind", DRAFT_KINDS)
def test_the_wheel_knows_each_kind_of_draft(kind):
    params = parameters(Load("/m.gguf", draft="/d.gguf", draft_kind=kind), 2500, "secret")
    assert params.speculative.types[0].name.endswith(kind.upper())


def test_nothing_is_loaded_beside_the_model_unless_it_is_named():
    params = parameters(Load("/m.gguf"), 2500, "secret")
    assert (params.mmproj.path, params.speculative.draft.mparams.path, params.lora_adapters) == ("", "", [])
    assert [each.name for each in params.speculative.types] == ["COMMON_SPECULATIVE_TYPE_NONE"]


def test_a_cache_type_that_the_wheel_does_not_know_is_an_error():
    with pytest.raises(KeyError):
        parameters(Load("/m.gguf", key_type="q9_9"), 1, "k")


def test_the_build_tells_its_devices_and_version():
    kinds = {device.kind for device in devices()}
    assert "cpu" in kinds
    assert version()
