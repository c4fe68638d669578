"""Where downloads lie: in Weighbridge's models folder, as LM Studio lays it out, or in Hugging Face's cache.

Models folder: `OWNER/NAME/PATH` for main, `OWNER/NAME@BRANCH/PATH` for any other branch, so that two sizes of an EXL
model live side by side. Cache (huggingface_hub 2.x): `models--OWNER--NAME/blobs/HASH`, with a link to it from
`snapshots/COMMIT/PATH`, and `refs/BRANCH` with the commit; without the right to make links, the file itself is there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.formats.safe_names import is_safe
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.verify import known_hash

MAIN = "main"


class Layout(StrEnum):
    """How the files of a repository lie below its root."""

    FOLDER = "folder"
    CACHE = "hf_cache"


@dataclass(frozen=True)
class Shelf:
    """The place of one repository at one revision: its `root` and how files lie below it."""

    root: Path
    layout: Layout
    revision: str
    commit: str

    def target(self, file: RemoteFile) -> Path:
        """The path under which the bytes of `file` are written."""
        digest = known_hash(file)
        if self.layout is Layout.CACHE and digest is not None:
            return self.root / "blobs" / digest
        return self.place(file)

    def place(self, file: RemoteFile) -> Path:
        """The path under which programs find `file`."""
        if not is_safe(file.path):
            raise BadFile("file.unsafe_name", name=file.path)
        below = self.root / "snapshots" / self.commit if self.layout is Layout.CACHE else self.root
        return below / file.path

    def publish(self, file: RemoteFile) -> None:
        """Let programs find `file`, which is at its target. Raises OSError."""
        if self.layout is Layout.FOLDER:
            return
        target, place = self.target(file), self.place(file)
        if target != place:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            try:
                place.symlink_to(os.path.relpath(target, place.parent))
            except OSError:
                target.replace(place)
        reference = self.root / "refs" / self.revision
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(self.commit, encoding="ascii")

    def withdraw(self, file: RemoteFile) -> None:
        """Remove `file`, and the folders that are empty then."""
        for path in {self.place(file), self.target(file)}:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self.tidy(file)

    def tidy(self, file: RemoteFile) -> None:
        """Remove the folders around `file` that are empty."""
        for path in {self.place(file), self.target(file)}:
            _remove_empty(path.parent, self.root.parent if self.layout is Layout.CACHE else self.root.parent.parent)


def shelf_of(repository: Repository, layout: Layout, folder: Path) -> Shelf:
    """The place of `repository` below `folder`: the models folder, or the cache."""
    make = shelf_in_cache if layout is Layout.CACHE else shelf_in_folder
    return make(folder, repository.id, repository.revision, repository.commit)


def shelf_in_folder(models: Path, repo_id: str, revision: str, commit: str) -> Shelf:
    """The place below `models`. A slash in a branch's name becomes "=", which no branch's name has here."""
    owner, _, name = repo_id.partition("/")
    named = name if revision == MAIN else f"{name}@{revision.replace('/', '=')}"
    if not is_safe(f"{owner}/{named}"):
        raise BadFile("file.unsafe_name", name=f"{owner}/{named}")
    return Shelf(models / owner / named, Layout.FOLDER, revision, commit)


def shelf_in_cache(cache: Path, repo_id: str, revision: str, commit: str) -> Shelf:
    """The place in Hugging Face's cache."""
    name = "models--" + repo_id.replace("/", "--")
    if not (is_safe(name) and is_safe(revision)):
        raise BadFile("file.unsafe_name", name=f"{repo_id}@{revision}")
    return Shelf(cache / name, Layout.CACHE, revision, commit)


def cache_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Hugging Face's cache, as huggingface_hub looks for it (its `constants.py`)."""
    told = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
    if told:
        return Path(told).expanduser()
    if environment.get("HF_HOME"):
        return Path(environment["HF_HOME"]).expanduser() / "hub"
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base).expanduser() if base else home / ".cache") / "huggingface" / "hub"


def _remove_empty(folder: Path, above: Path) -> None:
    """From `folder` up to below `above`, as long as they are empty."""
    while folder != above and folder.is_relative_to(above):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
