"""Every setting reaches the library's own record and the command line, and a wrong value is refused with its range."""

import json
import shutil
import subprocess
from dataclasses import replace
from functools import reduce

import pytest

from weighbridge_engines.api import Load, Unsupported
from weighbridge_engines.controls import Home, Kind, asked, value_of, with_value
from weighbridge_engines.llama_command import options_in
from weighbridge_engines.llama_parameters import command_line, values
from weighbridge_engines.llama_server import ENGINE, parameters
from weighbridge_engines.llama_settings import (
    ARGUMENTS,
    ATTRIBUTES,
    CONTROLS,
    checked,
    checked_for_library,
    checked_for_program,
)

BY_NAME = {control.name: control for control in CONTROLS}
SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}}'
FILES = Load("/m.gguf", draft="/d.gguf", adapters=("/l.gguf",))
ALONE = Load("/m.gguf")
REACHES = {
    "context": ("8192", "n_ctx", 8192, "--ctx-size 8192"),
    "slots": ("3", "n_parallel", 3, "--parallel 3"),
    "unified": ("on", "kv_unified", True, "--kv-unified"),
    "key_type": ("q8_0", "cache_type_k", "GGML_TYPE_Q8_0", "--cache-type-k q8_0"),
    "value_type": ("q4_0", "cache_type_v", "GGML_TYPE_Q4_0", "--cache-type-v q4_0"),
    "flash_attention": ("off", "flash_attn_type", "LLAMA_FLASH_ATTN_TYPE_DISABLED", "--flash-attn off"),
    "whole_window": ("on", "swa_full", True, "--swa-full"),
    "context_shift": ("on", "ctx_shift", True, "--context-shift"),
    "batch": ("96", "n_batch", 96, "--batch-size 96"),
    "micro_batch": ("48", "n_ubatch", 48, "--ubatch-size 48"),
    "prompt_cache_mib": ("77", "cache_ram_mib", 77, "--cache-ram 77"),
    "checkpoints": ("5", "n_ctx_checkpoints", 5, "--ctx-checkpoints 5"),
    "checkpoint_step": ("100", "checkpoint_min_step", 100, "--checkpoint-min-step 100"),
    "prompt_reuse": ("64", "n_cache_reuse", 64, "--cache-reuse 64"),
    "slot_similarity": ("0.5", "slot_prompt_similarity", 0.5, "--slot-prompt-similarity 0.5"),
    "threads": ("3", "cpuparams.n_threads", 3, "--threads 3"),
    "batch_threads": ("2", "cpuparams_batch.n_threads", 2, "--threads-batch 2"),
    "thread_polling": ("10", "cpuparams.poll", 10, "--poll 10"),
    "mapped": ("off", "load_mode", "LLAMA_LOAD_MODE_NONE", "--load-mode none"),
    "locked": ("on", "load_mode", "LLAMA_LOAD_MODE_MMAP_MLOCK", "--load-mode mmap+mlock"),
    "reordered": ("off", "no_extra_bufts", True, "--no-repack"),
    "numa": ("distribute", "numa", "GGML_NUMA_STRATEGY_DISTRIBUTE", "--numa distribute"),
    "gpu_layers": ("7", "n_gpu_layers", 7, "--gpu-layers 7"),
    "cpu_experts": ("1", "tensor_buft_overrides", r"blk\.0\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU", "ffn_"),
    "split_mode": ("row", "split_mode", "LLAMA_SPLIT_MODE_ROW", "--split-mode row"),
    "split": ("3,1", "tensor_split", [3.0, 1.0, *[0.0] * 126], "--tensor-split 3,1"),
    "main_gpu": ("1", "main_gpu", 1, "--main-gpu 1"),
    "cache_on_card": ("off", "no_kv_offload", True, "--no-kv-offload"),
    "work_on_card": ("off", "no_op_offload", True, "--no-op-offload"),
    "draft": ("/e.gguf", "speculative.draft.mparams.path", "/e.gguf", "--spec-draft-model /e.gguf"),
    "draft_kind": ("mtp", "speculative.types", ["COMMON_SPECULATIVE_TYPE_DRAFT_MTP"], "--spec-type draft-mtp"),
    "draft_tokens": ("9", "speculative.draft.n_max", 9, "--spec-draft-n-max 9"),
    "draft_least_tokens": ("2", "speculative.draft.n_min", 2, "--spec-draft-n-min 2"),
    "draft_least_probability": ("0.25", "speculative.draft.p_min", 0.25, "--spec-draft-p-min 0.25"),
    "draft_gpu_layers": ("4", "speculative.draft.n_gpu_layers", 4, "--spec-draft-ngl 4"),
    "draft_key_type": ("q8_0", "speculative.draft.cache_type_k", "GGML_TYPE_Q8_0", "--spec-draft-type-k q8_0"),
    "draft_value_type": ("q8_0", "speculative.draft.cache_type_v", "GGML_TYPE_Q8_0", "--spec-draft-type-v q8_0"),
    "projector": ("/p.gguf", "mmproj.path", "/p.gguf", "--mmproj /p.gguf"),
    "projector_on_card": ("off", "mmproj_use_gpu", False, "--no-mmproj-offload"),
    "image_least_tokens": ("16", "image_min_tokens", 16, "--image-min-tokens 16"),
    "image_most_tokens": ("512", "image_max_tokens", 512, "--image-max-tokens 512"),
    "adapters": ("/x.gguf", "lora_adapters", [("/x.gguf", 1.0)], "--lora /x.gguf"),
    "adapter_scales": ("0.5", "lora_adapters", [("/l.gguf", 0.5)], "--lora-scaled /l.gguf:0.5"),
    "rope_scaling": ("yarn", "rope_scaling_type", "LLAMA_ROPE_SCALING_TYPE_YARN", "--rope-scaling yarn"),
    "rope_scale": ("4", "rope_freq_scale", 0.25, "--rope-freq-scale 0.25"),
    "rope_base": ("500000", "rope_freq_base", 500000.0, "--rope-freq-base 500000"),
    "yarn_context": ("4096", "yarn_orig_ctx", 4096, "--yarn-orig-ctx 4096"),
    "yarn_mix": ("0.5", "yarn_ext_factor", 0.5, "--yarn-ext-factor 0.5"),
    "yarn_attention": ("1.5", "yarn_attn_factor", 1.5, "--yarn-attn-factor 1.5"),
    "yarn_slow": ("2", "yarn_beta_slow", 2.0, "--yarn-beta-slow 2"),
    "yarn_fast": ("16", "yarn_beta_fast", 16.0, "--yarn-beta-fast 16"),
    "task": ("embedding", "embedding", True, "--embedding"),
    "pooling": ("mean", "pooling_type", "LLAMA_POOLING_TYPE_MEAN", "--pooling mean"),
    "embedding_norm": ("-1", "embd_normalize", -1, "--embd-normalize -1"),
    "template": ("{{ 1 }}", "chat_template", "{{ 1 }}", "--chat-template {{ 1 }}"),
    "template_values": ('{"a": true}', "default_template_kwargs", {"a": "true"}, '--chat-template-kwargs {"a": true}'),
    "thinking": ("off", "enable_reasoning", 0, "--reasoning off"),
    "thinking_tokens": ("50", "sampling.reasoning_budget_tokens", 50, "--reasoning-budget 50"),
    "temperature": ("0.25", "sampling.temp", 0.25, "--temp 0.25"),
    "top_k": ("7", "sampling.top_k", 7, "--top-k 7"),
    "top_p": ("0.5", "sampling.top_p", 0.5, "--top-p 0.5"),
    "min_p": ("0.125", "sampling.min_p", 0.125, "--min-p 0.125"),
    "typical_p": ("0.5", "sampling.typ_p", 0.5, "--typical-p 0.5"),
    "dynatemp_range": ("0.5", "sampling.dynatemp_range", 0.5, "--dynatemp-range 0.5"),
    "dynatemp_exponent": ("2", "sampling.dynatemp_exponent", 2.0, "--dynatemp-exp 2"),
    "xtc_probability": ("0.5", "sampling.xtc_probability", 0.5, "--xtc-probability 0.5"),
    "xtc_threshold": ("0.25", "sampling.xtc_threshold", 0.25, "--xtc-threshold 0.25"),
    "repeat_penalty": ("1.5", "sampling.penalty_repeat", 1.5, "--repeat-penalty 1.5"),
    "repeat_last_n": ("32", "sampling.penalty_last_n", 32, "--repeat-last-n 32"),
    "frequency_penalty": ("0.5", "sampling.penalty_freq", 0.5, "--frequency-penalty 0.5"),
    "presence_penalty": ("-0.5", "sampling.penalty_present", -0.5, "--presence-penalty -0.5"),
    "dry_multiplier": ("0.75", "sampling.dry_multiplier", 0.75, "--dry-multiplier 0.75"),
    "dry_base": ("2", "sampling.dry_base", 2.0, "--dry-base 2"),
    "dry_allowed_length": ("3", "sampling.dry_allowed_length", 3, "--dry-allowed-length 3"),
    "dry_penalty_last_n": ("99", "sampling.dry_penalty_last_n", 99, "--dry-penalty-last-n 99"),
    "mirostat": ("2", "sampling.mirostat", 2, "--mirostat 2"),
    "mirostat_tau": ("3", "sampling.mirostat_tau", 3.0, "--mirostat-ent 3"),
    "mirostat_eta": ("0.5", "sampling.mirostat_eta", 0.5, "--mirostat-lr 0.5"),
    "adaptive_target": ("0.5", "sampling.adaptive_target", 0.5, "--adaptive-target 0.5"),
    "adaptive_decay": ("0.5", "sampling.adaptive_decay", 0.5, "--adaptive-decay 0.5"),
    "seed": ("42", "sampling.seed", 42, "--seed 42"),
    "ignore_eos": ("on", "sampling.ignore_eos", True, "--ignore-eos"),
    "samplers": ("top_k;temperature", "sampling.samplers", "top_k;temperature", "--samplers top_k;temperature"),
    "max_tokens": ("12", "n_predict", 12, "--predict 12"),
    "grammar": ('root ::= "a"', "sampling.grammar", 'root ::= "a"', '--grammar root ::= "a"'),
    "json_schema": (SCHEMA, "sampling.grammar", "integer", f"--json-schema {SCHEMA}"),
}
"""For each setting: what is said, the attribute that holds it and as what, and how a program is told."""


