"""The parameters of llama.cpp's server for a load: the wheel's record and a command line are both made of them. Pure.

The wheel's defaults are not llama-server's; all that matters is set here. One answer at a time for each slot; no web
page, no other origin, nothing fetched.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

from weighbridge_engines.api import Load
from weighbridge_engines.llama_command import arguments, unsaid
from weighbridge_engines.llama_settings import direct, words_for

LOG_LEVEL = 4
"""The least that prints buffer sizes and effective values; about 190 lines a load."""

DEFAULT_BATCH = 512
CACHE_RAM_MIB = 512
"""Host memory for prompts of earlier conversations.

The engine's own default, 8192, is more than a laptop has to spare.
"""

SHOWN_PORT = 8080
"""In a command line that is shown: ours is another one each time."""

MOST_GPUS = 128
"""The wheel wants a share for each of so many."""

_EXPERTS = r"blk\.{layer}\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU"


def values(load: Load, port: int, key: str) -> dict[str, Any]:
    """The server's parameters for `load`, by their names in `CommonParams` ("a.b" is attribute b of attribute a).

    A value of an enumeration stands as its name, an adapter as its path and its strength. Prompts that were read with
    other adapters must not be taken for the same, so with adapters none are kept.
    """
    return {
        "model.path": load.model,
        "n_ctx": load.context or 0,
        "n_parallel": load.slots,
        "kv_unified": load.slots > 1 if load.unified is None else load.unified,
        "n_batch": batch_of(load),
        "n_ubatch": load.micro_batch or batch_of(load),
        "n_gpu_layers": -1 if load.gpu_layers is None else load.gpu_layers,
        "fit_params": False,
        "cache_ram_mib": CACHE_RAM_MIB,
        "hostnames": ["127.0.0.1"],
        "port": port,
        "api_keys": [key],
        "ui": False,
        "offline": True,
        "cors_origins": "http://127.0.0.1",
        "cors_credentials": False,
        "verbosity": LOG_LEVEL,
        **_composed(load),
        **direct(load),
        **({"cache_ram_mib": 0} if load.adapters else {}),
    }


def batch_of(load: Load) -> int:
    """Tokens of a prompt handed over at a time. What is not read from left to right is read as a whole."""
    whole = load.context if load.task != "chat" else None
    return load.batch or whole or DEFAULT_BATCH


def _composed(load: Load) -> dict[str, Any]:
    """The parameters that are made of more than one setting, and are left to the engine unless `load` names them."""
    split, experts = load.split or (), range(load.cpu_experts or 0)
    composed = {
        "model_alias": {load.alias} if load.alias else None,
        "cpuparams.n_threads": load.threads,
        "cpuparams_batch.n_threads": load.batch_threads or load.threads,
        "load_mode": _load_mode(load.mapped, bool(load.extra.get("locked"))),
        "tensor_split": [*split, *[0.0] * (MOST_GPUS - len(split))] if split else None,
        "tensor_buft_overrides": ",".join(_EXPERTS.format(layer=layer) for layer in experts) or None,
        "speculative.draft.mparams.path": load.draft,
        "speculative.types": _draft_types(load),
        "lora_adapters": list(zip(load.adapters, chain(load.adapter_scales, repeat(1.0)), strict=False)) or None,
        "embedding": True if load.task != "chat" else None,
        "sampling.samplers": load.sampling.get("samplers"),
        "pooling_type": "LLAMA_POOLING_TYPE_RANK" if load.task == "rerank" else None,
    }
    return {name: value for name, value in composed.items() if value is not None}


def _load_mode(mapped: bool | None, locked: bool) -> str | None:
    if locked:
        return "LLAMA_LOAD_MODE_MLOCK" if mapped is False else "LLAMA_LOAD_MODE_MMAP_MLOCK"
    return None if mapped is None else f"LLAMA_LOAD_MODE_{'MMAP' if mapped else 'NONE'}"


def _draft_types(load: Load) -> list[str] | None:
    own_head = load.draft_kind == "mtp"
    return [f"COMMON_SPECULATIVE_TYPE_DRAFT_{load.draft_kind.upper()}"] if load.draft or own_head else None


def command_line(load: Load, port: int = SHOWN_PORT) -> list[str]:
    """The command line of `llama-server` that does the same as `load`, word by word, without any key.

    Attributes of the library for which there is no option are left out: see `unsaid`.
    """
    told = {**values(load, port, ""), **load.extra.get("attributes", {})}
    known = {name: value for name, value in told.items() if name not in unsaid(told)}
    return ["llama-server", *arguments(known), *words_for(load)]
