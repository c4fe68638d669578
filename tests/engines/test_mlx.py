"""What of mlx-lm can be seen without the package: settings, log, causes, folders, pace."""

import json
from itertools import pairwise

import pytest

from weighbridge_engines.api import Capability, Cause, FileFacts, Load, RequestRefused, Unsupported
from weighbridge_engines.mlx import ENGINE, runs_on, suits
from weighbridge_engines.mlx_controls import CONTROLS, CacheForm, cache_form, checked
from weighbridge_engines.mlx_failures import diagnose, failed, said
from weighbridge_engines.mlx_folder import (
    adapter_folder,
    endless,
    has_module,
    model_folder,
    recommended,
    trained_context,
)
from weighbridge_engines.mlx_log import report, tell, tell_weights
from weighbridge_engines.mlx_pace import LONG_S, MOST, ON_CARD, ON_PROCESSOR, SHORT_S, Pace
from weighbridge_engines.mlx_sampler import check_sampling

# Settings


def test_what_it_says_of_itself():
    assert {Capability.SCORE, Capability.DRAFT, Capability.JSON_SCHEMA} <= ENGINE.capabilities
    assert Capability.TOOLS not in ENGINE.capabilities
    assert ENGINE.open_here is not None
    assert ENGINE.environment["HF_HUB_OFFLINE"] == "1"
    names = [control.name for control in CONTROLS]
    assert len(names) == len(set(names))
    assert {"context", "key_type", "draft", "adapters", "temperature", "compute_type"} <= set(names)
    assert not {"mirostat", "gpu_layers", "typical_p", "samplers"} & set(names)


@pytest.mark.parametrize(
    ("values", "code", "named"),
    [
        ({"slots": 2}, "setting.range", "slots"),
        ({"projector": "/p"}, "setting.unknown", "projector"),
        ({"flash_attention": True}, "setting.unknown", "flash_attention"),
        ({"cpu_experts": 2}, "setting.unknown", "cpu_experts"),
        ({"key_type": "q5_1"}, "setting.choice", "key_type"),
        ({"key_type": "q8_0", "value_type": "q4_0"}, "setting.needs", "value_type"),
        ({"key_type": "q8_0", "value_type": "f16"}, "setting.needs", "value_type"),
        ({"extra": {"cache_group": "32"}}, "setting.needs", "cache_group"),
        ({"extra": {"cache_quantised_from": 5}}, "setting.needs", "cache_quantised_from"),
        ({"key_type": "q8_0", "extra": {"cache_group": "48"}}, "setting.choice", "cache_group"),
        ({"extra": {"context_shift": True}}, "setting.needs", "context_shift"),
        ({"context": 64, "key_type": "q8_0", "extra": {"context_shift": True}}, "setting.needs", "context_shift"),
        ({"context": 64, "draft": "/d", "extra": {"context_shift": True}}, "setting.needs", "context_shift"),
        ({"extra": {"draft_tokens": 2}}, "setting.needs", "draft_tokens"),
        ({"draft": "/d", "draft_kind": "eagle3"}, "setting.choice", "draft_kind"),
        (
            {"draft": "/d", "key_type": "q8_0", "extra": {"cache_quantised_from": 9}},
            "setting.needs",
            "cache_quantised_from",
        ),
        ({"adapters": ("/a", "/b")}, "setting.range", "adapters"),
        ({"adapters": ("/a",), "adapter_scales": (1.0, 2.0)}, "setting.needs", "adapter_scales"),
        ({"task": "embedding"}, "setting.choice", "task"),
        ({"batch": 0}, "setting.range", "batch"),
        ({"extra": {"compute_type": "int8"}}, "setting.choice", "compute_type"),
        ({"extra": {"arguments": ("--x",)}}, "setting.unknown", "arguments"),
        ({"sampling": {"mirostat": 1}}, "setting.unknown", "mirostat"),
        ({"sampling": {"xtc_threshold": 0.6}}, "setting.range", "xtc_threshold"),
        ({"sampling": {"grammar": "root ::= a", "json_schema": "{}"}}, "setting.needs", "grammar"),
    ],
)
def test_what_it_has_no_way_to_follow_is_refused_by_name(values, code, named):
    with pytest.raises(Unsupported) as refused:
        checked(Load("/m", **values))
    assert (refused.value.cause.code, refused.value.cause.values["name"]) == (code, named)


