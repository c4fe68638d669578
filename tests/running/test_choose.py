from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.base.errors import EngineFailed, Refused
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Cpu, Machine, Memory, MemoryKind
from weighbridge.library.model import Model
from weighbridge.running.choose import (
    Asked,
    Defaults,
    batch_for,
    default_load,
    engine_for,
    engines_for,
    facts_of,
    prompt_batch,
)
from weighbridge.running.load_settings import load_for, refusal
from weighbridge_engines.api import Cause, FileFacts, Load
from weighbridge_engines.catalogue import catalogue

INFO = ModelInfo(format="gguf", kind=Kind.CHAT, context_length=2048, parameters=135_000_000)
MODEL = Model("m", "m", Path("m.gguf"), (Path("m.gguf"),), "gguf", "Q4_1", 98_000_000, INFO)


def test_one_core_stays_free_and_the_context_is_what_was_trained_at_most():
    load = default_load(MODEL, Defaults(cores=8, context=4096))
    assert (load.threads, load.context, load.alias) == (7, 2048, "m")


def test_a_single_core_gets_one_thread():
    assert default_load(MODEL, Defaults(cores=1)).threads == 1


def test_unknown_trained_context_takes_the_default():
    assert default_load(replace(MODEL, info=None), Defaults(cores=2, context=4096)).context == 4096


def test_what_is_chosen_to_be_loaded_beside_a_model_is_named_in_its_load():
    defaults = Defaults(cores=2, name_parts=lambda load, model: replace(load, projector=f"{model.id}.mmproj"))
    assert default_load(MODEL, defaults).projector == "m.mmproj"
    assert default_load(MODEL, Defaults(cores=2)).projector is None


@pytest.mark.parametrize(
    ("parameters", "threads", "batch"),
    [
        (135e6, 1, 64),
        (163e6, 1, 64),
        (135e6, 7, 512),
        (1.5e9, 2, 8),
        (1.5e9, 8, 32),
        (8e9, 8, 8),
        (8e9, 64, 64),
        (0, 1, 512),
    ],
)
def test_a_batch_of_the_prompt_takes_under_half_a_second(parameters, threads, batch):
    assert prompt_batch(parameters, threads) == batch


def test_a_gpu_computes_whole_batches():
    assert default_load(MODEL, Defaults(cores=8, accelerated=True)).batch is None
    large = replace(MODEL, info=replace(INFO, parameters=8_000_000_000))
    assert default_load(large, Defaults(cores=8)).batch == 8
    assert default_load(large, Defaults(cores=8, on_cards=lambda model, load: load.context == 2048)).batch is None


def test_the_batch_is_that_of_the_load_as_it_will_be():
    held = Defaults(cores=2, on_cards=lambda model, load: load.gpu_layers is None)
    load = default_load(MODEL, held)
    assert (load.batch, batch_for(MODEL, replace(load, gpu_layers=3), held)) == (None, 64)


def test_only_llama_cpp_is_told_a_batch():
    assert default_load(MODEL, Defaults(cores=2)).batch == 64
    assert default_load(replace(MODEL, format="mlx"), Defaults(cores=2)).batch is None


def test_engine_by_format():
    assert engine_for(MODEL, catalogue().values()).id == "llama_server"
    assert engine_for(replace(MODEL, format="echo"), catalogue().values()).id == "echo"


def test_no_engine_for_a_format():
    with pytest.raises(Refused) as refused:
        engine_for(replace(MODEL, format="exl9"), catalogue().values())
    assert refused.value.code == "engine.none_for_format"


def test_an_engine_that_is_not_installed_says_how_to_get_it():
    absent = replace(catalogue()["llama_server"], missing=lambda: Cause("engine.not_installed"))
    with pytest.raises(EngineFailed) as failed:
        engine_for(MODEL, [absent])
    assert failed.value.code == "engine.not_installed"
    assert failed.value.values["install"].endswith(" -m pip install xllamacpp")


def test_what_is_named_to_be_installed_is_for_this_system():
    engines = catalogue()
    elsewhere = replace(engines["llama_server"], missing=lambda: Cause("program.not_for_system", {"system": "plan9"}))
    absent = replace(engines["llama_cpp"], missing=lambda: Cause("engine.not_installed", {"package": "llama_cpp"}))
    with pytest.raises(EngineFailed) as failure:
        engine_for(MODEL, [elsewhere, absent])
    assert (failure.value.code, failure.value.values["package"]) == ("engine.not_installed", "llama_cpp")
    with pytest.raises(EngineFailed) as failure:
        engine_for(MODEL, [elsewhere])
    assert failure.value.code == "program.not_for_system"


BARE = Machine(
    "Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None), problems=(Cause("hardware.no_card"),)
)


def test_without_a_card_what_needs_none_comes_first():
    engines = {one.id: replace(one, missing=lambda: None) for one in catalogue().values()}
    folder = replace(MODEL, format="safetensors")
    assert engines_for("safetensors", engines.values())[0].id == "vllm"
    assert engines_for("safetensors", engines.values(), machine=BARE)[0].id == "transformers"
    assert engine_for(folder, engines.values()).id == "vllm"
    assert engine_for(folder, engines.values(), look=lambda: BARE).id == "transformers"
    absent = {one.id: replace(one, missing=lambda: Cause("program.to_get")) for one in engines.values()}
    with pytest.raises(EngineFailed, match="to_get") as failure:
        engine_for(folder, absent.values(), look=lambda: BARE)
    assert failure.value.values["engine"] == "transformers serve"
    with pytest.raises(EngineFailed) as failure:
        engine_for(replace(MODEL, format="awq"), absent.values(), look=lambda: BARE)
    assert (failure.value.code, failure.value.values["engine"]) == ("program.needs_card", "vLLM")


