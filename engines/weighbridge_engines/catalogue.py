"""All engines: every module of this package that ends in `ENGINE`, or in `ENGINES` where data describe several.

The window is given `catalogue` and shows before it is called, so the contract is imported no sooner.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

import weighbridge_engines

if TYPE_CHECKING:
    from weighbridge_engines.api import Engine


def catalogue() -> dict[str, Engine]:
    """The engines by id. Light: no engine's library is imported."""
    return {engine.id: engine for name in _names() for engine in _of(name)}


def engine_called(engine_id: str) -> Engine | None:
    """The engine of that id; None where there is none. Of a module that bears its name no other is imported, which
    would take most of the time in which a worker starts.
    """
    own = _of(engine_id) if engine_id in _names() else ()
    return next((engine for engine in own if engine.id == engine_id), None) or catalogue().get(engine_id)


def _names() -> list[str]:
    """The modules of this package but for the worker, which is a program of its own."""
    return [found.name for found in pkgutil.iter_modules(weighbridge_engines.__path__) if found.name != "worker"]


def _of(name: str) -> list[Engine]:
    from weighbridge_engines.api import Engine

    module = import_module(f"weighbridge_engines.{name}")
    told = [getattr(module, "ENGINE", None), *getattr(module, "ENGINES", ())]
    return [engine for engine in told if isinstance(engine, Engine)]
