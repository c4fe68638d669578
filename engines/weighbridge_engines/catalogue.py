"""All engines: every module of this package that ends in `ENGINE`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import weighbridge_engines
from weighbridge_engines.api import Engine


def catalogue() -> dict[str, Engine]:
    """The engines by id. Light: no engine's library is imported."""
    modules = (
        import_module(f"weighbridge_engines.{found.name}")
        for found in pkgutil.iter_modules(weighbridge_engines.__path__)
        if found.name != "worker"
    )
    engines = (getattr(module, "ENGINE", None) for module in modules)
    return {engine.id: engine for engine in engines if isinstance(engine, Engine)}
