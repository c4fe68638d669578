"""A fake repository: commits, branches and tags, and who may see and fetch it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.fake_hub.content import Content, Held, content_of, git_sha1, sha256

Files = Mapping[str, bytes | str | Path | Content | None]
"""Content by path. None removes a file that was there."""

LARGE = (".gguf", ".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".pkl", ".onnx", ".model")
"""Endings of files that are large ones whatever their size, as in the .gitattributes of most repositories."""

_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Entry:
    """One file. `claimed_sha256` and `claimed_size` are what the Hub says of it where it lies."""

    path: str
    content: Content
    large: bool
    xet_hash: str | None = None
    claimed_sha256: str | None = None
    claimed_size: int | None = None

    @property
    def size(self) -> int:
        return self.content.size if self.claimed_size is None else self.claimed_size

    @property
    def sha256(self) -> str:
        return self.claimed_sha256 or sha256(self.content)

    @property
    def pointer(self) -> Content:
        """What git itself holds of a large file."""
        return Held(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (self.sha256.encode(), self.size)
        )

    @property
    def oid(self) -> str:
        """Git's hash of what git holds."""
        return git_sha1(self.pointer if self.large else self.content)

    @property
    def etag(self) -> str:
        """The hash by which a download knows what it must get."""
        return self.sha256 if self.large else self.oid

    @property
    def storage_hash(self) -> str:
        """The hash by which the storage knows the file, which is neither of the others."""
        return self.xet_hash or hashlib.sha256(b"storage" + self.sha256.encode()).hexdigest()


@dataclass(frozen=True)
class Commit:
    """All files at one moment."""

    sha: str
    title: str
    date: str
    entries: Mapping[str, Entry]


@dataclass
class Repo:
    """A repository. `gated` is None, "auto" or "manual"; `members` may see it where it is `private`, `granted` have
    accepted the licence. `facts` go into what the API says of it: downloads, likes, gguf, safetensors, cardData,
    library_name, pipeline_tag, apps ... `store` puts a large file into Xet's storage and gives its hash there.
    """

    id: str
    gated: str | None = None
    private: bool = False
    model_tags: tuple[str, ...] = ()
    lfs_from: int = 1 << 14
    facts: dict[str, Any] = field(default_factory=dict)
    store: Callable[[Content], str] | None = None
    members: set[str] = field(default_factory=set)
    granted: set[str] = field(default_factory=set)
    unsafe: set[str] = field(default_factory=set)
    branches: dict[str, Commit] = field(default_factory=dict)
    tags: dict[str, Commit] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def commit(self, files: Files, branch: str = "main", title: str = "Upload files") -> Commit:
        """Adds, replaces and removes files of a branch. A branch that is not there yet begins empty."""
        before = self.branches.get(branch)
        entries = dict(before.entries) if before else {}
        for path, given in files.items():
            entries.pop(path, None)
            if given is not None:
                entries[path] = self._entry(path, content_of(given))
        return self._advance(branch, title, entries)

    def claim(self, path: str, branch: str = "main", *, sha256: str | None = None, size: int | None = None) -> Commit:
        """Has the Hub say a hash or a size of a large file that is not true."""
        entries = dict(self.branches[branch].entries)
        entries[path] = replace(entries[path], large=True, claimed_sha256=sha256, claimed_size=size)
        return self._advance(branch, "Claims", entries)

    def tag(self, name: str, branch: str = "main") -> None:
        self.tags[name] = self.branches[branch]

    def at(self, revision: str) -> Commit | None:
        """The commit that a branch, a tag, `refs/heads/...` or a commit's own hash names."""
        name = revision.removeprefix("refs/heads/")
        return self.branches.get(name) or self.tags.get(revision) or self.commits.get(revision)

    @property
    def created(self) -> str:
        return next(iter(self.commits.values())).date

    def _entry(self, path: str, content: Content) -> Entry:
        large = content.size >= self.lfs_from or path.endswith(LARGE)
        return Entry(path, content, large, self.store(content) if self.store and large else None)

    def _advance(self, branch: str, title: str, entries: dict[str, Entry]) -> Commit:
        number = len(self.commits)
        sha = hashlib.sha1(f"{self.id} {branch} {number}".encode(), usedforsecurity=False).hexdigest()
        date = (_FIRST_DAY + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        made = Commit(sha, title, date, dict(sorted(entries.items())))
        self.branches[branch] = self.commits[sha] = made
        return made
