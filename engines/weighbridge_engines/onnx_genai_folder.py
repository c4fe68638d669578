"""A folder made for ONNX Runtime GenAI: what its genai_config.json says, and whether it may be loaded at all. Pure but
for `read`.

The file comes with a model, from a stranger, and the library does as it says: it would load a library of operators, or
write files to where an option of a session points. What is not known to be harmless is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause, Unsupported

CONFIG = "genai_config.json"
MOST_BYTES = 1 << 24

_HARMLESS = frozenset(
    {
        "enable_cpu_mem_arena", "enable_mem_pattern", "graph_optimization_level", "inter_op_num_threads",
        "intra_op_num_threads", "log_id", "log_severity_level", "log_verbosity_level", "provider_options",
        "use_env_allocators",
    }
)  # fmt: skip
"""Options of a session that name no file and no library."""

_OPTIONS = ("session_options", "run_options")
_PROVIDERS = frozenset({"cpu", "cuda", "dml", "webgpu"})
"""Those whose own options name no file and no library."""


def read(folder: Path) -> Mapping[str, Any]:
    """The folder's settings, checked. Raises Unsupported where it has none or they ask for too much."""
    try:
        with (folder / CONFIG).open("rb") as file:
            told = json.loads(file.read(MOST_BYTES).decode("utf-8-sig"))
    except OSError:
        raise Unsupported(Cause("onnx_genai.no_config", {"name": CONFIG})) from None
    except (ValueError, RecursionError):
        raise Unsupported(Cause("engine.bad_model_file")) from None
    if not isinstance(told, dict) or not isinstance(told.get("model"), dict):
        raise Unsupported(Cause("engine.bad_model_file"))
    if cause := danger(told):
        raise Unsupported(cause)
    return told


def danger(config: Mapping[str, Any]) -> Cause | None:
    """What in `config` would reach beyond the folder: an option, a provider or a file by name."""
    for name, value in _entries(config):
        if name in _OPTIONS and (option := _unknown_option(value)):
            return Cause("onnx_genai.option", {"option": option[:60], "name": CONFIG})
        if name == "provider_options" and (provider := _unknown_provider(value)):
            return Cause("onnx_genai.provider", {"provider": provider[:60]})
        if name.endswith("filename") and not _is_inside(value):
            return Cause("onnx_genai.path", {"path": str(value)[:200], "name": CONFIG})
    return None


def context_of(config: Mapping[str, Any]) -> int | None:
    """The longest context of the model, in tokens."""
    told = config["model"].get("context_length")
    return told if isinstance(told, int) and told > 0 else None


def vocabulary_of(config: Mapping[str, Any]) -> int | None:
    """How many tokens there are."""
    told = config["model"].get("vocab_size")
    return told if isinstance(told, int) and told > 0 else None


def cache_names(config: Mapping[str, Any]) -> list[str]:
    """The names of the outputs that are the KV cache."""
    decoder = config["model"].get("decoder") or {}
    layers, outputs = decoder.get("num_hidden_layers"), decoder.get("outputs") or {}
    patterns = [outputs.get(f"present_{each}_names") for each in ("key", "value")]
    if not isinstance(layers, int) or not all(isinstance(each, str) for each in patterns):
        return []
    return [str(pattern).replace("%d", str(layer)) for pattern in patterns for layer in range(layers)]


def _unknown_option(options: object) -> str | None:
    if not isinstance(options, dict):
        return str(options)
    return next((name for name in options if name not in _HARMLESS), None)


def _unknown_provider(options: object) -> str | None:
    each = options if isinstance(options, list) else [options]
    names = (name for one in each for name in (one if isinstance(one, dict) else {str(one): None}))
    return next((name for name in names if name.lower() not in _PROVIDERS), None)


def _is_inside(path: object) -> bool:
    return isinstance(path, str) and Path(path).name == path and "\\" not in path


def _entries(part: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict):
        yield from part.items()
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _entries(each)