def plain(value):
    """A value of the wheel's record in plain words."""
    if isinstance(value, list) and value and hasattr(value[0], "scale"):
        return [(each.path, each.scale) for each in value]
    if isinstance(value, list) and value and hasattr(value[0], "name"):
        return [each.name for each in value]
    return getattr(value, "name", getattr(value, "grammar", value))


def test_each_setting_is_tried():
    assert set(REACHES) == set(BY_NAME) - {"arguments", "attributes"}


@pytest.mark.parametrize("name", REACHES)
def test_it_reaches_the_library_and_a_program(name):
    words, attribute, expected, option = REACHES[name]
    control = BY_NAME[name]
    load = with_value(ALONE if name == "prompt_cache_mib" else FILES, control, control.read(words))
    checked(load)
    held = plain(reduce(getattr, attribute.split("."), parameters(load, 1, "k")))
    assert expected in held if name == "json_schema" else held == expected
    assert option in " ".join(command_line(load))
    assert value_of(load, control) == control.read(words)
    assert value_of(with_value(load, control, None), control) == value_of(Load("/m.gguf"), control)


@pytest.mark.parametrize("name", ["context", "batch"])
def test_what_is_too_short_for_the_run_that_warms_up_is_refused(name):
    checked(Load("m", **{name: 2}))
    with pytest.raises(Unsupported) as refusal:
        checked(Load("m", **{name: 1}))
    assert (refusal.value.cause.code, refusal.value.cause.values["low"]) == ("setting.range", "2")


