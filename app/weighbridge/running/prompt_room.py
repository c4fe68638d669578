"""How much host memory a load may keep what it has read of earlier prompts in. Pure.

llama.cpp's own defaults are made for servers: 8 GiB of prompts, and 32 places in each conversation to which a model
with windows or states can go back. With some models that is as much again as the model.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import checkpoint_bytes
from weighbridge.library.model import Model
from weighbridge.running.plans import plan_of
from weighbridge_engines.api import Load

_MIB = 1 << 20
SHARE = 32
"""One part in so many of the system's memory is for earlier prompts, and as much for places to go back to."""

ENGINE_ID = "llama_server"
"""The engine that keeps them, where the load names none."""

LEAST_MIB, MOST_MIB = 128, 8192
MOST_CHECKPOINTS = 32
"""llama.cpp's own defaults are the most that is ever set."""

Checkpoints = Callable[[Model, Load], int | None]
"""How many places of each conversation a load keeps; None leaves that to the engine."""


def prompt_cache_mib(memory_bytes: int | None) -> int | None:
    """For a machine with `memory_bytes`; None where that is not known."""
    return None if memory_bytes is None else min(max(memory_bytes // SHARE // _MIB, LEAST_MIB), MOST_MIB)


def checkpoints(blueprint: Blueprint | None, load: Load, engine_id: str) -> int | None:
    """For `load`: as many as take no more room than prompts may, at least one, so that an answer can be asked anew.

    None for a model that needs none, and where nothing is known.
    """
    if blueprint is None or load.prompt_cache_mib is None or load.task != "chat":
        return None
    each = checkpoint_bytes(blueprint.shape, plan_of(load, engine_id))
    if not each:
        return None
    return max(1, min(MOST_CHECKPOINTS, load.prompt_cache_mib * _MIB // load.slots // each))


def checkpoints_of(blueprint_of: Callable[[Model], Blueprint | None]) -> Checkpoints:
    """By the digests that `blueprint_of` gives."""
    return lambda model, load: checkpoints(blueprint_of(model), load, load.engine or ENGINE_ID)


def no_checkpoints(model: Model, load: Load) -> int | None:
    """Where no digests of models are at hand."""
    del model, load
    return None
