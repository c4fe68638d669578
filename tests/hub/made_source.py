"""A Hub in memory, whose connections go wrong as told, for tests of what asks it."""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub.remote import Located, RemoteFile, Repository

COMMIT, LATER = "c" * 40, "d" * 40
PIECE = 1000


def content(seed, size):
    return (hashlib.sha256(str(seed).encode()).digest() * (size // 32 + 1))[:size]


def remote(path, data):
    if path.endswith(".json"):
        return RemoteFile(path, len(data), git_sha1=hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest())
    return RemoteFile(path, len(data), hashlib.sha256(data).hexdigest())


@dataclass
class Broken:
    """A connection that ends after some bytes: by an error, or, without one, in silence."""

    after: int = 0
    error: Exception | None = None
    start: int | None = None
    wrong_at: int | None = None
    stalls: bool = False


@dataclass
class MadeSource:
    """`files` by path, at `commit`. A connection takes the first of `broken`, a look-up the first of `answers`."""

    files: dict[str, bytes] = field(default_factory=dict)
    repo_id: str = "o/r"
    commit: str = COMMIT
    broken: list[Broken] = field(default_factory=list)
    answers: list[Exception] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    located: int = 0
    stuck: threading.Event | None = None
    piece: int = PIECE
    gate: threading.Event | None = None

    def repository(self, repo_id, revision, task=None):
        if self.answers:
            raise self.answers.pop(0)
        files = tuple(remote(path, data) for path, data in self.files.items())
        return Repository(self.repo_id, revision, self.commit, files)

    def locate(self, repo_id, commit, path):
        self.located += 1
        if self.stuck is not None:
            self.stuck.wait(5)
        if self.answers:
            raise self.answers.pop(0)
        if commit != self.commit:
            raise Refused("hub.no_revision", repo_id=repo_id, revision=commit)
        if path not in self.files:
            raise Refused("hub.no_file", repo_id=repo_id, path=path)
        file = remote(path, self.files[path])
        return Located(f"https://cdn.local/{path}", file.sha256 or file.git_sha1, file.size_bytes, commit)

    @contextmanager
    def open(self, located, start, purpose):
        self.starts.append(start)
        self.opened.append(purpose)
        data = self.files[located.url.removeprefix("https://cdn.local/")]
        yield MadeBytes(self, data, start, self.broken.pop(0) if self.broken else Broken(len(data)))


class MadeBytes:
    def __init__(self, source, data, start, broken):
        self.source, self.data, self.broken = source, data, broken
        self.start = start if broken.start is None else broken.start
        self._over = threading.Event()

    def pieces(self):
        sent = bytearray(self.data)
        if self.broken.wrong_at is not None:
            sent[self.broken.wrong_at] ^= 1
        end = len(sent) if self.broken.wrong_at is not None else min(len(sent), self.start + self.broken.after)
        for at in range(self.start, end, self.source.piece):
            if self.source.gate is not None:
                while not self.source.gate.wait(0.01):
                    self._check()
            self._check()
            yield bytes(sent[at : min(end, at + self.source.piece)])
        if self.broken.stalls:
            self._over.wait(5)
            self._check()
            raise Unreachable("hub.stalled", host="cdn.local")
        if self.broken.error is not None:
            raise self.broken.error

    def hang_up(self):
        self._over.set()

    def _check(self):
        if self._over.is_set():
            raise Unreachable("hub.unreachable", host="cdn.local", reason="hung up")
