"""Which engine can run a file: a field of its own beside the fit, for a file may fit and nothing here can run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weighbridge.base.errors import Refused
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.ability import knows_cards, needs_card, unable
from weighbridge.running.choose import could_be_here, engines_for, unsuited
from weighbridge_engines.api import Cause, Engine

RUN_BY: Mapping[str, Mapping[str, str]] = {
    "gguf": {"llama_server": "llama.cpp", "llama_cpp": "llama-cpp-python"},
    "mlx": {"mlx": "MLX"},
    "exl2": {"exllamav2": "ExLlamaV2"},
    "exl3": {"exllamav3": "ExLlamaV3"},
    "onnx": {"onnx_genai": "ONNX Runtime GenAI"},
    "openvino": {"openvino": "OpenVINO GenAI"},
    "awq": {"vllm": "vLLM"},
    "gptq": {"vllm": "vLLM"},
    "fp8": {"vllm": "vLLM"},
    "nvfp4": {"vllm": "vLLM"},
    "mxfp4": {"vllm": "vLLM"},
    "compressed-tensors": {"vllm": "vLLM"},
    "bitsandbytes": {"transformers": "transformers"},
    "safetensors": {"transformers": "transformers"},
}
"""Who runs a format, by id with title, where no engine that is handed in does: the first by default."""

CALCULATED = ("llama_server", "llama_cpp", "mlx", "exllamav2", "exllamav3", "onnx_genai", "openvino")
"""Engines whose way with memory is known."""

ONLY_ON = {"exllamav2": ("nvidia",), "exllamav3": ("nvidia",), "mlx": ("apple", "nvidia")}
"""Whose cards an engine of another kind than llama.cpp needs."""

NO_PROCESSOR = frozenset({"exllamav2", "exllamav3"})
"""Engines that compute on cards alone."""

NEEDS_CARD = frozenset({"program.needs_card", "program.needs_newer_card"})
"""Why an engine runs nothing on a machine, whatever is installed."""

NOT_OURS = "engine.not_ours"
"""Why an engine that is not among those handed in runs nothing now."""


@dataclass(frozen=True)
class Runner:
    """Who runs a file. `missing` says why not now: None where an installed engine does.

    `engine_id` is that of an engine that was handed in, or of RUN_BY. Where it does not suit (`suits` is False), it
    runs other files of the format, and `missing` says why not this one.
    """

    engine_id: str
    title: str
    missing: Cause | None = None
    suits: bool = True

    @property
    def installed(self) -> bool:
        """Whether it can be run as things are."""
        return self.missing is None

    @property
    def lacks_card(self) -> bool:
        """Whether it needs a card that is not here: nothing that can be installed helps."""
        return self.missing is not None and self.missing.code in NEEDS_CARD


def runner_for(
    format_id: str,
    engines: Iterable[Engine],
    engine_id: str | None = None,
    model: Model | None = None,
    machine: Machine | None = None,
) -> Runner | None:
    """The engine that would run a format: the first installed one, else the first; None where nobody knows it. With
    `model`, of that format: one that does not know why it cannot run this very one, where there is any. With `machine`:
    one that can compute on it, where there is any.

    With `engine_id`: that one. Raises Refused("engine.not_for_format") where it does not run the format.
    """
    able = engines_for(format_id, engines, machine=machine)
    if engine_id is not None:
        return _chosen(format_id, able, engine_id, model, machine)
    suited = able if model is None else [engine for engine in able if unsuited(model, engine) is None]
    for engine in suited:
        if engine.missing() is None and unable(engine, machine) is None:
            return Runner(engine.id, engine.title)
    if able:
        left = suited or able
        return _as_it_stands(next(filter(could_be_here, left), left[0]), model, machine)
    known = next(iter(RUN_BY.get(format_id, ())), None)
    return _not_ours(format_id, known) if known else None


def _as_it_stands(engine: Engine, model: Model | None, machine: Machine | None) -> Runner:
    cause = None if model is None else unsuited(model, engine)
    if cause is not None:
        return Runner(engine.id, engine.title, cause, suits=False)
    absent = engine.missing()
    never = unable(engine, machine) or (absent and _no_card(engine, machine))
    return Runner(engine.id, engine.title, never or absent)


def _no_card(engine: Engine, machine: Machine | None) -> Cause | None:
    """Of an engine that is to be installed: that it could compute on nothing here."""
    vendors = ONLY_ON.get(engine.id, ()) if engine.id in NO_PROCESSOR else ()
    if not vendors or machine is None or not knows_cards(machine):
        return None
    if any(device.vendor in vendors for device in machine.devices):
        return None
    return needs_card(engine, vendors)


def _chosen(
    format_id: str, able: Iterable[Engine], engine_id: str, model: Model | None, machine: Machine | None
) -> Runner:
    for engine in able:
        if engine.id == engine_id:
            return _as_it_stands(engine, model, machine)
    if engine_id not in RUN_BY.get(format_id, ()) or engine_id not in CALCULATED:
        raise Refused("engine.not_for_format", engine=engine_id, format=format_id)
    return _not_ours(format_id, engine_id)


def _not_ours(format_id: str, engine_id: str) -> Runner:
    title = RUN_BY[format_id][engine_id]
    return Runner(engine_id, title, Cause(NOT_OURS, {"engine": title, "format": format_id}))
