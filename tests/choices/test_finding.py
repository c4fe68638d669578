"""What can be done about a load that failed, or that will not fit."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.choices.made_speeds import FAST_RTX, TABLES, TENTH, here, weighed
from tests.choices.made_surroundings import LOAD, NOT_HERE, engine, loaded, model, told
from tests.estimates.made_blueprints import GIB, made

from weighbridge.base.errors import EngineFailed
from weighbridge.base.units import THIN
from weighbridge.choices.choice import weigh
from weighbridge.choices.finding import DOES_NOT_FIT, DOES_NOT_FIT_CARD, Ground, before_load, of_failure
from weighbridge.choices.finding_words import (
    command_of,
    figures_in_words,
    fix_in_words,
    numbers_in_words,
)
from weighbridge.choices.finding_words import (
    told as told_in_words,
)
from weighbridge.choices.fixes import FixKind, mended
from weighbridge.estimates.fit import GOOD, Verdict
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.running.builds import Offer
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

TWELVE = made(layers=10, layer_bytes=GIB)
"""12 GiB of weights, and 40 KiB of cache a token."""

VULKAN = Offer("llama_server-vulkan", "Vulkan", "llama_server", "llama.cpp", ("amd",), installed=False, verified=False)
CUDA = Offer("llama_server-cuda", "CUDA 12", "llama_server", "llama.cpp", ("nvidia",), installed=True)
MEMORY = {"engine": "llama.cpp", "device": "Host", "needed_bytes": 5 * GIB, "free_bytes": 4 * GIB, "line": "…"}


def found(error, surroundings, blueprint=TENTH, load=LOAD, siblings=(), **changes):
    choice = weighed(surroundings, blueprint, load, **changes)
    return of_failure(error, choice, Ground(surroundings, TABLES, (), tuple(siblings), Path("models")))


def kinds(finding):
    return [fix.kind for fix in finding.fixes]


def said(finding):
    pairs = ((fix_in_words(fix, finding), figures_in_words(fix, finding)) for fix in finding.fixes)
    return [" · ".join(filter(None, pair)).replace(THIN, " ") for pair in pairs]


def test_memory_that_ran_out_though_it_seemed_to_fit_gets_a_load_that_takes_less():
    load = replace(LOAD, context=131_072)
    finding = found(EngineFailed("engine.memory_refused", **MEMORY), here(free_gib=20), TWELVE, load)
    assert finding.asked.fit.verdict in GOOD
    shorter, smaller = [fix for fix in finding.fixes if fix.kind is FixKind.LOAD]
    assert 4096 < shorter.load.context < 131_072
    assert smaller.load.key_type == "q8_0"
    for fix in (shorter, smaller):
        assert fix.way.choice.fit.estimate.total_bytes < finding.asked.fit.estimate.total_bytes
    assert command_of(shorter, finding) == f"weighbridge run m --context {shorter.load.context}"
    assert command_of(smaller, finding) == "weighbridge run m --context 131072 --kv q8_0"


def test_models_that_nobody_uses_may_be_ended_for_it_the_largest_first():
    running = (
        loaded(2, model_id="small"),
        loaded(4, model_id="large"),
        loaded(8, model_id="busy", in_flight=1),
        loaded(1, model_id="m"),
    )
    surroundings = replace(here(free_gib=20), running=running)
    finding = found(EngineFailed("engine.killed", signal="SIGKILL"), surroundings)
    ended = [fix for fix in finding.fixes if fix.kind is FixKind.END]
    assert [(fix.other_id, fix.freed_bytes) for fix in ended] == [("large", 4 * GIB), ("small", 2 * GIB)]
    assert all(fix.load == LOAD for fix in ended)
    assert said(finding)[0] == "End large and load · gives back 4.0 GiB"
    assert command_of(ended[0], finding) is None


def test_who_was_killed_is_told_with_what_there_is():
    finding = found(EngineFailed("engine.killed", signal="SIGKILL", engine="llama.cpp"), here(free_gib=20), TWELVE)
    [line] = numbers_in_words(finding)
    assert line.replace(THIN, " ").endswith("20.0 GiB of 32.0 GiB are free now.")


def test_memory_of_a_card_leaves_more_to_the_processor():
    card = here(replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 24 * GIB, 22 * GIB)))
    values = {**MEMORY, "device": "CUDA0"}
    finding = found(EngineFailed("engine.card_memory_refused", **values), card, TWELVE)
    assert finding.asked.fit.verdict is Verdict.FITS
    [fix] = finding.fixes
    assert (fix.kind, fix.way.choice.fit.verdict) == (FixKind.LOAD, Verdict.PARTIAL)
    assert 0 < fix.load.gpu_layers < 11
    assert command_of(fix, finding) == f"weighbridge run m --context 4096 --gpu-layers {fix.load.gpu_layers}"
    assert said(finding)[0].startswith(f"Load: {fix.load.gpu_layers} layers on cards · Partial")
    assert numbers_in_words(finding)[0].startswith("4.0")


def test_an_architecture_that_is_not_known_wants_another_build_the_ones_that_are_here_first():
    radeon = replace(FAST_RTX, id="amd0", vendor="amd")
    surroundings = replace(here(FAST_RTX, radeon), told=(replace(told(), offers=(VULKAN, CUDA)),))
    finding = found(EngineFailed("engine.unknown_architecture", engine="llama.cpp", architecture="x"), surroundings)
    assert kinds(finding) == [FixKind.USE_BUILD, FixKind.INSTALL_BUILD]
    assert said(finding) == [
        "Use the build CUDA 12",
        "Install the build Vulkan… · nobody has told yet whether it runs",
    ]
    assert [command_of(fix, finding) for fix in finding.fixes] == [
        "weighbridge engines use llama_server-cuda",
        "weighbridge engines install llama_server-vulkan",
    ]


def test_a_damaged_file_is_verified_or_fetched_again():
    path = Path("models") / "somebody" / "Model-GGUF" / "m.gguf"
    finding = found(EngineFailed("engine.bad_model_file", engine="llama.cpp"), here(), path=path)
    assert kinds(finding) == [FixKind.VERIFY, FixKind.FETCH]
    assert [command_of(fix, finding) for fix in finding.fixes] == [
        "weighbridge verify m",
        "weighbridge pull somebody/Model-GGUF",
    ]


def test_where_a_file_came_from_is_not_guessed():
    for path in ("m.gguf", "models/m.gguf", "models/a/m.gguf", "models/a/b/c/m.gguf", "other/a/b/m.gguf"):
        finding = found(EngineFailed("engine.bad_model_file", engine="llama.cpp"), here(), path=Path(path))
        assert kinds(finding) == [FixKind.VERIFY]


def test_a_type_that_was_given_up_is_left_for_another_file_of_the_model():
    other = model(id="other", path=Path("other.gguf"))
    error = EngineFailed("engine.type_removed", type="Q4_0_4_4", instead="Q4_0")
    finding = found(error, here(), siblings=[(other, TENTH)])
    assert finding.fixes[0].kind is FixKind.OTHER_MODEL
    assert finding.fixes[0].load.model == "other.gguf"
    assert command_of(finding.fixes[0], finding) == "weighbridge run other"


def test_an_end_without_a_word_can_only_be_tried_again():
    finding = found(EngineFailed("engine.ended", engine="llama.cpp", exit_code=1), here())
    assert kinds(finding) == [FixKind.AGAIN]


FULL = replace(
    LOAD,
    adapters=("a",),
    adapter_scales=(1.0,),
    draft="d",
    projector="p",
    template="t",
    extra={"option": "x"},
    key_type="q5_0",
    value_type="q5_0",
    flash_attention=False,
    gpu_layers=20,
)


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("engine.adapter_mismatch", [{"adapters": (), "adapter_scales": ()}]),
        ("engine.no_draft_file", [{"draft": None}]),
        ("engine.projector_mismatch", [{"projector": None}]),
        ("engine.cache_needs_flash", [{"flash_attention": None}, {"key_type": "f16", "value_type": "f16"}]),
        (
            "engine.cache_type_size",
            [{"key_type": "q8_0", "value_type": "q8_0"}, {"key_type": "f16", "value_type": "f16"}],
        ),
        ("engine.template", [{"template": None}]),
        ("engine.bad_option", [{"extra": {}}]),
        ("engine.cannot_map", [{"mapped": False}]),
        ("engine.card_not_built_for", [{"gpu_layers": 0, "cpu_experts": None, "split": None}]),
        ("engine.unknown_architecture", []),
    ],
)
def test_the_load_without_what_cannot_be(code, changed):
    assert list(mended(code, FULL)) == [replace(FULL, **change) for change in changed]


def test_a_load_that_has_nothing_of_it_is_left_alone():
    assert mended("engine.projector_mismatch", LOAD) == ()


def test_each_mended_load_says_what_it_leaves_out():
    finding = found(EngineFailed("engine.no_draft_file", path="d"), here(), load=FULL)
    assert said(finding) == ["Load: without the draft model"]
    assert command_of(finding.fixes[0], finding).endswith(" --set draft=")


@pytest.mark.parametrize(
    ("code", "load", "told"),
    [
        ("engine.adapter_mismatch", {"adapters": ("a",), "adapter_scales": (1.0,)}, "adapters= adapter_scales="),
        ("engine.bad_option", {"extra": {"cache_reuse": 5}}, "cache_reuse="),
        ("engine.cache_needs_flash", {"flash_attention": False}, "flash_attention="),
        ("engine.cannot_map", {"mapped": True}, "mapped=off"),
        ("engine.no_projector_file", {"projector": "p"}, "projector="),
        ("engine.template", {"template": "t"}, "template="),
    ],
)
def test_what_is_left_out_is_told_to_a_command_by_its_setting(code, load, told):
    finding = found(EngineFailed(code, path="p", reason="x"), here(), load=replace(LOAD, **load))
    words = command_of(finding.fixes[0], finding).removeprefix("weighbridge run m --context 4096 ").split()
    assert words == [word for each in told.split() for word in ("--set", each)]


def before(surroundings, blueprint=TWELVE, load=LOAD, siblings=()):
    choice = weighed(surroundings, blueprint, load)
    return before_load(choice, Ground(surroundings, TABLES, (), tuple(siblings)))


def test_what_fits_or_is_not_known_is_not_held_up():
    assert before(here(free_gib=20)) is None
    assert before(here(free_gib=None)) is None


def test_a_load_that_will_not_fit_is_a_choice_with_numbers():
    load = replace(LOAD, context=131_072)
    finding = before(here(free_gib=13.5, total_gib=16), load=load)
    assert finding.code == DOES_NOT_FIT
    assert finding.values["missing_bytes"] == finding.values["needed_bytes"] - finding.values["free_bytes"]
    [fix] = finding.fixes
    assert (fix.kind, fix.way.choice.fit.verdict in GOOD) == (FixKind.LOAD, True)
    assert str(told_in_words(finding)).startswith("M needs ")


def test_a_smaller_one_of_the_family_is_among_them():
    other = model(id="small", path=Path("small.gguf"))
    finding = before(here(free_gib=6, total_gib=8), siblings=[(other, TENTH)])
    assert [fix.other_id for fix in finding.fixes if fix.kind is FixKind.OTHER_MODEL] == ["small"]


def test_a_card_is_named():
    card = here(replace(FAST_RTX, memory=Memory(MemoryKind.DEDICATED, 6 * GIB, 6 * GIB)))
    finding = before(card, load=replace(LOAD, gpu_layers=11))
    assert finding.code == DOES_NOT_FIT_CARD
    assert finding.values["device"] == "NVIDIA GeForce RTX 3090"
    assert finding.fixes[0].load.gpu_layers == 5


def test_a_file_that_is_gone_is_looked_for():
    finding = found(EngineFailed("engine.no_model_file", engine="llama.cpp"), here())
    assert kinds(finding) == [FixKind.SCAN]


def test_a_build_for_cards_that_are_not_here_is_not_offered():
    surroundings = replace(here(FAST_RTX), told=(replace(told(), offers=(VULKAN, CUDA)),))
    finding = found(EngineFailed("engine.unknown_architecture", engine="llama.cpp", architecture="x"), surroundings)
    assert [fix.build_id for fix in finding.fixes] == ["llama_server-cuda"]


OPENVINO = replace(catalogue()["openvino"], missing=lambda: None)
LLAMA_CPP = replace(catalogue()["llama_cpp"], missing=lambda: NOT_HERE)


def with_engines(*engines):
    return replace(here(), engines={one.id: one for one in (engine(), *engines)})


def test_another_engine_that_is_here_and_runs_the_model_is_offered():
    load = replace(LOAD, threads=3, batch=256, prompt_cache_mib=512, sampling={"temperature": 0.5})
    error = EngineFailed("engine.unknown_tokenizer", tokenizer="x", engine="llama.cpp")
    finding = found(error, with_engines(OPENVINO, LLAMA_CPP), load=load)
    [fix] = finding.fixes
    assert (fix.kind, fix.load.engine, fix.title) == (FixKind.OTHER_ENGINE, "openvino", "OpenVINO GenAI")
    assert fix.load == Load("m.gguf", context=4096, threads=3, engine="openvino", sampling={"temperature": 0.5})
    assert fix_in_words(fix, finding) == "Load with OpenVINO GenAI"
    assert command_of(fix, finding) == "weighbridge run m --engine openvino"


def test_an_engine_that_cannot_run_this_very_model_is_not():
    info = ModelInfo("gguf", Kind.CHAT, architecture="mamba")
    error = EngineFailed("engine.unknown_architecture", architecture="mamba", engine="llama.cpp")
    assert found(error, with_engines(OPENVINO), info=info).fixes == ()


def test_what_no_build_of_an_engine_can_do_asks_for_another_engine_alone():
    surroundings = replace(with_engines(OPENVINO), told=(replace(told(engine_id="openvino"), offers=(VULKAN,)),))
    load = replace(LOAD, engine="openvino")
    error = EngineFailed("openvino.tensor_type", type="IQ2_XS", known="Q4_0", engine="OpenVINO GenAI")
    choice = weigh(model(), TENTH, load, surroundings, engine_id="openvino")
    finding = of_failure(error, choice, Ground(surroundings, TABLES, (), (), Path("models")))
    assert [(fix.kind, fix.load.engine) for fix in finding.fixes] == [(FixKind.OTHER_ENGINE, "llama_server")]


@pytest.mark.parametrize(
    ("code", "values", "load", "changes", "words"),
    [
        (
            "program.context_too_long",
            {"context": 32768, "needed_bytes": 4 * GIB, "available_bytes": GIB, "offer": 8000},
            {"context": 32768},
            {"context": 8000},
            "Load: a context of 8,000 tokens",
        ),
        (
            "program.no_room_for_context",
            {"context": 32768, "needed_bytes": 4 * GIB, "available_bytes": GIB},
            {"context": 32768},
            {"context": 8192},
            "Load: a context of 8,192 tokens",
        ),
        (
            "program.card_not_free",
            {"needed_bytes": 20 * GIB, "free_bytes": GIB},
            {"extra": {"memory_share": 0.9, "eager": True}},
            {"extra": {"eager": True}},
            "Load: Share of the card's memory: as the engine likes",
        ),
        (
            "program.other_backend",
            {"setting": "backend", "instead": "pytorch", "path": "m"},
            {"extra": {"backend": "turbomind"}},
            {"extra": {"backend": "pytorch"}},
            "Load: Part of the engine: pytorch",
        ),
        ("program.dtype_needs_card", {"dtype": "bfloat16"}, {}, {"extra": {"dtype": "float16"}}, None),
        ("openvino.no_card_runtime", {"library": "x"}, {"extra": {"device": "GPU"}}, {"extra": {}}, None),
        ("onnx_genai.provider", {"provider": "qnn"}, {}, {"extra": {"provider": "cpu"}}, None),
        (
            "engine.no_small_cache",
            {},
            {"key_type": "q8_0", "value_type": "q8_0"},
            {"key_type": None, "value_type": None},
            "Load: KV cache as the engine likes",
        ),
        ("engine.no_strength", {}, {"adapters": ("a",), "adapter_scales": (0.5,)}, {"adapter_scales": ()}, None),
        ("exl.no_head", {"architecture": "x"}, {"draft_kind": "mtp"}, {"draft_kind": "simple"}, None),
        ("exl.no_tensor_split", {"architecture": "x"}, {"split_mode": "tensor"}, {"split_mode": None}, None),
        (
            "engine.no_shift",
            {},
            {"extra": {"context_shift": True, "cache_group": "64"}},
            {"extra": {"cache_group": "64"}},
            None,
        ),
    ],
)
def test_what_the_other_engines_cannot_follow_is_left_out(code, values, load, changes, words):
    asked = replace(LOAD, **load)
    finding = found(EngineFailed(code, engine="E", **values), here(), load=asked)
    fix = finding.fixes[0]
    assert (fix.kind, fix.load) == (FixKind.LOAD, replace(asked, **changes))
    assert said(finding)[0] not in ("", "Load: ")
    assert words is None or said(finding)[0] == words


@pytest.mark.parametrize(
    "values",
    [
        {"context": 4096, "offer": 4096},
        {"context": 4096, "offer": 0},
        {"context": 4096, "needed_bytes": GIB, "available_bytes": GIB // 20},
        {"context": 4096, "needed_bytes": 0, "available_bytes": 5},
        {"context": 4096, "needed_bytes": GIB, "available_bytes": 0},
        {"offer": "many"},
        {},
    ],
)
def test_a_context_is_offered_only_where_there_is_room_for_one(values):
    assert mended("program.no_room_for_context", LOAD, values) == ()


@pytest.mark.parametrize("code", ["program.card_not_free", "program.no_room_for_cache", "program.batch_out_of_memory"])
def test_a_server_that_had_too_little_memory_is_given_what_an_unused_model_holds(code):
    surroundings = replace(here(), running=(loaded(4, model_id="large"),))
    values = {"needed_bytes": 20 * GIB, "free_bytes": GIB, "whole_bytes": 24 * GIB, "device": "cuda:0"}
    finding = found(EngineFailed(code, engine="vLLM", **values), surroundings)
    assert (finding.fixes[0].kind, finding.fixes[0].other_id) == (FixKind.END, "large")


def test_memory_of_the_system_that_ran_out_without_a_number_is_told_with_what_there_is():
    error = EngineFailed("engine.out_of_memory", engine="ONNX Runtime GenAI", device="Host", line="bad_alloc")
    [line] = numbers_in_words(found(error, here(free_gib=20), TWELVE))
    assert "of the system's memory" in line
    card = EngineFailed("engine.out_of_memory", engine="ExLlamaV3", device="cuda:0", line="x")
    assert numbers_in_words(found(card, here(), TWELVE)) == ()


def test_half_the_context_is_offered_where_nobody_knows_what_a_load_takes():
    error = EngineFailed("engine.out_of_memory", engine="ONNX Runtime GenAI", device="Host", line="bad_alloc")
    finding = found(error, here(), None, replace(LOAD, context=8192))
    assert [(fix.kind, fix.load.context) for fix in finding.fixes] == [(FixKind.LOAD, 4096)]
    assert said(finding) == ["Load: a context of 4,096 tokens"]
    assert command_of(finding.fixes[0], finding) == "weighbridge run m --context 4096"
    assert found(error, here(), None, replace(LOAD, context=1024)).fixes == ()
    assert found(error, here(), None, replace(LOAD, context=None)).fixes == ()


def test_where_the_engine_told_which_context_has_room_no_other_is_offered():
    values = {"engine": "vLLM", "context": 16384, "needed_bytes": 4 * GIB, "available_bytes": 3 * GIB}
    finding = found(EngineFailed("program.no_room_for_context", **values), here(), None, replace(LOAD, context=16384))
    assert [fix.load.context for fix in finding.fixes] == [12288]
