"""Every setting of a load that llama.cpp knows: what it may be, and which of the library's parameters it is. Pure.

How a parameter is said on a command line stands in `llama_command`. Names are those of `Load`'s fields where it has
one, so that engines share them; what only llama.cpp knows stands in `extra` under these names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weighbridge_engines.api import DRAFT_KINDS, SPLIT_MODES, TASKS, Cause, Load, Unsupported
from weighbridge_engines.controls import Change, Control, Home, Kind, asked, check
from weighbridge_engines.sampling import SAMPLING, told_bits

CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
_PLAIN_TYPES = ("f32", "f16", "bf16")
MOST_SLOTS = 256
"""LLAMA_MAX_SEQ: more sequences than this llama.cpp refuses."""

_MOST_TOKENS, _MOST_LAYERS, _MOST_THREADS = 1 << 30, 10_000, 512
_WARM_UP = 2
"""Tokens of the empty run after a load, begin and end of a text: in a batch of fewer the server ends itself."""
_MEMORY = frozenset({Change.MEMORY})
_SPEED = frozenset({Change.SPEED})
_ANSWERS = frozenset({Change.ANSWERS})
_BOTH = _MEMORY | _SPEED
_ALL = _BOTH | _ANSWERS


def _enumerated(prefix: str) -> Callable[[str], str]:
    """The name in an enumeration of the library: a prefix and the value in capitals."""
    return lambda value: prefix + value.upper()


def _either(yes: str, no: str) -> Callable[[bool], str]:
    return lambda value: yes if value else no


def _not(value: bool) -> bool:
    return not value


def _each_as_json(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value) for name, value in values.items()}


def _inverse(value: float) -> float:
    return 1 / value


_CONTEXT = (
    Control("context", "context", Kind.WHOLE, "n_ctx", _BOTH, low=_WARM_UP, high=_MOST_TOKENS, unit="tokens"),
    Control("slots", "context", Kind.WHOLE, "n_parallel", _BOTH, low=1, high=MOST_SLOTS, default=1),
    Control("unified", "context", Kind.SWITCH, "kv_unified", _MEMORY),
    Control("key_type", "context", Kind.CHOICE, "cache_type_k", _ALL, choices=CACHE_TYPES, default="f16",
            made=_enumerated("GGML_TYPE_")),
    Control("value_type", "context", Kind.CHOICE, "cache_type_v", _ALL, choices=CACHE_TYPES, default="f16",
            made=_enumerated("GGML_TYPE_")),
    Control("flash_attention", "context", Kind.SWITCH, "flash_attn_type", _BOTH,
            made=_either("LLAMA_FLASH_ATTN_TYPE_ENABLED", "LLAMA_FLASH_ATTN_TYPE_DISABLED")),
    Control("whole_window", "context", Kind.SWITCH, "swa_full", _BOTH, default=False),
    Control("context_shift", "context", Kind.SWITCH, "ctx_shift", _ANSWERS, Home.EXTRA, default=False),
)  # fmt: skip

_PROMPTS = (
    Control("batch", "prompt", Kind.WHOLE, "n_batch", _BOTH, low=_WARM_UP, high=65_536, unit="tokens", default=512),
    Control("micro_batch", "prompt", Kind.WHOLE, "n_ubatch", _BOTH, low=1, high=65_536, unit="tokens"),
    Control("prompt_cache_mib", "prompt", Kind.WHOLE, "cache_ram_mib", _BOTH, low=0, high=1 << 20, unit="MiB",
            default=512),
    Control("checkpoints", "prompt", Kind.WHOLE, "n_ctx_checkpoints", _BOTH, low=0, high=1024, default=32),
    Control("checkpoint_step", "prompt", Kind.WHOLE, "checkpoint_min_step", _BOTH, Home.EXTRA, low=0,
            high=_MOST_TOKENS, unit="tokens", default=8192),
    Control("prompt_reuse", "prompt", Kind.WHOLE, "n_cache_reuse", _SPEED, Home.EXTRA, low=0, high=_MOST_TOKENS,
            unit="tokens", default=0),
    Control("slot_similarity", "prompt", Kind.NUMBER, "slot_prompt_similarity", _SPEED, Home.EXTRA, low=0, high=1,
            default=0.1),
)  # fmt: skip

_PROCESSOR = (
    Control("threads", "processor", Kind.WHOLE, "cpuparams.n_threads", _SPEED, low=1, high=_MOST_THREADS),
    Control("batch_threads", "processor", Kind.WHOLE, "cpuparams_batch.n_threads", _SPEED, low=1, high=_MOST_THREADS),
    Control("thread_polling", "processor", Kind.WHOLE, "cpuparams.poll", _SPEED, Home.EXTRA, low=0, high=100,
            default=50),
    Control("mapped", "processor", Kind.SWITCH, "load_mode", _MEMORY,
            made=_either("LLAMA_LOAD_MODE_MMAP", "LLAMA_LOAD_MODE_NONE")),
    Control("locked", "processor", Kind.SWITCH, "load_mode", _MEMORY, Home.EXTRA, default=False),
    Control("reordered", "processor", Kind.SWITCH, "no_extra_bufts", _BOTH, Home.EXTRA, default=True, made=_not),
    Control("numa", "processor", Kind.CHOICE, "numa", _SPEED, Home.EXTRA, choices=("distribute", "isolate", "numactl"),
            made=_enumerated("GGML_NUMA_STRATEGY_")),
)  # fmt: skip

_CARDS = (
    Control("gpu_layers", "cards", Kind.WHOLE, "n_gpu_layers", _BOTH, low=0, high=_MOST_LAYERS, unit="layers"),
    Control("cpu_experts", "cards", Kind.WHOLE, "tensor_buft_overrides", _BOTH, low=0, high=_MOST_LAYERS,
            unit="layers", default=0),
    Control("split_mode", "cards", Kind.CHOICE, "split_mode", _BOTH, choices=SPLIT_MODES, default="layer",
            made=_enumerated("LLAMA_SPLIT_MODE_")),
    Control("split", "cards", Kind.NUMBERS, "tensor_split", _BOTH, low=0, high=1_000_000),
    Control("main_gpu", "cards", Kind.WHOLE, "main_gpu", _BOTH, low=0, high=127, default=0),
    Control("cache_on_card", "cards", Kind.SWITCH, "no_kv_offload", _BOTH, Home.EXTRA, default=True, made=_not),
    Control("work_on_card", "cards", Kind.SWITCH, "no_op_offload", _BOTH, Home.EXTRA, default=True, made=_not),
)  # fmt: skip

_BESIDE = (
    Control("draft", "beside", Kind.FILE, "speculative.draft.mparams.path", _BOTH),
    Control("draft_kind", "beside", Kind.CHOICE, "speculative.types", _BOTH, choices=DRAFT_KINDS, default="simple"),
    Control("draft_tokens", "beside", Kind.WHOLE, "speculative.draft.n_max", _SPEED, Home.EXTRA, low=1, high=1024,
            unit="tokens", default=3),
    Control("draft_least_tokens", "beside", Kind.WHOLE, "speculative.draft.n_min", _SPEED, Home.EXTRA, low=0, high=1024,
            unit="tokens", default=0),
    Control("draft_least_probability", "beside", Kind.NUMBER, "speculative.draft.p_min", _SPEED, Home.EXTRA, low=0,
            high=1, default=0.0),
    Control("draft_gpu_layers", "beside", Kind.WHOLE, "speculative.draft.n_gpu_layers", _BOTH, Home.EXTRA, low=0,
            high=_MOST_LAYERS, unit="layers"),
    Control("draft_key_type", "beside", Kind.CHOICE, "speculative.draft.cache_type_k", _BOTH, Home.EXTRA,
            choices=CACHE_TYPES, default="f16", made=_enumerated("GGML_TYPE_")),
    Control("draft_value_type", "beside", Kind.CHOICE, "speculative.draft.cache_type_v", _BOTH, Home.EXTRA,
            choices=CACHE_TYPES, default="f16", made=_enumerated("GGML_TYPE_")),
    Control("projector", "beside", Kind.FILE, "mmproj.path", _BOTH),
    Control("projector_on_card", "beside", Kind.SWITCH, "mmproj_use_gpu", _BOTH, Home.EXTRA, default=True),
    Control("image_least_tokens", "beside", Kind.WHOLE, "image_min_tokens", _ALL, Home.EXTRA, low=1, high=65_536,
            unit="tokens"),
    Control("image_most_tokens", "beside", Kind.WHOLE, "image_max_tokens", _ALL, Home.EXTRA, low=1, high=65_536,
            unit="tokens"),
    Control("adapters", "beside", Kind.FILES, "lora_adapters", _ALL),
    Control("adapter_scales", "beside", Kind.NUMBERS, "lora_adapters", _ANSWERS, low=-100, high=100),
)  # fmt: skip

_PREFIX_ROPE = "LLAMA_ROPE_SCALING_TYPE_"
_ROPE = (
    Control("rope_scaling", "rope", Kind.CHOICE, "rope_scaling_type", _ANSWERS, Home.EXTRA,
            choices=("none", "linear", "yarn"), made=_enumerated(_PREFIX_ROPE)),
    Control("rope_scale", "rope", Kind.NUMBER, "rope_freq_scale", _ANSWERS, Home.EXTRA, low=0.01, high=10_000,
            made=_inverse),
    Control("rope_base", "rope", Kind.NUMBER, "rope_freq_base", _ANSWERS, Home.EXTRA, low=1, high=1e12),
    Control("yarn_context", "rope", Kind.WHOLE, "yarn_orig_ctx", _ANSWERS, Home.EXTRA, low=1, high=_MOST_TOKENS,
            unit="tokens"),
    Control("yarn_mix", "rope", Kind.NUMBER, "yarn_ext_factor", _ANSWERS, Home.EXTRA, low=0, high=1),
    Control("yarn_attention", "rope", Kind.NUMBER, "yarn_attn_factor", _ANSWERS, Home.EXTRA, low=0, high=100),
    Control("yarn_slow", "rope", Kind.NUMBER, "yarn_beta_slow", _ANSWERS, Home.EXTRA, low=0, high=1000),
    Control("yarn_fast", "rope", Kind.NUMBER, "yarn_beta_fast", _ANSWERS, Home.EXTRA, low=0, high=1000),
)  # fmt: skip

_FORM = (
    Control("task", "form", Kind.CHOICE, "embedding", _BOTH, choices=TASKS, default="chat"),
    Control("pooling", "form", Kind.CHOICE, "pooling_type", _ANSWERS, Home.EXTRA,
            choices=("mean", "cls", "last", "rank"), made=_enumerated("LLAMA_POOLING_TYPE_")),
    Control("embedding_norm", "form", Kind.WHOLE, "embd_normalize", _ANSWERS, Home.EXTRA, low=-1, high=100, default=2),
    Control("template", "form", Kind.TEXT, "chat_template", _ANSWERS),
    Control("template_values", "form", Kind.VALUES, "default_template_kwargs", _ANSWERS, Home.EXTRA,
            made=_each_as_json),
    Control("thinking", "form", Kind.SWITCH, "enable_reasoning", _ANSWERS, Home.EXTRA, made=int),
    Control("thinking_tokens", "form", Kind.WHOLE, "sampling.reasoning_budget_tokens", _ANSWERS, Home.EXTRA, low=-1,
            high=_MOST_TOKENS, unit="tokens", default=-1),
)  # fmt: skip

ARGUMENTS = Control("arguments", "raw", Kind.LINES, "", _ALL, Home.EXTRA)
ATTRIBUTES = Control("attributes", "raw", Kind.VALUES, "", _ALL, Home.EXTRA)

OURS = frozenset(
    {
        "-m", "--model", "--model-url", "-mu", "-hf", "-hfr", "--hf-repo", "-hff", "--hf-file", "-hft", "--hf-token",
        "-dr", "--docker-repo", "-hfd", "-hfrd", "--hf-repo-draft", "--spec-draft-hf", "-mmu", "--mmproj-url",
        "-a", "--alias", "--host", "--port", "--reuse-port", "--api-key", "--api-key-file", "--api-prefix", "--path",
        "--cors-origins", "--cors-methods", "--cors-headers", "--cors-credentials", "--no-cors-credentials",
        "--ui", "--webui", "--no-ui", "--no-webui", "--ui-mcp-proxy", "--webui-mcp-proxy", "--tools", "--tools-runtime",
        "--agent", "-ag", "--mcp-servers-config", "--mcp-servers-json", "--media-path", "--models-dir",
        "--models-preset", "--models-max", "--models-autoload", "--offline", "--log-disable", "--log-file",
        "--log-prompts-dir", "--slot-save-path", "--ssl-key-file", "--ssl-cert-file", "-lv", "--verbosity",
        "--log-verbosity", "-v", "--verbose", "--log-verbose", "-h", "--help", "--version", "--list-devices",
        "api_keys", "hostnames", "port", "reuse_port", "api_prefix", "public_path", "cors_origins", "cors_methods",
        "cors_headers", "cors_credentials", "cors_origins_explicit", "ui", "ui_mcp_proxy", "server_tools",
        "server_tools_runtime", "mcp_servers_config", "mcp_servers_json", "media_path", "models_dir", "models_preset",
        "models_preset_hf", "models_max", "models_autoload", "offline", "hf_token", "model", "model_alias", "mmproj",
        "slot_save_path", "path_prompts_log_dir", "ssl_file_cert", "ssl_file_key", "verbosity", "no_alloc",
    }
)  # fmt: skip
"""Options of the program and attributes of the library that are not for a load to say: where the server listens, who
may ask it, what it may read or fetch, and the log by which we know what it does.
"""

CONTROLS = (
    *_CONTEXT, *_PROMPTS, *_PROCESSOR, *_CARDS, *_BESIDE, *_ROPE, *_FORM, *SAMPLING, ARGUMENTS, ATTRIBUTES,
)  # fmt: skip
"""All of them, in the order in which they are shown."""

COMPOSED = frozenset(
    {
        "context", "slots", "unified", "batch", "micro_batch", "threads", "batch_threads", "gpu_layers", "cpu_experts",
        "split", "mapped", "locked", "draft", "draft_kind", "adapters", "adapter_scales", "task", "samplers",
        "arguments", "attributes",
    }
)  # fmt: skip
"""Settings that are no parameter by themselves: `llama_server.values` puts these together."""


def direct(load: Load) -> dict[str, Any]:
    """The parameters of all settings that are each one parameter, for what `load` asks for."""
    told = asked(load, CONTROLS)
    made = {
        one.parameter: one.made(told[one.name]) for one in CONTROLS if one.name in told and one.name not in COMPOSED
    }
    if bits := told_bits(frozenset(load.sampling)):
        made["sampling.user_sampling_config"] = bits
    return made


def checked(load: Load) -> None:
    """Raise Unsupported where llama.cpp cannot do what `load` asks for, with a "setting." code that names it.

    One setting alone: "setting.kind.…", "setting.range", "setting.choice", "setting.unknown". Two that do not go
    together: "setting.needs", with `needs`. What is ours to say in a raw one: "setting.ours".
    """
    check(load, CONTROLS)
    for name, needs, met in _needs(load):
        if not met:
            raise Unsupported(Cause("setting.needs", {"name": name, "needs": needs}))
    for word in load.extra.get("arguments", ()):
        if (option := word.partition("=")[0]) in OURS:
            raise Unsupported(Cause("setting.ours", {"name": option}))
    for name in load.extra.get("attributes", {}):
        if name in OURS or name.partition(".")[0] in OURS:
            raise Unsupported(Cause("setting.ours", {"name": str(name)[:60]}))


def checked_for_library(load: Load) -> None:
    """`checked`, where the library runs the load: it takes no arguments."""
    checked(load)
    if load.extra.get("arguments"):
        raise Unsupported(Cause("setting.only_program", {"name": "arguments"}))


def checked_for_program(load: Load) -> None:
    """`checked`, where a program runs the load: it has no attributes, and takes its own schema for one that begins
    before the answer, so that it answers no chat.
    """
    checked(load)
    if "json_schema" in load.sampling:
        raise Unsupported(Cause("setting.only_library", {"name": "json_schema"}))
    if load.extra.get("attributes"):
        raise Unsupported(Cause("setting.only_library", {"name": "attributes"}))


def _needs(load: Load) -> Iterator[tuple[str, str, bool]]:
    """What is asked for, what it needs, and whether that is so."""
    if load.value_type not in (None, *_PLAIN_TYPES):
        yield "value_type", "flash_attention", load.flash_attention is not False
    if load.adapter_scales:
        yield "adapter_scales", "adapters", len(load.adapter_scales) == len(load.adapters)
    if load.split is not None:
        yield "split", "split", any(load.split)
    if load.draft_kind not in ("simple", "mtp"):
        yield "draft_kind", "draft", load.draft is not None
    if "grammar" in load.sampling:
        yield "grammar", "json_schema", "json_schema" not in load.sampling
    if load.unified is not True and load.context is not None:
        yield "slots", "context", load.context >= load.slots


def words_for(load: Load) -> tuple[str, ...]:
    """The arguments that a load adds as they are to a program's command line."""
    return tuple(map(str, load.extra.get("arguments", ())))