def test_what_every_load_says_is_taken():
    checked(Load("/m", context=4096, threads=1, prompt_cache_mib=512, checkpoints=4, gpu_layers=7))


def test_the_form_of_the_cache():
    assert cache_form(Load("/m")) == CacheForm(None, 64, 0, None)
    assert cache_form(Load("/m", value_type="f16")).bits is None
    late = Load("/m", key_type="q4_0", extra={"cache_group": "32", "cache_quantised_from": 100})
    assert cache_form(late) == CacheForm(4, 32, 100, None)
    assert cache_form(Load("/m", context=99, extra={"context_shift": True})).most == 99


@pytest.mark.parametrize(
    "sampling", [{"mirostat": 0, "mirostat_tau": 3.0}, {"top_n_sigma": -2.0}, {"min_keep": 3}, {"dry_base": 2.0}]
)
def test_what_is_off_is_no_reason_to_refuse(sampling):
    check_sampling(sampling)


@pytest.mark.parametrize("sampling", [{"mirostat": 2}, {"typical_p": 0.9}, {"dry_multiplier": 0.5}, {"top_n_sigma": 1}])
def test_a_sampler_that_it_has_not_is_refused_by_name(sampling):
    with pytest.raises(RequestRefused) as refused:
        check_sampling(sampling)
    assert [refused.value.field] == list(sampling)


# The log


def test_what_is_told_is_read_again():
    lines = []
    tell(lines.append, "context", 4096)
    tell(lines.append, "key_type", "q8_0")
    tell(lines.append, "context_shift", True)
    tell(lines.append, "stage", "weights")
    tell(lines.append, "draft", "/a model/d")
    tell_weights(lines.append, "Metal", 123)
    read = [report(line) for line in lines]
    assert read[:4] == [{"context": 4096}, {"key_type": "q8_0"}, {"context_shift": True}, {"stage": "weights"}]
    assert read[4:] == [{"draft": "/a model/d"}, {"weights_bytes": 123, "device": "Metal"}]


@pytest.mark.parametrize("line", ["mlx: context = many", "mlx: no_such = 5", "context = 5", "mlx: weights = Metal", ""])
def test_other_lines_tell_nothing(line):
    assert report(line) == {}


