"""The folders on this machine that an ExLlama library is given: of a model, and of an adapter.

What is missing or cut short is found here, for the libraries find it late, in words that name no file, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_CONFIG, _TOKENIZER = "config.json", "tokenizer.json"
_ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
_LENGTH = 8
"""Bytes of the number at the beginning of a file of weights: how long its header is."""

_MOST_HEADER = 100 << 20
"""Bytes, as the format has it."""


def model_folder(told: str) -> Path:
    """The folder of a model. Raises FileNotFoundError where it is none, and ValueError where weights are cut short."""
    folder = folder_of(told)
    _look_for(folder / _CONFIG)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise FileNotFoundError(f"No .safetensors files found in {folder}")
    for file in weights:
        _check_whole(file)
    return folder.resolve()


def chat_folder(told: str) -> Path:
    """The same for a model that is spoken to, which takes a tokenizer."""
    folder = model_folder(told)
    _look_for(folder / _TOKENIZER)
    return folder


def vocabulary(folder: Path) -> Mapping[str, int] | None:
    """The numbers of the texts that its tokenizer knows, but for those that were added; None where nobody can tell."""
    try:
        told: Any = json.loads((folder / _TOKENIZER).read_text(encoding="utf-8"))["model"]["vocab"]
        return dict(told) if isinstance(told, dict) else {text: place for place, (text, _) in enumerate(told)}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def adapter_files(told: str) -> tuple[Path, Path]:
    """The settings and the weights of an adapter, by its folder or a file in it.

    Weights in Python's own format, which may hold a program, are not taken. Raises FileNotFoundError.
    """
    folder = folder_of(told)
    config, weights = (folder / name for name in _ADAPTER)
    _look_for(config)
    _look_for(weights)
    return config, weights


def folder_of(told: str) -> Path:
    """The folder that is told, by itself or by a file in it."""
    path = Path(told)
    return path.parent if path.is_file() else path


def _look_for(file: Path) -> None:
    if not file.is_file():
        raise FileNotFoundError(f"No such file or directory: {file}")


def _check_whole(file: Path) -> None:
    """Raise ValueError where its header tells of more than there is. Whether the header makes sense is for others."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH), "little")
        if size < _LENGTH or length > min(size - _LENGTH, _MOST_HEADER):
            raise ValueError(f"Truncated safetensors header in {file}")
        header = json.loads(opened.read(length))
    if not isinstance(header, dict):
        raise ValueError(f"Invalid safetensors header in {file}")
    ends = (entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
    try:
        end = _LENGTH + length + max(ends, default=0)
    except (KeyError, TypeError, IndexError):
        raise ValueError(f"Invalid safetensors header in {file}") from None
    if end > size:
        raise ValueError(f"A tensor in {file} extends past end of file: needs {end} bytes, file is {size}")
