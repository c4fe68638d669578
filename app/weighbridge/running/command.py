"""How an engine's process is started: argv and environment. Pure."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from weighbridge.base.errors import EngineFailed, Refused
from weighbridge.running.launcher import without_bundle
from weighbridge_engines.api import Engine, Load, Unsupported

_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_OF_OUR_PYTHON = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
_OF_A_PROGRAM = ("LLAMA_ARG_", "LLAMA_API_KEY")
"""Settings of llama-server by environment: they would change a load that names them not, and nobody would see why."""


def command(engine: Engine, load: Load, port: int, frozen: bool) -> list[str]:
    """The engine's own program, or the worker that hosts its library.

    Raises EngineFailed where this build of it cannot do what the load asks for.
    """
    if engine.command is not None:
        try:
            return engine.command(load, port)
        except Unsupported as refusal:
            values = {"engine": engine.title, "place": engine.program, **refusal.cause.values}
            raise EngineFailed(refusal.cause.code, (), **values) from refusal
    return [*worker_argv(engine, frozen), engine.id, "--port", str(port), "--load", json.dumps(load.as_json())]


def check_load(engine: Engine, load: Load) -> None:
    """Raise Refused where `engine` could not follow what `load` asks for."""
    try:
        engine.check(load)
    except Unsupported as refusal:
        raise Refused(refusal.cause.code, engine=engine.title, **refusal.cause.values) from refusal


def worker_argv(engine: Engine, frozen: bool) -> list[str]:
    """How the worker of `engine` is started: by the Python of its own environment, or by ours.

    A frozen build brings ours as a program of its own.
    """
    if engine.python is not None:
        return [engine.python, "-P", "-s", "-m", "weighbridge_engines.worker"]
    if frozen:
        return [str(Path(sys.executable).with_name("weighbridge-worker"))]
    return [sys.executable, "-P", "-m", "weighbridge_engines.worker"]


def environment(engine: Engine, key: str, inherited: Mapping[str, str], load: Load | None = None) -> dict[str, str]:
    """Ours with the engine's own values and key, and those of `load`; the Hub offline, telemetry off, no Hub token.

    What is not hosted by our own Python gets nothing of ours on its path but `engine.host`.
    """
    kept = {name: value for name, value in inherited.items() if name not in _SECRETS}
    if engine.python is not None or engine.program is not None:
        kept = without_ours(kept)
    host = {} if engine.host is None else {"PYTHONPATH": engine.host}
    asked = {} if load is None else engine.environment_of(load)
    return {**kept, **host, **_QUIET, **engine.environment, **asked, engine.key_variable: key}


def without_ours(inherited: Mapping[str, str]) -> dict[str, str]:
    """`inherited` for a program that is not ours: our Python, and the libraries of a frozen build, are not for it."""
    theirs = without_bundle(inherited, bool(getattr(sys, "frozen", False)))
    ours = {name for name in theirs if name in _OF_OUR_PYTHON or name.startswith(_OF_A_PROGRAM)}
    return {name: value for name, value in theirs.items() if name not in ours}