REAL = {
    "engine.bad_model_file": [
        "RuntimeError: [load_safetensors] Tensor 'model.embed_tokens.weight' invalid data offsets (30715776, 44871552)"
        " exceeding the size of the file. Perhaps an incomplete download or corrupt file?",
        "RuntimeError: [read] Unable to read 4 bytes from file.",
        "RuntimeError: [read] Unable to read from file.",
    ],
    "engine.unknown_architecture": [
        "ValueError: Model type nosuch not supported.",
        "AttributeError: module 'mlx_lm.models.cache' has no attribute 'Model'",
    ],
    "engine.no_tokenizer": ["ValueError: Couldn't instantiate the backend tokenizer from one of: "],
    "engine.no_model_file": [
        "FileNotFoundError: No safetensors found in /m",
        "FileNotFoundError: No model folder: someone/model",
    ],
    "engine.no_draft_file": ["FileNotFoundError: No draft: /d"],
    "engine.no_adapter_file": ["FileNotFoundError: No adapter: /a"],
    "engine.own_code": [
        "ValueError: The model at /m requires importing and running a custom module ('x.py') to build its own.",
        "ValueError: The repository /m contains custom code which must be executed to correctly load the model.",
    ],
    "engine.bad_settings": [
        "json.decoder.JSONDecodeError: Failed to parse tokenizer.json: line 1 column 1 (char 0)",
        "ValueError: No settings in /m/config.json",
        "KeyError: 'model_type'",
    ],
    "engine.other_layout": [
        "ValueError: Missing 9 parameters: ",
        "ValueError: Received 23 parameters not in model: ",
        "ValueError: [quantize] The requested group size 96 is not supported.",
        "ModuleNotFoundError: No module named 'mlx_lm.tool_parsers.newest'",
    ],
    "engine.load_refused": ["NotImplementedError: RotatingKVCache Quantization NYI"],
    "engine.out_of_memory": [
        "RuntimeError: [malloc] Unable to allocate 1000 bytes.",
        "libc++abi: [METAL] Command buffer execution failed: Insufficient Memory"
        " (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
        "MemoryError",
        "RuntimeError: cudaMallocAsync(&data, size, stream) failed: out of memory",
    ],
    "engine.piece_too_large": [
        "[metal::malloc] Attempting to allocate 123 bytes which is greater than the maximum allowed buffer size of 99"
        " bytes."
    ],
    "engine.not_installed": ["ModuleNotFoundError: No module named 'mlx_lm'"],
    "engine.missing_library": ["ImportError: libmlx.so: cannot open shared object file: No such file or directory"],
    "engine.card_failed": ["RuntimeError: [METAL] Command buffer execution failed: Caused GPU Hang Error"],
}


@pytest.mark.parametrize(("code", "line"), [(code, line) for code, lines in REAL.items() for line in lines])
def test_the_cause_of_an_end(code, line):
    cause = diagnose(["mlx: stage = reading", "Traceback (most recent call last):", line], 1)
    assert cause is not None
    assert cause.code == code


def test_the_numbers_of_a_cause_are_numbers():
    cause = diagnose(REAL["engine.piece_too_large"], None)
    assert (cause.values["needed_bytes"], cause.values["most_bytes"]) == (123, 99)
    assert diagnose(REAL["engine.out_of_memory"][:1], None).values["needed_bytes"] == 1000


def test_a_cause_that_is_known_here_survives_the_log():
    cause = Cause("engine.draft_mismatch", {"reason": "their vocabularies differ"})
    assert diagnose(["mlx: stage = reading", said(cause), "Traceback (most recent call last):"], 1) == cause


def test_what_nobody_knows_is_told_in_the_librarys_words():
    line = failed(TypeError("this\nis odd"))
    assert diagnose([line], 1).values["reason"] == "TypeError: this is odd"
    unknown = failed(ValueError("Model type odd not supported."))
    led_to_it = "ModuleNotFoundError: No module named 'mlx_lm.models.odd'"
    assert diagnose([unknown, led_to_it], 1).code == "engine.unknown_architecture"
    assert diagnose(["mlx: cause = {"], 1) is None
    assert diagnose(["TypeError: of a request"], 1) is None


# Folders


def test_only_a_folder_with_settings_is_a_model(tmp_path):
    for told in ("someone/model", str(tmp_path)):
        with pytest.raises(FileNotFoundError):
            model_folder(told)
    config = tmp_path / "config.json"
    for text in ("{", "[]", '"x"'):
        config.write_text(text)
        with pytest.raises(ValueError, match="No settings"):
            model_folder(str(tmp_path))
    config.write_text('{"model_type": "llama"}')
    assert model_folder(str(tmp_path)) == model_folder(str(config)) == tmp_path.resolve()


def test_an_adapter_has_settings_and_weights(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="No adapter"):
        adapter_folder(str(tmp_path))
    (tmp_path / "adapters.safetensors").touch()
    assert adapter_folder(str(tmp_path / "adapters.safetensors")) == tmp_path.resolve()


