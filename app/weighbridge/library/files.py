"""Finding the model files below a folder, at any depth, without following a loop and without end."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.gguf_variants import is_gguf

WEIGHTS = (".bin", ".echo", ".safetensors", ".xml")
TOLD_IN = frozenset(
    {
        "adapter_config.json",
        "config.json",
        "config_sentence_transformers.json",
        "genai_config.json",
        "hf_quant_config.json",
        "model_index.json",
        "modules.json",
        "openvino_config.json",
        "quant_config.json",
        "quantize_config.json",
    }
)
"""Small files by which a folder of weights is recognised."""

INDEX = ".safetensors.index.json"
MAX_DEPTH = 16
MAX_ENTRIES = 200_000
_PARTIAL = "incomplete-"
_OURS = re.compile(r"\.part(?:\.lock|\.json(?:\.new)?)?$")
"""In the names of what is still being fetched, and of what is written beside it."""


@dataclass(frozen=True)
class Found:
    """One file of a model: where it was found, below which folder, and its size and time of change when it was seen.

    `identity` is the same for two ways to one file.
    """

    path: Path
    folder: Path
    size_bytes: int
    modified_ns: int
    identity: tuple[int, int] = (0, 0)


def found_file(path: Path, folder: Path, status: os.stat_result) -> Found:
    """The file at `path` as found below `folder`."""
    return Found(path, folder, status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))


def stamp_of(files: Iterable[Found]) -> str:
    """The same text for the same files of the same sizes and times of change, and for no others."""
    digest = blake2b(digest_size=16)
    for file in sorted(files, key=lambda file: file.path):
        digest.update(
            f"{os.fspath(file.path)}\0{file.size_bytes}\0{file.modified_ns}\0".encode("utf-8", "surrogateescape")
        )
    return digest.hexdigest()


def is_wanted(name: str) -> bool:
    """Whether a file of this name is part of a model, or tells of one; partial downloads are not."""
    lowered = name.lower()
    told = lowered.endswith((*WEIGHTS, INDEX)) or ".onnx" in lowered or name in TOLD_IN or is_gguf(name)
    return told and not name.startswith(_PARTIAL) and _OURS.search(lowered) is None


@dataclass(frozen=True)
class Search:
    """The files found, and what was passed over and why."""

    files: tuple[Found, ...]
    skipped: tuple[WeighbridgeError, ...]


def find_files(folders: Iterable[Path], task: Task) -> Search:
    """The files of models below `folders`, in the order of their paths; no folder is entered twice by links.

    Hidden files and folders and the partial downloads of this and other programs are passed over. A folder that is
    missing is empty. Raises Cancelled.
    """
    walk = _Walk(task)
    files = [found for folder in folders for found in walk.below(folder)]
    return Search(tuple(files), tuple(walk.skipped))


class _Walk:
    """The state of one search: what was seen, what was skipped."""

    def __init__(self, task: Task) -> None:
        self.skipped: list[WeighbridgeError] = []
        self._task = task
        self._seen: set[tuple[int, int]] = set()
        self._entries = 0

    def below(self, root: Path) -> Iterator[Found]:
        """The files below `root`, folder by folder; a list of open folders stands in for recursion."""
        waiting = [(root, 0)]
        while waiting and self._entries <= MAX_ENTRIES:
            folder, depth = waiting.pop()
            deeper: list[tuple[Path, int]] = []
            for path in self._names(folder):
                if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where this answers no
                    deeper.append((path, depth + 1))
                elif is_wanted(path.name):
                    yield from self._file(path, root)
            waiting.extend(reversed([each for each in deeper if self._is_new_folder(*each)]))

    def _names(self, folder: Path) -> list[Path]:
        self._task.check()
        try:
            names = sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names alone
        except FileNotFoundError:
            return []
        except OSError as error:
            self._skip(folder, error.strerror or str(error))
            return []
        allowed = max(0, MAX_ENTRIES - self._entries)
        self._entries += len(names)
        if len(names) > allowed:
            self._skip(folder, f"> {MAX_ENTRIES}")
        return [folder / name for name in names[:allowed]]

    def _is_new_folder(self, folder: Path, depth: int) -> bool:
        if depth > MAX_DEPTH:
            self._skip(folder, f"> {MAX_DEPTH}")
            return False
        status = self._status(folder)
        if status is None or (status.st_dev, status.st_ino) in self._seen:
            return False
        self._seen.add((status.st_dev, status.st_ino))
        return True

    def _file(self, path: Path, root: Path) -> Iterator[Found]:
        status = self._status(path)
        if status is not None and stat.S_ISREG(status.st_mode):
            yield found_file(path, root, status)

    def _status(self, path: Path) -> os.stat_result | None:
        """What the path leads to, unless it leads nowhere."""
        try:
            return path.stat()
        except OSError as error:
            self._skip(path, error.strerror or str(error))
            return None

    def _skip(self, path: Path, reason: str) -> None:
        self.skipped.append(BadFile("library.skipped", path=str(path), reason=reason))
