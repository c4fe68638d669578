"""What a load means for llama-cpp-python: its own names and values, checked. Pure but for `filled`, which writes them.

Settings and their ranges are llama.cpp's, shared with its server; those that this library has no way to follow are not
among CONTROLS, and are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbridge_engines import llama_settings
from weighbridge_engines.api import Cause, Load, Unsupported
from weighbridge_engines.controls import Control, asked, check

DEFAULT_BATCH = 512
OUTPUTS = 32
"""Tokens of one batch whose probabilities can be told. The library's own default is a whole batch, which takes a table
of the vocabulary for each of its tokens: half a gigabyte for Gemma. Only `score` ever needs more than one.
"""

EXPERTS = rb"blk\.%d\.ffn_(up|down|gate|gate_up)_(ch|)exps"
"""The tensors of one layer's experts, as the library looks for them."""

_OF_MODEL = {
    "gpu_layers": "n_gpu_layers",
    "split_mode": "split_mode",
    "main_gpu": "main_gpu",
}
_OF_CONTEXT = {
    "key_type": "type_k",
    "value_type": "type_v",
    "flash_attention": "flash_attn_type",
    "whole_window": "swa_full",
    "cache_on_card": "offload_kqv",
    "work_on_card": "op_offload",
    "rope_scaling": "rope_scaling_type",
    "rope_scale": "rope_freq_scale",
    "rope_base": "rope_freq_base",
    "yarn_context": "yarn_orig_ctx",
    "yarn_mix": "yarn_ext_factor",
    "yarn_attention": "yarn_attn_factor",
    "yarn_slow": "yarn_beta_slow",
    "yarn_fast": "yarn_beta_fast",
}
_AS_ASKED = frozenset({"cache_on_card", "work_on_card"})
"""Switches that the server knows by their opposites."""

_IN_NEWER_BUILDS = frozenset({"n_outputs_max", "n_outputs_max_per_seq"})
"""What only saves memory; older builds have it not, and keep room for a whole batch."""

_PUT_TOGETHER = (
    "context", "batch", "micro_batch", "threads", "batch_threads", "mapped", "cpu_experts", "split", "adapters",
    "adapter_scales", "template", "template_values",
)  # fmt: skip
_LEFT_OUT = frozenset({"samplers"})
_BESIDE = ("projector", "draft")


def _ours(control: Control) -> bool:
    known = control.name in {*_OF_MODEL, *_OF_CONTEXT, *_PUT_TOGETHER}
    return known or (control.group == "sampling" and control.name not in _LEFT_OUT)


_ONE_SLOT = next(replace(one, high=1) for one in llama_settings.CONTROLS if one.name == "slots")
CONTROLS: tuple[Control, ...] = (_ONE_SLOT, *filter(_ours, llama_settings.CONTROLS))
"""The settings that this engine follows. It gives one answer at a time."""

_BY_NAME = {control.name: control for control in CONTROLS}


def checked(load: Load) -> None:
    """Raise Unsupported, with a "setting." code that names it, where `load` asks for what cannot be followed."""
    check(load, CONTROLS)
    for name in _BESIDE:
        if getattr(load, name) is not None:
            raise Unsupported(Cause("setting.unknown", {"name": name}))
    if load.task != "chat":
        raise Unsupported(Cause("setting.choice", {"name": "task", "value": load.task, "known": "chat"}))
    llama_settings.checked(load)  # what does not go together


def model_values(load: Load) -> dict[str, Any]:
    """The fields of `llama_model_params` that are plain; a value of an enumeration stands as its name."""
    values = {"n_gpu_layers": -1, **_named(load, _OF_MODEL)}
    if load.mapped is not None:
        values["load_mode"] = "LLAMA_LOAD_MODE_MMAP" if load.mapped else "LLAMA_LOAD_MODE_NONE"
    return values


def context_values(load: Load) -> dict[str, Any]:
    """The fields of `llama_context_params`; a value of an enumeration stands as its name."""
    batch = load.batch or DEFAULT_BATCH
    threads = load.threads or max(1, (os.cpu_count() or 2) - 1)
    return {
        "n_ctx": load.context or 0,
        "n_batch": batch,
        "n_ubatch": load.micro_batch or batch,
        "n_seq_max": 1,
        "n_outputs_max": min(OUTPUTS, batch),
        "n_outputs_max_per_seq": min(OUTPUTS, batch),
        "n_threads": threads,
        "n_threads_batch": load.batch_threads or threads,
        "swa_full": False,
        "no_perf": True,
        **_named(load, _OF_CONTEXT),
    }


def _named(load: Load, fields: Mapping[str, str]) -> dict[str, Any]:
    told = asked(load, CONTROLS)
    return {
        field: told[name] if name in _AS_ASKED else _BY_NAME[name].made(told[name])
        for name, field in fields.items()
        if name in told
    }


def filled(parameters: Any, values: Mapping[str, Any], library: Any) -> Any:
    """`parameters`, a structure of the library, with `values`. Raises Unsupported for a field that it does not have."""
    for name, value in values.items():
        if not hasattr(parameters, name):
            if name in _IN_NEWER_BUILDS:
                continue
            raise Unsupported(Cause("setting.unknown", {"name": name}))
        setattr(parameters, name, getattr(library, value) if isinstance(value, str) else value)
    return parameters
