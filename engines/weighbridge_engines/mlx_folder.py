"""What lies in a model's folder and can be told without MLX: its settings, the context it was trained for, and whether
the installed mlx-lm has a module for its architecture. Nothing is ever fetched: what is no folder here is refused.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import util
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause, Unsupported
from weighbridge_engines.sampling import NUMBERS

CONFIG = "config.json"
ADAPTER = ("adapter_config.json", "adapters.safetensors")
MOST_BYTES = 16 << 20
"""Of a file of settings."""

MOST_LAYERS = 10_000
"""The deepest models have some hundreds."""

_LAYERS = ("layer", "layers")
_TRAINED = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length", "n_ctx")
_RENAMED = "MODEL_REMAPPING"
_NAME = re.compile(r"[\w.-]{1,100}")
_RECOMMENDED = {"temperature": "temperature", "top_k": "top_k", "top_p": "top_p", "min_p": "min_p"} | {
    "repetition_penalty": "repeat_penalty"
}
_NUMBERS = {control.name: control for control in NUMBERS}


def model_folder(told: str) -> Path:
    """The folder of a model, by its path or that of a file in it. Raises FileNotFoundError where there is none,
    ValueError where its settings are no JSON object, and Unsupported where nothing could be built by them.
    """
    folder = Path(told)
    folder = folder.parent if folder.is_file() else folder
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"No model folder: {told}")
    config = _object(folder / CONFIG)
    if not config:
        raise ValueError(f"No settings in {folder / CONFIG}")
    if reason := endless(config):
        raise Unsupported(Cause("engine.bad_settings", {"reason": reason}))
    return folder.resolve()


def endless(config: Mapping[str, Any]) -> str | None:
    """The entry that would have the library build layers until memory is full; None where there is none."""
    text = config.get("text_config")
    for told in (config, text if isinstance(text, dict) else {}):
        for name, value in told.items():
            if name.endswith(_LAYERS) and isinstance(value, int) and value > MOST_LAYERS:
                return f"{name[:60]}: {value}"[:200]
    return None


def adapter_folder(told: str) -> Path:
    """The folder of an adapter, by its path or that of a file in it. Raises FileNotFoundError where one is missing."""
    folder = Path(told)
    folder = folder.parent if folder.is_file() else folder
    if not all((folder / name).is_file() for name in ADAPTER):
        raise FileNotFoundError(f"No adapter: {told}")
    return folder.resolve()


def trained_context(config: Mapping[str, Any]) -> int | None:
    """The tokens that a model was trained for, as its settings tell; None where they do not."""
    text = config.get("text_config")
    for told in (config, text if isinstance(text, dict) else {}):
        for name in _TRAINED:
            value = told.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None


def recommended(folder: Path) -> Mapping[str, float]:
    """How the model's makers want tokens to be chosen, by a request's names. What makes no sense is left out."""
    told = _object(folder / "generation_config.json")
    values = {ours: told[name] for name, ours in _RECOMMENDED.items() if told.get(name) is not None}
    return {name: value for name, value in values.items() if _NUMBERS[name].fault(value) is None}


def has_module(architecture: str) -> bool | None:
    """Whether the mlx-lm that is installed here can build models of that type; None where none is installed."""
    found = util.find_spec("mlx_lm")
    if found is None or not found.submodule_search_locations:
        return None
    package = Path(next(iter(found.submodule_search_locations)))
    name = _renamed(package).get(architecture, architecture)
    return bool(_NAME.fullmatch(name)) and (package / "models" / f"{name}.py").is_file()


@lru_cache(maxsize=4)
def _renamed(package: Path) -> Mapping[str, str]:
    """The types that the library builds as others, out of its source: reading that is not running it."""
    try:
        tree = ast.parse((package / "utils.py").read_text(encoding="utf-8"))
        return next(_values(tree), {})
    except (OSError, SyntaxError, ValueError):
        return {}


def _values(tree: ast.Module) -> Iterator[Mapping[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == _RENAMED for one in node.targets):
            told = ast.literal_eval(node.value)
            if isinstance(told, dict):
                yield told


def _object(path: Path) -> Mapping[str, Any]:
    """A JSON object in `path`; empty where there is none."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
