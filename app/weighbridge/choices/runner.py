"""Which engine can run a file: a field of its own beside the fit, for a file may fit and nothing here can run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weighbridge.base.errors import Refused
from weighbridge.running.choose import engines_for
from weighbridge_engines.api import Cause, Engine

KNOWN_RUNNERS: Mapping[str, str] = {
    "gguf": "llama.cpp",
    "mlx": "MLX",
    "exl2": "ExLlamaV2",
    "exl3": "ExLlamaV3",
    "onnx": "ONNX Runtime GenAI",
    "openvino": "OpenVINO GenAI",
    "awq": "vLLM",
    "gptq": "vLLM",
    "fp8": "vLLM",
    "nvfp4": "vLLM",
    "mxfp4": "vLLM",
    "compressed-tensors": "vLLM",
    "bitsandbytes": "transformers",
    "safetensors": "transformers",
}
"""Who runs a format at all, for those that no engine of ours runs."""

OTHERS: Mapping[tuple[str, str], str] = {
    ("gguf", "llama_cpp"): "llama-cpp-python",
    ("mlx", "mlx"): "MLX",
    ("exl2", "exllamav2"): "ExLlamaV2",
    ("exl3", "exllamav3"): "ExLlamaV3",
    ("onnx", "onnx_genai"): "ONNX Runtime GenAI",
    ("openvino", "openvino"): "OpenVINO GenAI",
}
"""Engines whose memory can be calculated, by format and id, though none of them is part of this program yet."""

ENGINE_IDS: Mapping[str, str] = {
    "gguf": "llama_server",
    "mlx": "mlx",
    "exl2": "exllamav2",
    "exl3": "exllamav3",
    "onnx": "onnx_genai",
    "openvino": "openvino",
}
"""Whose memory is calculated for a format while no engine of ours runs it."""


@dataclass(frozen=True)
class Runner:
    """Who runs a file. `missing` says why not now: None where an installed engine does.

    `engine_id` is the engine whose memory was calculated.
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
    title = KNOWN_RUNNERS.get(format_id)
    if title is None:
        return None
    return Runner(
        ENGINE_IDS.get(format_id, ""), title, Cause("engine.not_ours", {"engine": title, "format": format_id})
    )


def _chosen(format_id: str, engines: Iterable[Engine], engine_id: str) -> Runner:
    for engine in engines_for(format_id, engines):
        if engine.id == engine_id:
            return Runner(engine.id, engine.title, engine.missing())
    title = OTHERS.get((format_id, engine_id))
    if title is None:
        raise Refused("engine.not_for_format", engine=engine_id, format=format_id)
    return Runner(engine_id, title, Cause("engine.not_ours", {"engine": title, "format": format_id}))
