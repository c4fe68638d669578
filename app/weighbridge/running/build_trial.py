"""Whether a build works here: it tells its devices, and writes one token with a model that is here."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.library.model import Model
from weighbridge.running.choose import default_load, unsuited
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.precheck import check_files
from weighbridge.running.process import EngineProcess
from weighbridge.running.questions import Ask, ask_worker, last_line
from weighbridge.running.state import State
from weighbridge_engines.api import Engine

MOST_MODEL_BYTES = 8 << 30
LIMIT_S = 180.0
"""How long a load may show no sign of going on. One that compiles its kernels first takes longer, and shows it."""
_POLL_S = 0.1
_CONTEXT = 512


_OF_THE_MODEL = frozenset(
    {
        "engine.bad_model_file", "engine.file_changed", "engine.file_too_new", "engine.file_too_old",
        "engine.no_tokenizer", "engine.other_layout", "engine.own_code", "engine.template", "engine.type_removed",
        "engine.type_unknown", "engine.unknown_architecture", "engine.unknown_tokenizer", "exl.no_tokenizer",
        "onnx_genai.no_config", "onnx_genai.no_tokenizer", "onnx_genai.option", "onnx_genai.other_build",
        "onnx_genai.path", "onnx_genai.provider", "openvino.architecture", "openvino.no_tokenizer",
        "openvino.tensor_type", "openvino.tensor_types", "program.quantisation_unknown",
    }
)  # fmt: skip
"""Why a load fails that says nothing of the build: another model may well run."""


def trial_model(models: Iterable[Model], engine: Engine) -> Model | None:
    """The smallest whole model that chats and that `engine` runs; None where none is here, or but huge ones."""
    able = (one for one in models if one.format in engine.formats and one.kind is Kind.CHAT and one.problem is None)
    small = [one for one in able if one.size_bytes <= MOST_MODEL_BYTES and unsuited(one, engine) is None]
    return min(small, key=lambda model: model.size_bytes, default=None)


def version_told(engine: Engine, ask_child: Ask | None = None) -> str | None:
    """The version of an engine's library in its own environment; None where it does not tell."""
    try:
        told = json.loads(last_line(ask_worker(engine, "--version", ask_child).out))["version"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return told if isinstance(told, str) else None


def writes_a_token(engine: Engine, model: Model, environment: Mapping[str, str], task: Task) -> bool:
    """Load `model` and have it answer; False where its own files are at fault, which says nothing of the build.

    Raises what the load fails with, EngineFailed("build.slow") where it shows no sign of going on for LIMIT_S, and
    Cancelled.
    """
    try:
        check_files(model)
    except WeighbridgeError:
        return False
    load = replace(default_load(model, machine_defaults(_CONTEXT)), context=_CONTEXT)
    wake = threading.Event()
    process = EngineProcess(engine, model, load, environment, wake.set)
    try:
        while (still_s := process.running.still_s(time.monotonic())) is not None and still_s < LIMIT_S:
            wake.wait(_POLL_S)
            wake.clear()
            task.check()
    finally:
        reached = process.running
        process.stop()
        process.join()
    if reached.error is not None and reached.error.code in _OF_THE_MODEL:
        return False
    if reached.error is not None:
        raise reached.error
    if reached.state is not State.READY:
        raise EngineFailed("build.slow", process.log.lines(), engine=engine.title, limit_s=int(LIMIT_S))
    return True
