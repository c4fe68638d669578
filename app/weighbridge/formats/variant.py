"""What can be loaded or fetched out of one place: a folder here, or a repository on the Hub."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.formats.architectures import Kind

if TYPE_CHECKING:
    from weighbridge.formats.model import ModelInfo
    from weighbridge.formats.safetensors import SafetensorsHeader

UNKNOWN_FORMAT = "unknown"
"""The format of a place in which nothing is recognised."""


@dataclass(frozen=True)
class File:
    """One file of a place: its `path` below it, with "/" whatever the system, and its size, None where untold."""

    path: str
    size_bytes: int | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The path above the name; "" at the top."""
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """The name without its last ending."""
        return self.name.rpartition(".")[0] or self.name


class Role(StrEnum):
    """What a file that is no model does for one."""

    PROJECTOR = "projector"
    IMATRIX = "imatrix"
    ADAPTER = "adapter"
    DRAFT = "draft"


@dataclass(frozen=True)
class Companion:
    """A file that belongs to a model: it is loaded beside it, if the user wants that."""

    role: Role
    file: File


@dataclass(frozen=True)
class Variant:
    """One thing to load: all its weights, and what is known of it before a weight is read. None is unknown.

    `format` is "gguf", "exl2", "exl3", "mlx", "safetensors" and so on; `label` its quantisation ("Q4_K_M", "4.0 bpw
    h6", "4bit g64"). `guessed`: the label, or the format, is told by a name alone. `name` is what tells it from the
    others of the same place: a file's stem, or a folder. `problem` says why it cannot be loaded as it is.
    """

    format: str
    name: str
    label: str | None = None
    files: tuple[File, ...] = ()
    kind: Kind = Kind.UNKNOWN
    guessed: bool = False
    companions: tuple[Companion, ...] = ()
    bits_per_weight: float | None = None
    asks_to_run_code: bool = False
    problem: WeighbridgeError | None = None

    @property
    def size_bytes(self) -> int | None:
        """The sum of its weights; None where a file's size is untold."""
        sizes = [file.size_bytes for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def folder(self) -> str:
        """Where its first file lies."""
        return self.files[0].folder if self.files else self.name


@dataclass(frozen=True)
class Hints:
    """What is told of a place beside its files: by the Hub, or by the names of the folders above it.

    `parameters` is the Hub's count for the repository. `local`: the files are here, so that their names are past doubt.
    """

    repository: str = ""
    branch: str = ""
    tags: frozenset[str] = frozenset()
    pipeline: str = ""
    parameters: int | None = None
    local: bool = False


def _nothing(path: str) -> None:
    del path


@dataclass(frozen=True)
class Reader:
    """How a place's small files are looked into. Each may answer None: not there, or not worth the way.

    `json` gives the object in a JSON file, bounded, and raises BadFile for what is none. `header` tells what a GGUF
    file says of itself, or why it cannot be read. `tensors` gives the header of a safetensors file.
    """

    json: Callable[[str], Mapping[str, Any] | None] = field(default=_nothing)
    header: Callable[[str], ModelInfo | BadFile | None] = field(default=_nothing)
    tensors: Callable[[str], SafetensorsHeader | None] = field(default=_nothing)
