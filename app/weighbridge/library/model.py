"""One model on disk."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role

OWN, ADDED = "own", "added"
"""Sources of models that are no other program's."""

ENDPOINT = "endpoint"
"""Source and format of a model that is no file, but is served at an address."""


@dataclass(frozen=True)
class Helper:
    """A file that belongs to a model and is loaded beside it, if the user wants that."""

    role: Role
    path: Path
    size_bytes: int


class Reach(StrEnum):
    """How far what is asked of a model goes: it stays here, it leaves the computer but not its network, or it leaves
    both."""

    HERE = "here"
    NETWORK = "network"
    INTERNET = "internet"


@dataclass(frozen=True)
class Remote:
    """Where a model is that is no file: called `name` at the endpoint `endpoint_id`, which people know as `endpoint`.

    `context` is the context length that its server tells, in tokens; `kind` what it says that the model is for, `sees`
    whether it takes pictures. Each is None where it says nothing.
    """

    endpoint_id: str
    endpoint: str
    name: str
    reach: Reach
    context: int | None = None
    kind: Kind | None = None
    sees: bool | None = None


@dataclass(frozen=True)
class Model:
    """A file, or a set of files, that is one model; or what an endpoint serves.

    `id` is its name for people, programs and the port, unique within a listing. `path` is its first part, or the folder
    of a format that is one; `parts` are its weights, `size_bytes` their sum, as far as they are here. `info` is None
    for a format without a header or a header that could not be read; `problem` says why the model cannot be loaded as
    it is: damaged, or part of a set missing. `companions` are the files that were found for it, of each role the
    nearest first. `guessed`: its format or its quantisation is told by a name alone. `source` says whose it is: OWN,
    ADDED (a folder or a file that the user has named), or the id of the program that brought it here. `sha256s` are the
    hashes of `parts` that are told without reading them; empty where none is. `aliases` are other names that it can be
    called by. `unused` is what its program keeps with it and we do not use: its "template", "params", "system" prompt.
    `remote` is set for what an endpoint serves: it has no parts, no size and no header, and nothing is at its path.
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
    remote: Remote | None = None

    @property
    def kind(self) -> Kind:
        """What it is for."""
        if self.remote is not None:
            return self.remote.kind or Kind.UNKNOWN
        return self.info.kind if self.info else Kind.UNKNOWN

    @property
    def leaves(self) -> bool:
        """Whether what is asked of it leaves this computer."""
        return self.remote is not None and self.remote.reach is not Reach.HERE

    def companion(self, role: Role) -> Helper | None:
        """The nearest companion of a role."""
        return next((helper for helper in self.companions if helper.role is role), None)


def require_file(model: Model) -> None:
    """Raise Refused("endpoint.not_ours") where `model` is no file, but what an endpoint serves."""
    if model.remote is not None:
        named = {"endpoint": model.remote.endpoint, "id": model.remote.endpoint_id}
        raise Refused("endpoint.not_ours", model=model.id, **named)


Key = tuple[Path, str]
"""What a model stays the same by, from one listing to the next: its path and its format."""


def key_of(model: Model) -> Key:
    """The key of `model`."""
    return model.path, model.format
