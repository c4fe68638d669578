"""Which engine can run a file: a field of its own beside the fit, for a file may fit and nothing here can run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weighbridge.base.errors import Refused
from weighbridge.running.choose import engines_for
from weighbridge_engines.api import Cause, Engine

TITLES: Mapping[str, str] = {
    "llama_server": "llama.cpp",
    "llama_cpp": "llama-cpp-python",
    "mlx": "MLX",
    "exllamav2": "ExLlamaV2",
    "exllamav3": "ExLlamaV3",
    "onnx_genai": "ONNX Runtime GenAI",
    "openvino": "OpenVINO GenAI",
    "vllm": "vLLM",
    "transformers": "transformers",
}
"""Engines that run some format, whether or not they are part of this program yet."""

RUN_BY: Mapping[str, tuple[str, ...]] = {
    "gguf": ("llama_server", "llama_cpp"),
    "mlx": ("mlx",),
    "exl2": ("exllamav2",),
    "exl3": ("exllamav3",),
    "onnx": ("onnx_genai",),
    "openvino": ("openvino",),
    "awq": ("vllm",),
    "gptq": ("vllm",),
    "fp8": ("vllm",),
    "nvfp4": ("vllm",),
    "mxfp4": ("vllm",),
    "compressed-tensors": ("vllm",),
    "bitsandbytes": ("transformers",),
    "safetensors": ("transformers",),
}
"""Who runs a format at all, the first by default."""

CALCULATED = ("llama_server", "llama_cpp", "mlx", "exllamav2", "exllamav3", "onnx_genai", "openvino")
"""Engines whose way with memory is known."""


NOT_OURS = "engine.not_ours"
"""Why an engine that is no part of this program runs nothing now."""


@dataclass(frozen=True)
class Runner:
    """Who runs a file. `missing` says why not now: None where an installed engine does.

    `engine_id` is that of an engine: of ours, or of TITLES.
    """

    engine_id: str
    title: str
    missing: Cause | None = None

    @property
    def installed(self) -> bool:
        """Whether it can be run as things are."""
        return self.missing is None


def runner_for(format_id: str, engines: Iterable[Engine], engine_id: str | None = None) -> Runner | None:
    """The engine that would run a format: the first installed one, else the first; None where nobody knows it.

    With `engine_id`: that one. Raises Refused("engine.not_for_format") where it does not run the format.
    """
    if engine_id is not None:
        return _chosen(format_id, engines, engine_id)
    able = engines_for(format_id, engines)
    for engine in able:
        if engine.missing() is None:
            return Runner(engine.id, engine.title)
    if able:
        missing = able[0].missing()
        return Runner(able[0].id, able[0].title, missing)
    known = RUN_BY.get(format_id)
    return _not_ours(format_id, known[0]) if known else None


def _chosen(format_id: str, engines: Iterable[Engine], engine_id: str) -> Runner:
    for engine in engines_for(format_id, engines):
        if engine.id == engine_id:
            return Runner(engine.id, engine.title, engine.missing())
    if engine_id not in RUN_BY.get(format_id, ()) or engine_id not in CALCULATED:
        raise Refused("engine.not_for_format", engine=engine_id, format=format_id)
    return _not_ours(format_id, engine_id)


def _not_ours(format_id: str, engine_id: str) -> Runner:
    title = TITLES[engine_id]
    return Runner(engine_id, title, Cause(NOT_OURS, {"engine": title, "format": format_id}))
