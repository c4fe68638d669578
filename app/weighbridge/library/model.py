"""One model on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.formats.model import ModelInfo


@dataclass(frozen=True)
class Model:
    """A file, or a set of files, that is one model.

    `id` is its name for people, programs and the port, unique within a listing. `path` is its first part,
    `size_bytes` the sum of all parts that are here. `info` is None for a format without a header or a header that could
    not be read; `problem` says why the model cannot be loaded as it is: damaged, or part of a set missing.
    """

    id: str
    title: str
    path: Path
    parts: tuple[Path, ...]
    format: str
    quant: str | None
    size_bytes: int
    info: ModelInfo | None = None
    problem: WeighbridgeError | None = None