@pytest.mark.parametrize("control", [each for each in CONTROLS if each.low is not None], ids=lambda each: each.name)
def test_a_number_out_of_its_range_is_refused_with_the_range(control):
    for number in (control.low - 1, *([] if control.high is None else [control.high + 1])):
        value = (number,) if control.kind is Kind.NUMBERS else number
        with pytest.raises(Unsupported) as refusal:
            checked(with_value(FILES, control, value))
        told = refusal.value.cause
        assert (told.code, told.values["name"]) == ("setting.range", control.name)
        assert float(told.values["low"]) == pytest.approx(control.low)
    for number in (control.low, control.high):
        checked(with_value(FILES, control, (number or 1,) if control.kind is Kind.NUMBERS else number))


WRONG = {
    Kind.WHOLE: (1.5, True, "3"),
    Kind.NUMBER: (True, "3", float("nan"), float("inf")),
    Kind.NUMBERS: ((True,), "3", (float("nan"),)),
    Kind.CHOICE: (3, None.__class__),
    Kind.SWITCH: (1, "on"),
    Kind.TEXT: (3, "a\0b"),
    Kind.JSON: ("[", "[]", "[" * 100_000),
    Kind.FILE: (3,),
    Kind.FILES: ("/a", (3,)),
    Kind.LINES: ("--a", (3,)),
    Kind.VALUES: ("a", {"a": []}, {1: 2}),
}


