"""One model on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role

OWN, ADDED = "own", "added"
"""Sources of models that are no other program's."""


@dataclass(frozen=True)
class Helper:
    """A file that belongs to a model and is loaded beside it, if the user wants that."""

    role: Role
    path: Path
    size_bytes: int


@dataclass(frozen=True)
class Model:
    """A file, or a set of files, that is one model.

    `id` is its name for people, programs and the port, unique within a listing. `path` is its first part, or the folder
    of a format that is one; `parts` are its weights, `size_bytes` their sum, as far as they are here. `info` is None
    for a format without a header or a header that could not be read; `problem` says why the model cannot be loaded as
    it is: damaged, or part of a set missing. `companions` are the files that were found for it, of each role the
    nearest first. `guessed`: its format or its quantisation is told by a name alone. `source` says whose it is: OWN,
    ADDED (a folder or a file that the user has named), or the id of the program that brought it here. `sha256s` are the
    hashes of `parts` that are told without reading them; empty where none is. `aliases` are other names that it can be
    called by. `unused` is what its program keeps with it and we do not use: its "template", "params", "system" prompt.
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
    companions: tuple[Helper, ...] = ()
    guessed: bool = False
    asks_to_run_code: bool = False
    source: str = OWN
    sha256s: tuple[str | None, ...] = ()
    aliases: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """What it is for."""
        return self.info.kind if self.info else Kind.UNKNOWN

    def companion(self, role: Role) -> Helper | None:
        """The nearest companion of a role."""
        return next((helper for helper in self.companions if helper.role is role), None)


Key = tuple[Path, str]
"""What a model stays the same by, from one listing to the next: its path and its format."""


def key_of(model: Model) -> Key:
    """The key of `model`."""
    return model.path, model.format
