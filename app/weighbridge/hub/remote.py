"""What the Hub says of a repository, as immutable values, and what a download asks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from weighbridge.base.task import Task


@dataclass(frozen=True)
class RemoteFile:
    """One file of a repository at one commit: `path` with "/", its size in bytes, and the hash that its content has.

    Large files have a `sha256`; small ones are known by git's own hash of a blob, `git_sha1`. `xet_hash` is there where
    the file can also be fetched in Xet's way.
    """

    path: str
    size_bytes: int
    sha256: str | None = None
    git_sha1: str | None = None
    xet_hash: str | None = None


@dataclass(frozen=True)
class Repository:
    """A repository as it stood at `commit`. `revision` is the branch or tag that was asked for ("main").

    `id` is "owner/name" as the Hub spells it, which may differ from what was asked where it was renamed. `gated`: its
    licence has to be accepted, on its page, before a file can be fetched.
    """

    id: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...] = ()
    gated: bool = False
    tags: tuple[str, ...] = ()

    @cached_property
    def by_path(self) -> Mapping[str, RemoteFile]:
        """The files by their paths. There may be 100,000 of them, each a model."""
        return {file.path: file for file in self.files}

    @cached_property
    def by_folder(self) -> Mapping[str, tuple[RemoteFile, ...]]:
        """The files by the paths of their folders."""
        found: dict[str, list[RemoteFile]] = {}
        for file in self.files:
            found.setdefault(file.path.rpartition("/")[0], []).append(file)
        return {folder: tuple(files) for folder, files in found.items()}


@dataclass(frozen=True)
class XetPlace:
    """Where Xet has a file: its `hash` there, the storage's `address`, and the token for it until `expires` (seconds
    since 1970)."""

    hash: str
    address: str
    token: str = field(repr=False)
    expires: int


@dataclass(frozen=True)
class Located:
    """Where the bytes of a file can be fetched now: a signed address that will expire, and what they must be. `xet`:
    fetch it in Xet's way instead."""

    url: str
    etag: str
    size_bytes: int
    commit: str
    xet: XetPlace | None = None


class Bytes(Protocol):
    """An open answer with the bytes of a file from `start` on. `start` is 0 where the server ignored the range."""

    @property
    def start(self) -> int:
        """Where the bytes begin."""

    def pieces(self) -> Iterator[bytes]:
        """The bytes, some hundred KiB at a time. Raises Unreachable where the connection breaks or stalls."""

    def hang_up(self) -> None:
        """End it at once from any thread, also while it waits on a socket that says nothing."""


class Source(Protocol):
    """What a download asks of the Hub. Every method may raise:

    Refused("hub.gated" | "hub.private" | "hub.token" | "hub.no_revision" | "hub.no_file" | "hub.offline" |
    "hub.address" ...): final until the user changes something. Unreachable("hub.rate_limit", seconds=) and
    Unreachable("hub.unreachable" | "hub.server" | "hub.portal" | "hub.expired" | "hub.stalled", reason=): try again.
    """

    def repository(self, repo_id: str, revision: str, task: Task | None = None) -> Repository:
        """A repository with all its files, at the commit at which `revision` is now."""

    def locate(self, repo_id: str, commit: str, path: str) -> Located:
        """A fresh address of a file's bytes."""

    def open(self, located: Located, start: int, purpose: str) -> AbstractContextManager[Bytes]:
        """The bytes of a file from `start` on."""
