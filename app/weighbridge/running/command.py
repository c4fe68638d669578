"""How an engine's process is started: argv and environment. Pure."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from weighbridge_engines.api import KEY_VARIABLE, Engine, Load

_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


def command(engine: Engine, load: Load, port: int, frozen: bool) -> list[str]:
    """The engine's own program, or the worker that hosts its library."""
    if engine.command is not None:
        return engine.command(load, port)
    return [*worker_argv(frozen), engine.id, "--port", str(port), "--load", json.dumps(load.as_json())]


def worker_argv(frozen: bool) -> list[str]:
    """How the worker is started from here; a frozen build brings it as a program of its own."""
    if frozen:
        return [str(Path(sys.executable).with_name("weighbridge-worker"))]
    return [sys.executable, "-P", "-m", "weighbridge_engines.worker"]


def environment(engine: Engine, key: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Ours with the engine's own values and key; the Hub offline, telemetry off, no Hub token."""
    kept = {name: value for name, value in inherited.items() if name not in _SECRETS}
    return {**kept, **_QUIET, **engine.environment, KEY_VARIABLE: key}
