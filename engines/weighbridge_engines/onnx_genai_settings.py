"""What a load and a request mean for ONNX Runtime GenAI: its own names and values, checked. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbridge_engines import llama_settings
from weighbridge_engines.api import Load
from weighbridge_engines.controls import Change, Control, Home, Kind, check_alone
from weighbridge_engines.library_sampling import check_penalty, chosen, controls_of, is_greedy

DEFAULT_CONTEXT = 4096

_MEMORY, _SPEED = frozenset({Change.MEMORY}), frozenset({Change.SPEED})
_BOTH = _MEMORY | _SPEED

PARAMETERS = {
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "repeat_penalty": "repetition_penalty",
    "seed": "random_seed",
    "ignore_eos": "set_logits",
    "max_tokens": "",
}
"""What it knows of sampling, and its words for that; answers are ended, and go on past their end, by what we do."""

PROVIDERS: Mapping[str, str] = {"cpu": "", "cuda": "cuda", "directml": "dml", "webgpu": "webgpu"}
"""On what it may be told to compute, and its own names for that."""

_ONE_SLOT = next(replace(one, high=1) for one in llama_settings.CONTROLS if one.name == "slots")
_TEMPLATE = tuple(one for one in llama_settings.CONTROLS if one.name in ("template", "template_values"))
CONTROLS: tuple[Control, ...] = (
    Control("context", "context", Kind.WHOLE, "search.max_length", _BOTH, low=2, high=1 << 30, unit="tokens"),
    _ONE_SLOT,
    Control("batch", "prompt", Kind.WHOLE, "append_tokens", _BOTH, low=1, high=65_536, unit="tokens"),
    Control("threads", "processor", Kind.WHOLE, "session_options.intra_op_num_threads", _SPEED, low=1, high=512),
    Control("provider", "cards", Kind.CHOICE, "provider_options", _BOTH, Home.EXTRA, choices=tuple(PROVIDERS)),
    *_TEMPLATE,
    *controls_of(PARAMETERS, PARAMETERS),
)

_NOT_AT_ALL = (
    "unified", "key_type", "value_type", "flash_attention", "gpu_layers", "cpu_experts", "split", "split_mode",
    "main_gpu", "projector", "draft",
)  # fmt: skip


def provider_of(device: str) -> str:
    """What a load calls the provider of a device ("CPU", "CUDA", "DML") that the library names."""
    own = {name or "cpu": told for told, name in PROVIDERS.items()}
    return own.get(device.lower(), device.lower())


def checked(load: Load) -> None:
    """Raise Unsupported, with a "setting." code that names it, where `load` asks for what cannot be followed."""
    check_alone(load, CONTROLS, _NOT_AT_ALL)


def threads_of(load: Load) -> int:
    """Threads of the processor. One core is left free where nothing is asked for."""
    return load.threads or max(1, (os.cpu_count() or 2) - 1)


def context_for(load: Load, trained: int | None) -> int:
    """The context: as asked, but never longer than the model's own, which the library refuses."""
    wished = load.context or DEFAULT_CONTEXT
    return min(wished, trained) if trained else wished


def overlay(load: Load) -> dict[str, Any]:
    """What is laid over the folder's own settings."""
    return {"model": {"decoder": {"session_options": {"intra_op_num_threads": threads_of(load)}}}}


def search(asked: Mapping[str, float]) -> dict[str, Any]:
    """The search options that choose tokens. Raises RequestRefused for what the library does not have."""
    values = chosen(asked, PARAMETERS)
    check_penalty(values)
    told: dict[str, Any] = {"repetition_penalty": values["repeat_penalty"]}
    if is_greedy(values):
        return {**told, "do_sample": False}
    return {
        **told,
        "do_sample": True,
        "temperature": values["temperature"],
        "top_k": int(values["top_k"]),
        "top_p": values["top_p"],
        "random_seed": int(values["seed"]),
    }
