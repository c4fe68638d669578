"""Where the bytes of a file are, and the bytes: the Hub's own for small files, the storage's on another port for large
ones, at signed addresses that expire."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from tests.fake_hub.api import not_there
from tests.fake_hub.exchange import Answer, Request, in_range, redirect
from tests.fake_hub.faults import expired
from tests.fake_hub.repository import Commit, Entry, Repo

if TYPE_CHECKING:
    from tests.fake_hub.hub import FakeHub


def resolve(hub: FakeHub, asked: Request, repo: Repo, commit: Commit, path: str) -> Answer:
    """HEAD or GET /{id}/resolve/{rev}/{path}: 307 to the Hub itself for small files, 302 to the storage for others."""
    entry = commit.entries.get(path)
    if entry is None:
        return not_there(path, commit)
    told = {"X-Repo-Commit": commit.sha, "Accept-Ranges": "bytes", "Vary": "Origin, Accept"}
    if not entry.large:
        place = f"/api/resolve-cache/models/{repo.id}/{commit.sha}/{quote(path)}"
        return redirect(307, place, told, file=path)
    told |= {"X-Linked-Size": str(entry.size), "X-Linked-Etag": f'"{entry.sha256}"'}
    if entry.xet_hash:
        token = f"{hub.endpoint}/api/models/{repo.id}/xet-read-token/{commit.sha}"
        told |= {"X-Xet-Hash": entry.xet_hash, "Link": f'<{token}>; rel="xet-auth"'}
    return redirect(302, hub.signer.signed(hub.cdn, entry), told, file=path)


def small(asked: Request, commit: Commit, path: str) -> Answer:
    """GET /api/resolve-cache/models/{id}/{sha}/{path}. Compressed for those who can read that, and then without its
    length."""
    entry = commit.entries.get(path)
    if entry is None or entry.large:
        return not_there(path, commit)
    told = {"X-Repo-Commit": commit.sha, "ETag": f'"{entry.oid}"', "Content-Type": "text/plain; charset=utf-8"}
    whole = Answer(200, told, entry.content, file=path)
    if "gzip" in asked.headers.get("accept-encoding", "") and asked.ranged is None:
        told["ETag"] = f'W/"{entry.oid}"'
        whole.compressed = True
        return whole
    return in_range(asked, whole)


def raw(commit: Commit, path: str) -> Answer:
    """GET /{id}/raw/{rev}/{path}: what git holds: of a large file, its pointer."""
    entry = commit.entries.get(path)
    if entry is None:
        return not_there(path, commit)
    told = {"X-Repo-Commit": commit.sha, "ETag": f'"{entry.oid}"', "Content-Type": "text/plain; charset=utf-8"}
    return Answer(200, told, entry.pointer if entry.large else entry.content)


class Signer:
    """Makes addresses of the storage, and knows its own until they expire."""

    def __init__(self) -> None:
        self.seconds = 3600.0
        self._signed: dict[str, tuple[Entry, float]] = {}

    def signed(self, cdn: str, entry: Entry) -> str:
        """A new address of a file's bytes, good for `seconds`."""
        signature, until = secrets.token_hex(16), time.time() + self.seconds
        self._signed[signature] = entry, until
        shown = f'attachment; filename="{entry.path.rpartition("/")[2]}"'
        query = {"response-content-disposition": shown, "Expires": f"{until:.0f}", "Signature": signature}
        return f"{cdn}/xet-bridge/{entry.storage_hash}?{urlencode(query)}"

    def expire(self) -> None:
        """None of the addresses made so far is good any more."""
        self._signed = {signature: (entry, 0.0) for signature, (entry, _) in self._signed.items()}

    def answer(self, asked: Request) -> Answer:
        """GET of the storage. Its ETag is the storage's own hash."""
        entry, until = self._signed.get(asked.query.get("Signature", [""])[0], (None, 0.0))
        if entry is None or asked.segments != ["xet-bridge", entry.storage_hash] or until < time.time():
            return expired(entry.path if entry else None)
        told = {"ETag": f'"{entry.storage_hash}"', "Content-Type": "application/octet-stream"}
        return in_range(asked, Answer(200, told, entry.content, file=entry.path))