@pytest.mark.parametrize("control", CONTROLS, ids=lambda each: each.name)
def test_a_value_of_another_kind_is_refused(control):
    for value in WRONG[control.kind]:
        with pytest.raises(Unsupported) as refusal:
            checked(with_value(FILES, control, value))
        assert refusal.value.cause.code == f"setting.kind.{control.kind}"


@pytest.mark.parametrize("control", [each for each in CONTROLS if each.choices], ids=lambda each: each.name)
def test_a_choice_is_one_of_those_that_there_are(control):
    with pytest.raises(Unsupported) as refusal:
        control.read("nothing")
    assert refusal.value.cause.code == "setting.choice"
    assert refusal.value.cause.values["known"] == ", ".join(control.choices)


@pytest.mark.parametrize(
    ("load", "name", "needs"),
    [
        (Load("m", value_type="q8_0", flash_attention=False), "value_type", "flash_attention"),
        (Load("m", adapter_scales=(1.0,)), "adapter_scales", "adapters"),
        (Load("m", split=(0.0, 0.0)), "split", "split"),
        (Load("m", draft_kind="eagle3"), "draft_kind", "draft"),
        (Load("m", sampling={"grammar": "root ::= []", "json_schema": "{}"}), "grammar", "json_schema"),
        (Load("m", context=3, slots=4), "slots", "context"),
    ],
)
def test_what_does_not_go_together(load, name, needs):
    with pytest.raises(Unsupported) as refusal:
        checked(load)
    assert refusal.value.cause.code == "setting.needs"
    assert refusal.value.cause.values == {"name": name, "needs": needs}


@pytest.mark.parametrize("home", [Home.SAMPLING, Home.EXTRA])
def test_an_unknown_setting_is_refused(home):
    with pytest.raises(Unsupported) as refusal:
        checked(Load("m", **{str(home): {"nothing": 1}}))
    assert (refusal.value.cause.code, refusal.value.cause.values["name"]) == ("setting.unknown", "nothing")


def test_arguments_go_to_a_program_as_they_are():
    load = with_value(Load("m"), ARGUMENTS, ARGUMENTS.read("--cpu-mask ff"))
    checked_for_program(load)
    assert command_line(load)[-2:] == ["--cpu-mask", "ff"]
    with pytest.raises(Unsupported):
        checked_for_library(load)


@pytest.mark.parametrize(
    "words", ["--api-key x", "--port=1", "--host 0.0.0.0", "--tools all", "-hf a/b", "--media-path /"]
)
def test_arguments_do_not_open_what_is_shut(words):
    with pytest.raises(Unsupported) as refusal:
        checked_for_program(with_value(Load("m"), ARGUMENTS, ARGUMENTS.read(words)))
    assert refusal.value.cause.code == "setting.ours"