def test_the_context_that_a_model_was_trained_for():
    assert trained_context({"max_position_embeddings": 8192}) == 8192
    assert trained_context({"text_config": {"n_positions": 1024}}) == 1024
    assert trained_context({"max_position_embeddings": "many", "text_config": []}) is None


def test_what_the_makers_recommend_is_taken_where_it_makes_sense(tmp_path):
    told = {"temperature": 0.6, "top_k": 20, "top_p": 7.0, "repetition_penalty": 1.1, "min_p": None, "do_sample": True}
    (tmp_path / "generation_config.json").write_text(json.dumps(told))
    assert recommended(tmp_path) == {"temperature": 0.6, "top_k": 20, "repeat_penalty": 1.1}
    (tmp_path / "generation_config.json").write_text("[1]")
    assert recommended(tmp_path) == {}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A folder that stands where mlx-lm would be, which is found and never run."""
    models = tmp_path / "mlx_lm" / "models"
    models.mkdir(parents=True)
    (tmp_path / "mlx_lm" / "__init__.py").write_text("raise SystemExit")
    (tmp_path / "mlx_lm" / "utils.py").write_text('raise SystemExit\nMODEL_REMAPPING = {"mistral": "llama"}\n')
    (models / "llama.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "mlx_lm", raising=False)


def test_an_architecture_is_looked_up_without_importing(library):
    assert (has_module("llama"), has_module("mistral")) == (True, True)
    assert [has_module(name) for name in ("nosuch", "../models/llama", "", "a" * 200)] == [False] * 4
    assert suits(FileFacts("mlx", "llama")) is None
    assert suits(FileFacts("mlx")) is None
    assert suits(FileFacts("mlx", "nosuch")) == Cause("engine.unknown_architecture", {"architecture": "nosuch"})


@pytest.mark.parametrize(
    ("system", "processor", "runs"),
    [
        ("darwin", "arm64", True),
        ("darwin", "x86_64", False),
        ("linux", "x86_64", True),
        ("linux", "aarch64", True),
        ("linux", "riscv64", False),
        ("win32", "AMD64", False),
    ],
)
def test_the_systems_that_it_runs_on(system, processor, runs):
    assert runs_on(system, processor) is runs


# Pace


def test_steps_grow_until_stop_would_wait_and_shrink_after_that():
    pace = Pace(None, on_card=False)
    assert (pace.step, pace.most) == (ON_PROCESSOR, MOST)
    steps = []
    for _ in range(20):
        steps.append(pace.step)
        pace.took(pace.step, pace.step * 0.01)
    assert steps[:5] == [1, 2, 4, 8, 16]
    assert max(steps) * 0.01 < LONG_S
    assert all(later == earlier for earlier, later in pairwise(steps[6:]))
    pace.took(pace.step, LONG_S * 2)
    assert pace.step == max(steps) // 2
    pace.took(pace.step - 1, SHORT_S / 9)  # the rest of a prompt tells nothing
    assert pace.step == max(steps) // 2


def test_what_is_asked_for_is_kept_to_and_a_card_starts_with_more():
    pace = Pace(100, on_card=True)
    pace.took(100, 9.0)
    assert (pace.step, pace.most) == (100, 100)
    pace = Pace(None, on_card=True)
    for _ in range(9):
        assert ON_CARD <= pace.step <= MOST
        pace.took(pace.step, 0.0)
    assert pace.step == MOST


@pytest.mark.parametrize(
    "told", [{"num_hidden_layers": 10**9}, {"text_config": {"n_layer": 10_001}}, {"num_nextn_predict_layers": 10**12}]
)
def test_settings_that_would_fill_the_memory_with_layers_are_refused(tmp_path, told):
    (tmp_path / "config.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(Unsupported) as refused:
        model_folder(str(tmp_path))
    assert refused.value.cause.code == "engine.bad_settings"


def test_as_many_layers_as_models_have_are_none_too_many():
    assert endless({"num_hidden_layers": 400, "text_config": {"num_hidden_layers": 10_000}, "layer_types": []}) is None
