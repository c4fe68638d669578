"""Finding the model files below a folder, at any depth, without following a loop and without end."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
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
LAUNCH = ".kcpps"
"""The end of the name of a file in which KoboldCpp keeps how to start."""

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
    told = lowered.endswith((*WEIGHTS, INDEX, LAUNCH)) or ".onnx" in lowered or name in TOLD_IN or is_gguf(name)
    return told and not name.startswith(_PARTIAL) and _OURS.search(lowered) is None


@dataclass(frozen=True)
class Search:
    """The files found, and what was passed over and why."""

    files: tuple[Found, ...]
    skipped: tuple[WeighbridgeError, ...]


def find_files(folders: Iterable[Path], task: Task) -> Search:
    """The files of models below `folders`, in the order of their paths. Below each, no folder is entered twice.

    Hidden files and folders and the partial downloads of this and other programs are passed over. A folder that is
    missing is empty. Raises Cancelled.
    """
    walk = Walk(task)
    files = [found for folder in folders for found in walk.below(folder)]
    return Search(tuple(files), tuple(walk.skipped))


class Walk:
    """One search, which changes nothing. `skipped` is what was passed over and why, `paths` are those of all files."""

    def __init__(self, task: Task) -> None:
        self.skipped: list[WeighbridgeError] = []
        self.paths: set[Path] = set()
        self._task = task

    def below(self, root: Path, wanted: Callable[[str], bool] = is_wanted, depth: int = MAX_DEPTH) -> Iterator[Found]:
        """The files below `root` whose names are `wanted`, folder by folder, `depth` folders deep at most."""
        waiting, seen, entries = [(root, 0)], {_identity(root)}, 0
        while waiting and entries <= MAX_ENTRIES:  # a list of open folders stands in for recursion
            folder, level = waiting.pop()
            listed = self._listed(folder)
            if (entries := entries + len(listed)) > MAX_ENTRIES:
                self._pass_over(folder, f"> {MAX_ENTRIES}")
                listed = listed[: MAX_ENTRIES - entries]
            for name, is_folder in listed:
                if not is_folder and wanted(name):
                    yield from self._wanted(folder / name, root)
            deeper = [(folder / name, level + 1) for name, is_folder in listed if is_folder]
            waiting.extend(reversed([each for each in deeper if self._is_new(*each, depth, seen)]))

    def file(self, path: Path) -> Found | None:
        """The regular file that `path` leads to; None where there is none."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        self.paths.add(path)
        return found_file(path, path.parent, status)

    def folders_in(self, folder: Path) -> list[Path]:
        """The folders in `folder`, by name; none where it is missing or cannot be read."""
        return [folder / name for name, is_folder in self._listed(folder) if is_folder]

    def skip(self, error: WeighbridgeError) -> None:
        """Keep `error` as the reason why something was passed over."""
        self.skipped.append(error)

    def _listed(self, folder: Path) -> list[tuple[str, bool]]:
        """What is in `folder`, by name: each name, and whether it is a folder's, or that of a link to one."""
        self._task.check()
        try:
            with os.scandir(folder) as entries:
                listed = [(entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._pass_over(folder, error.strerror or str(error))
            return []
        return sorted(listed)

    def _is_new(self, folder: Path, level: int, depth: int, seen: set[tuple[int, int] | None]) -> bool:
        if level > depth:
            if depth == MAX_DEPTH:
                self._pass_over(folder, f"> {MAX_DEPTH}")
            return False
        identity = _identity(folder)
        is_new = identity is not None and identity not in seen
        seen.add(identity)
        return is_new

    def _wanted(self, path: Path, root: Path) -> Iterator[Found]:
        try:
            status = path.stat()
        except OSError as error:
            self._pass_over(path, error.strerror or str(error))
            return
        if stat.S_ISREG(status.st_mode):
            self.paths.add(path)
            yield found_file(path, root, status)

    def _pass_over(self, path: Path, reason: str) -> None:
        self.skip(BadFile("library.skipped", path=str(path), reason=reason))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _identity(folder: Path) -> tuple[int, int] | None:
    """The same for two ways to one folder; None where the way leads nowhere."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
