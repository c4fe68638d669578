"""What a load and a request mean for OpenVINO GenAI: its own names and values, checked. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbridge_engines import llama_settings
from weighbridge_engines.api import Cause, FileFacts, Load
from weighbridge_engines.controls import Change, Control, Home, Kind, check_alone
from weighbridge_engines.library_sampling import check_penalty, chosen, controls_of, is_greedy
from weighbridge_engines.openvino_device import CPU
from weighbridge_engines.prompt_steps import CARD_BATCH, prompt_step

DEFAULT_CONTEXT = 4096
_CPU_BLOCK, _CARD_BLOCK = 32, 16
"""Tokens of one block of the KV cache."""

_MEMORY, _SPEED, _ANSWERS = (frozenset({change}) for change in (Change.MEMORY, Change.SPEED, Change.ANSWERS))
_BOTH = _MEMORY | _SPEED
_ALL = _BOTH | _ANSWERS
_MOST_TOKENS = 1 << 30

PARAMETERS = {
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "repeat_penalty": "repetition_penalty",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "seed": "rng_seed",
    "ignore_eos": "ignore_eos",
    "max_tokens": "max_new_tokens",
    "grammar": "structured_output_config.grammar",
}
"""What it knows of sampling, and its words for that."""

_OF_RANDOM = ("temperature", "top_p", "min_p")
_PENALTIES = ("repeat_penalty", "frequency_penalty", "presence_penalty")

_ONE_SLOT = next(replace(one, high=1) for one in llama_settings.CONTROLS if one.name == "slots")
_TEMPLATE = tuple(one for one in llama_settings.CONTROLS if one.name in ("template", "template_values"))
CONTROLS: tuple[Control, ...] = (
    Control("context", "context", Kind.WHOLE, "num_kv_blocks", _BOTH, low=2, high=_MOST_TOKENS, unit="tokens"),
    _ONE_SLOT,
    Control("cached_tokens", "context", Kind.WHOLE, "num_kv_blocks", _BOTH, Home.EXTRA, low=2, high=_MOST_TOKENS,
            unit="tokens"),
    Control("cache_precision", "context", Kind.CHOICE, "KV_CACHE_PRECISION", _ALL, Home.EXTRA,
            choices=("u4", "u8", "bf16", "f16", "f32")),
    Control("batch", "prompt", Kind.WHOLE, "max_num_batched_tokens", _BOTH, low=1, high=65_536, unit="tokens"),
    Control("threads", "processor", Kind.WHOLE, "INFERENCE_NUM_THREADS", _SPEED, low=1, high=512),
    Control("precision", "processor", Kind.CHOICE, "INFERENCE_PRECISION_HINT", _ALL, Home.EXTRA,
            choices=("f32", "bf16", "f16")),
    Control("device", "cards", Kind.CHOICE, "device", _BOTH, Home.EXTRA,
            choices=(CPU, "GPU", "GPU.0", "GPU.1", "GPU.2", "GPU.3")),
    *_TEMPLATE,
    *controls_of(PARAMETERS, PARAMETERS),
)  # fmt: skip

_NOT_AT_ALL = (
    "unified", "key_type", "value_type", "flash_attention", "gpu_layers", "cpu_experts", "split", "split_mode",
    "main_gpu", "projector", "draft",
)  # fmt: skip

ARCHITECTURES = frozenset({"llama", "qwen2", "qwen3"})
TYPES = frozenset({"F32", "F16", "Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K"})
"""What its reader of GGUF files knows (openvino.genai, src/cpp/src/gguf_utils)."""


def suits(facts: FileFacts) -> Cause | None:
    """Why its reader of GGUF files cannot read this one."""
    if facts.format != "gguf":
        return None
    if facts.architecture is not None and facts.architecture not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        return Cause("openvino.architecture", {"architecture": facts.architecture[:60], "known": known})
    if others := (facts.tensor_types or frozenset()) - TYPES:
        return Cause("openvino.tensor_type", {"type": min(others)[:60], "known": ", ".join(sorted(TYPES))})
    return None


def checked(load: Load) -> None:
    """Raise Unsupported, with a "setting." code that names it, where `load` asks for what cannot be followed."""
    check_alone(load, CONTROLS, _NOT_AT_ALL)


def device_of(load: Load) -> str:
    """On what to compute: the processor unless `load` names a device, as one does that is `placed`."""
    return str(load.extra.get("device", CPU))


def block_of(load: Load) -> int:
    """Tokens of one block of the KV cache."""
    return _CPU_BLOCK if device_of(load) == CPU else _CARD_BLOCK


def threads_of(load: Load) -> int:
    """Threads of the processor. One core is left free where nothing is asked for."""
    return load.threads or max(1, (os.cpu_count() or 2) - 1)


def properties(load: Load) -> dict[str, Any]:
    """The properties of the device. On the processor it computes in f32 unless told otherwise: its own choice there may
    be bfloat16, which gave other answers, no faster with AVX-512.
    """
    told: dict[str, Any] = {}
    if device_of(load) == CPU:
        told = {"INFERENCE_NUM_THREADS": threads_of(load), "INFERENCE_PRECISION_HINT": "f32"}
    if "precision" in load.extra:
        told["INFERENCE_PRECISION_HINT"] = load.extra["precision"]
    if "cache_precision" in load.extra:
        told["KV_CACHE_PRECISION"] = load.extra["cache_precision"]
    return told


def scheduling(load: Load, context: int, weights_bytes: int) -> dict[str, Any]:
    """The fields of its `SchedulerConfig`: room for `context` tokens, and for earlier ones if asked."""
    kept = max(context, load.extra.get("cached_tokens", 0))
    step = prompt_step(weights_bytes, threads_of(load)) if device_of(load) == CPU else CARD_BATCH
    return {
        "num_kv_blocks": -(-kept // block_of(load)) + 1,
        "max_num_batched_tokens": load.batch or step,
        "dynamic_split_fuse": True,
        "enable_prefix_caching": True,
        "max_num_seqs": 1,
    }


def generation(asked: Mapping[str, float], seed: int) -> dict[str, Any]:
    """The fields of its `GenerationConfig` that choose tokens; `seed` is for an answer that asks for none.

    Raises RequestRefused for what it does not have.
    """
    values = chosen(asked, PARAMETERS)
    check_penalty(values)
    told: dict[str, Any] = {PARAMETERS[name]: values[name] for name in _PENALTIES}
    if is_greedy(values):
        return {**told, "do_sample": False}
    told |= {PARAMETERS[name]: values[name] for name in _OF_RANDOM}
    if values["top_k"]:
        told["top_k"] = int(values["top_k"])
    wished = int(values["seed"])
    return {**told, "do_sample": True, "rng_seed": wished if wished >= 0 else seed}