def test_attributes_go_to_the_library_by_name():
    load = with_value(
        Load("m"), ATTRIBUTES, ATTRIBUTES.read('{"grp_attn_n": 2, "sampling.temp": 1, "cpuparams.poll": 5}')
    )
    checked_for_library(load)
    params = parameters(load, 1, "k")
    assert (params.grp_attn_n, params.sampling.temp, params.cpuparams.poll) == (2, 1.0, 5)
    assert "--poll 5" in " ".join(command_line(load))
    with pytest.raises(Unsupported):
        checked_for_program(load)


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"nothing": 1}, "setting.attribute"),
        ({"n_junk": "a"}, "setting.attribute"),
        ({"n_junk": True}, "setting.attribute"),
        ({"flash_attn_type": "NO"}, "setting.attribute"),
        ({"__class__": 1}, "setting.attribute"),
        ({"n_junk": 1 << 80}, "setting.attribute"),
        ({"api_keys": "x"}, "setting.ours"),
        ({"model.path": "x"}, "setting.ours"),
        ({"port": 1}, "setting.ours"),
    ],
)
def test_an_attribute_is_checked(attributes, code):
    load = Load("m", extra={"attributes": attributes})
    with pytest.raises(Unsupported) as refusal:
        checked_for_library(load)
        parameters(load, 1, "k")
    assert refusal.value.cause.code == code


def test_what_a_file_recommends_does_not_replace_what_was_said():
    told = values(Load("m", sampling={"temperature": 0.5, "top_k": 3, "dry_base": 2.0}), 1, "k")
    assert told["sampling.user_sampling_config"] == 64 + 2
    assert "sampling.user_sampling_config" not in values(Load("m"), 1, "k")


def test_a_load_that_asks_for_nothing_leaves_all_samplers_to_the_file():
    assert not [name for name in values(Load("m"), 1, "k") if name.startswith("sampling.")]


def test_a_model_that_reads_as_a_whole_is_given_the_whole():
    told = values(Load("m", task="rerank", context=2048), 1, "k")
    assert (told["n_batch"], told["n_ubatch"]) == (2048, 2048)
    assert told["pooling_type"] == "LLAMA_POOLING_TYPE_RANK"


def test_settings_survive_the_way_to_the_worker():
    load = replace(FILES, adapter_scales=(0.5,), sampling={"top_k": 3}, extra={"arguments": ("--a", "b")})
    assert Load.from_json(json.loads(json.dumps(load.as_json()))) == load


def test_what_is_asked_for_is_told_by_name():
    told = asked(Load("m", context=5, sampling={"top_k": 3}), CONTROLS)
    assert (told["context"], told["top_k"]) == (5, 3) and "adapters" not in told


def test_the_shown_command_line_holds_no_key():
    line = command_line(FILES)
    assert line[0] == "llama-server" and "--api-key" not in line and line[line.index("--port") + 1] == "8080"


def test_an_adapter_of_which_nothing_is_said_acts_as_it_was_trained():
    load = Load("m", adapters=("/a", "/b"), adapter_scales=(0.5,))
    assert values(load, 1, "k")["lora_adapters"] == [("/a", 0.5), ("/b", 1.0)]
    assert "lora_adapters" not in values(replace(load, adapters=()), 1, "k")


def test_no_prompts_are_kept_that_were_read_with_other_adapters():
    assert values(replace(FILES, prompt_cache_mib=512), 1, "k")["cache_ram_mib"] == 0


def test_the_engine_tells_its_settings_and_refuses():
    assert ENGINE.controls is CONTROLS
    with pytest.raises(Unsupported):
        ENGINE.check(Load("m", threads=0))


@pytest.mark.skipif(shutil.which("llama-server") is None, reason="no llama-server on PATH")
def test_a_program_here_knows_every_option():
    text = subprocess.run(["llama-server", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    known = options_in(text)
    for name, (words, *_) in REACHES.items():
        control = BY_NAME[name]
        line = command_line(with_value(FILES, control, control.read(words)))
        assert not [word for word in line if word.startswith("--") and word not in known]