def test_the_machine_is_looked_at_only_where_that_decides():
    def look():
        raise AssertionError("nobody looks")

    engines = catalogue()
    one = replace(engines["vllm"], missing=lambda: None)
    assert engine_for(replace(MODEL, format="safetensors"), [one, absent_sglang(engines)], look=look).id == "vllm"
    two = [replace(engines[name], missing=lambda: None) for name in ("llama_server", "llama_cpp")]
    absent = replace(absent_sglang(engines), formats=two[0].formats)
    assert engine_for(MODEL, [*two, absent], look=look).id == "llama_server"


def absent_sglang(engines):
    return replace(engines["sglang"], missing=lambda: Cause("program.to_get"))


def test_what_is_asked_of_every_load_is_not_bent():
    load = default_load(MODEL, Defaults(cores=8, context=4096, asked=Asked(context=1 << 20, threads=3, slots=8)))
    assert (load.context, load.threads, load.slots) == (1 << 20, 3, 8)
    assert load.batch == default_load(MODEL, Defaults(cores=4)).batch


def test_an_engine_is_told_the_architecture_and_the_types_of_a_file():
    tensors = (Tensor("a", 0, (1,), 0, 4), Tensor("b", 12, (256,), 32, 144), Tensor("c", 999, (1,), 0, None))
    told = replace(MODEL, info=replace(INFO, architecture="llama", tensors=tensors))
    assert facts_of(told) == FileFacts("gguf", "llama", frozenset({"F32", "Q4_K"}))
    assert facts_of(MODEL) == FileFacts("gguf", None, None)
    assert facts_of(replace(MODEL, info=None)) == FileFacts("gguf")


def picky(engine_id, only, missing=None):
    """An engine of one architecture."""

    def suits(facts):
        return (
            None
            if facts.architecture == only
            else Cause("engine.bad_architecture", {"architecture": facts.architecture})
        )

    return replace(catalogue()["llama_server"], id=engine_id, title=engine_id, missing=lambda: missing, suits=suits)


def test_an_engine_that_cannot_run_this_very_model_is_left_out():
    llama, qwen = picky("llama_server", "llama"), picky("llama_cpp", "qwen3")
    model = replace(MODEL, info=replace(INFO, architecture="qwen3"))
    assert engine_for(model, [llama, qwen]).id == "llama_cpp"
    assert [one.id for one in engines_for("gguf", [llama, qwen], model)] == ["llama_cpp"]
    assert [one.id for one in engines_for("gguf", [llama, qwen])] == ["llama_server", "llama_cpp"]


def test_where_no_engine_can_run_this_very_model_the_reason_is_told():
    model = replace(MODEL, info=replace(INFO, architecture="mamba"))
    with pytest.raises(Refused) as refused:
        engine_for(model, [picky("llama_server", "llama"), picky("llama_cpp", "qwen3")])
    assert refused.value.code == "engine.bad_architecture"
    assert refused.value.values == {"engine": "llama_server", "model": "m", "architecture": "mamba"}
    named = replace(default_load(model, Defaults(cores=2)), engine="llama_cpp")
    with pytest.raises(Refused) as refused:
        engine_for(model, [picky("llama_server", "mamba"), picky("llama_cpp", "qwen3")], named)
    assert refused.value.values["engine"] == "llama_cpp"


def test_one_that_could_and_is_not_installed_is_named_before_one_that_cannot():
    model = replace(MODEL, info=replace(INFO, architecture="qwen3"))
    absent = picky("llama_cpp", "qwen3", Cause("engine.not_installed"))
    with pytest.raises(EngineFailed) as failed:
        engine_for(model, [picky("llama_server", "llama"), absent])
    assert failed.value.values["engine"] == "llama_cpp"


PAIRS = [
    (engine.id, format_id)
    for engine in catalogue().values()
    if engine.attach is None
    for format_id in sorted(engine.formats)
]


@pytest.mark.parametrize(("engine_id", "format_id"), PAIRS)
def test_each_engine_takes_the_load_that_is_made_by_itself_for_each_of_its_formats(engine_id, format_id):
    model = replace(MODEL, format=format_id, info=replace(INFO, format=format_id))
    defaults = Defaults(8, prompt_cache_mib=512, checkpoints=lambda _model, _load: 3, asked=Asked(engine=engine_id))
    load = default_load(model, defaults)
    assert (load.engine, load.context, load.threads, load.checkpoints) == (engine_id, 2048, 7, 3)
    assert refusal(load, catalogue()[engine_id]) is None


def test_a_load_for_another_engine_has_what_that_one_can_follow():
    load = Load(
        "m.gguf",
        "m",
        context=4096,
        threads=3,
        slots=4,
        batch=256,
        key_type="q8_0",
        value_type="q8_0",
        projector="p.gguf",
        engine="llama_server",
        in_process=True,
        sampling={"temperature": 0.2, "mirostat": 1},
        extra={"cache_reuse": 64},
    )
    told = load_for(catalogue()["openvino"], load)
    assert refusal(told, catalogue()["openvino"]) is None
    assert (told.engine, told.context, told.threads, told.in_process) == ("openvino", 4096, 3, False)
    assert (told.batch, told.key_type, told.projector, told.extra) == (None, None, None, {})
    assert told.sampling == {"temperature": 0.2}
