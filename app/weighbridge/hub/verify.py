"""Whether the bytes of a file are those that the Hub promised: by sha256, or by git's own hash of a blob.

A hash from the network is only ever compared, never part of a path, and counts only in its one exact form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from weighbridge.base.errors import Refused
from weighbridge.hub.remote import RemoteFile

BLOCK_BYTES = 4 << 20
"""Large enough for hashing to run at the processor's speed, and to let other threads run meanwhile."""

_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")

Step = Callable[[int], None]
"""Called with the bytes looked at so far; raises to end the work."""


def require_sound_hash(file: RemoteFile) -> None:
    """Raise Refused("hub.bad_hash", name=, hash=) where what should be a hash has another form."""
    for told, form in ((file.sha256, _SHA256), (file.git_sha1, _SHA1)):
        if told is not None and form.fullmatch(told) is None:
            raise Refused("hub.bad_hash", name=file.path, hash=told[:80])


def known_hash(file: RemoteFile) -> str | None:
    """The hash that `file` must have, None where none is known."""
    return file.sha256 or file.git_sha1


class Digest:
    """The hash of a file that is made as its bytes come, in order. Without a known hash it counts bytes alone."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._hash = hashlib.sha256() if file.sha256 else None
        if self._hash is None and file.git_sha1:
            self._hash = hashlib.sha1(b"blob %d\x00" % file.size_bytes, usedforsecurity=False)
        self.done_bytes = 0

    def update(self, piece: bytes | memoryview) -> None:
        """The next bytes."""
        self.done_bytes += len(piece)
        if self._hash is not None:
            self._hash.update(piece)

    def matches(self) -> bool:
        """Whether these were the right bytes, and all of them."""
        whole = self.done_bytes == self._file.size_bytes
        return whole and (self._hash is None or self._hash.hexdigest() == known_hash(self._file))


def is_right(path: Path, file: RemoteFile, step: Step) -> bool:
    """Whether the file at `path` holds what `file` must hold. Raises OSError, and what `step` raises."""
    if path.stat().st_size != file.size_bytes:
        return False
    digest = Digest(file)
    block = memoryview(bytearray(min(BLOCK_BYTES, max(1, file.size_bytes))))
    with path.open("rb", buffering=0) as opened:
        while count := opened.readinto(block):
            digest.update(block[:count])
            step(digest.done_bytes)
    return digest.matches()
