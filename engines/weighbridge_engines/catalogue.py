"""All engines: every module of this package that ends in `ENGINE`, or in `ENGINES` where data describe several.

The window is given `catalogue` and shows before it is called, so the contract is imported no sooner.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import weighbridge_engines

if TYPE_CHECKING:
    from weighbridge_engines.api import Engine


def catalogue() -> dict[str, Engine]:
    """The engines by id. Light: no engine's library is imported."""
    modules = (
        import_module(f"weighbridge_engines.{found.name}")
        for found in pkgutil.iter_modules(weighbridge_engines.__path__)
        if found.name != "worker"
    )
    engines = (engine for module in modules for engine in _of(module))
    return {engine.id: engine for engine in engines}


def engine_called(engine_id: str) -> Engine | None:
    """The engine of that id; None where there is none. Of a module that bears its name no other is imported, which
    would take most of the time in which a worker starts.
    """
    if engine_id != "worker" and engine_id in {
        found.name for found in pkgutil.iter_modules(weighbridge_engines.__path__)
    }:
        for engine in _of(import_module(f"weighbridge_engines.{engine_id}")):
            if engine.id == engine_id:
                return engine
    return catalogue().get(engine_id)


def _of(module: ModuleType) -> list[Engine]:
    from weighbridge_engines.api import Engine

    told = [getattr(module, "ENGINE", None), *getattr(module, "ENGINES", ())]
    return [engine for engine in told if isinstance(engine, Engine)]
