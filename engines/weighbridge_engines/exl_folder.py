"""The folders on this machine that an ExLlama library is given: of a model, and of an adapter."""

from __future__ import annotations

from pathlib import Path

_CONFIG = "config.json"
_ADAPTER = ("adapter_config.json", "adapter_model.safetensors")


def model_folder(told: str) -> Path:
    """The folder of a model. Raises FileNotFoundError where that is none."""
    folder = Path(told)
    folder = folder.parent if folder.is_file() else folder
    if not (folder / _CONFIG).is_file():
        raise FileNotFoundError(f"No such file or directory: {folder / _CONFIG}")
    return folder.resolve()


def adapter_files(told: str) -> tuple[Path, Path]:
    """The settings and the weights of an adapter, by its folder or a file in it.

    Weights in Python's own format, which may hold a program, are not taken. Raises FileNotFoundError.
    """
    folder = Path(told)
    folder = folder.parent if folder.is_file() else folder
    config, weights = (folder / name for name in _ADAPTER)
    for file in (config, weights):
        if not file.is_file():
            raise FileNotFoundError(f"No such file or directory: {file}")
    return config, weights
