"""What the Hub says of a repository, and the bytes of its files: `remote.Source`, over the network."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpcore2
import httpx2

from weighbridge import __version__
from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.printable import printable
from weighbridge.base.task import Task
from weighbridge.hub.access import Access
from weighbridge.hub.addresses import Origin
from weighbridge.hub.allowance import Allowances
from weighbridge.hub.connecting import Resolve, checked, resolve
from weighbridge.hub.errors import About, BadAnswer, broken, fault
from weighbridge.hub.forms import COMMIT, REPO_ID, SHA256, matching
from weighbridge.hub.hit_reading import hit_of
from weighbridge.hub.hits import Hit, Query
from weighbridge.hub.library import PLAIN, library
from weighbridge.hub.network import Line, NetworkLog
from weighbridge.hub.remote import Bytes, Located, RemoteFile, Repository, XetPlace
from weighbridge.hub.search import Parameters, search
from weighbridge.hub.streaming import Streamed
from weighbridge.hub.transport import CONNECT_S, LIMIT, MOST_BYTES, PURPOSE, READ_S, Transport, proxy_of
from weighbridge.hub.xet import LOCAL, Patience, XetBytes, XetGroup, place_of, require_storage, told, wanted

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile, RepoFolder

STALL_S = 5.0
MOST_FILES = 100_000
README_BYTES = 1 << 20
_AGENT = f"weighbridge/{__version__}"
_MOST_REVISION = 250
_SHOWN = 200
_RANGE = re.compile(r"bytes (\d{1,15})-")
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class Hub:
    """The Hub that `access` names; every request is written into `log`. From any thread.

    `tls` and `look_up` stand in for the system's trust and name server. `allowances` is what it lets this user ask.
    A method may raise what `remote.Source` says.
    """

    def __init__(
        self, access: Access, log: NetworkLog, tls: ssl.SSLContext | None = None, look_up: Resolve = resolve
    ) -> None:
        self._access, self._log, self._tls, self._look_up = access, log, tls, look_up
        self.allowances = Allowances()
        self._transport = Transport(access, log, tls, look_up, self.allowances)
        self._client = httpx2.Client(
            transport=self._transport,
            follow_redirects=True,
            headers={**PLAIN, "user-agent": _AGENT},
            timeout=httpx2.Timeout(READ_S, connect=CONNECT_S),
        )

    def without_token(self) -> Hub:
        """The same Hub, asked as somebody whom it does not know: for a token that it does not take."""
        return Hub(self._access.without_token(), self._log, self._tls, self._look_up)

    def close(self) -> None:
        """End all connections."""
        self._client.close()

    def repository(self, repo_id: str, revision: str = "main", task: Task | None = None) -> Repository:
        """A repository with all its files, at the commit at which `revision` is now. `task` can end it between two
        pages of a thousand files."""
        _require_names(repo_id, revision)
        with self._library(About(repo_id, revision)) as api:
            said = api.model_info(repo_id, revision=None if revision == "main" else revision, timeout=READ_S)
            commit = matching(COMMIT, said.sha)
            name = matching(REPO_ID, said.id)
            files = tuple(_files(api.list_repo_tree(name, recursive=True, revision=commit), task))
            tags = tuple(str(tag) for tag in said.tags or ())
            return Repository(name, revision, commit, files, bool(said.gated), tags)

    def search(self, query: Query, most: int = 100, task: Task | None = None) -> tuple[Hit, ...]:
        """What the Hub lists for `query`, in its order, `most` at most: one call where a page of the Hub's holds these.
        `task` can end it between two pages."""
        with self._asking(About()):
            return search(self._listed, self._endpoint(), query, most, task)

    def _listed(self, address: str, parameters: Parameters | None) -> httpx2.Response:
        return self._client.get(address, params=parameters, extensions=_extensions("search"))

    def hit(self, repo_id: str, revision: str = "main") -> Hit:
        """What is told of a repository without its files, with the commit at which `revision` is now."""
        _require_names(repo_id, revision)
        with self._library(About(repo_id, revision)) as api:
            said = api.model_info(repo_id, revision=None if revision == "main" else revision, timeout=READ_S)
            matching(COMMIT, said.sha)
            return hit_of(said)

    def files(self, repo_id: str, commit: str, task: Task | None = None) -> tuple[RemoteFile, ...]:
        """All files at a commit. `task` can end it between two pages of a thousand."""
        _require_names(repo_id, commit)
        with self._library(About(repo_id, commit)) as api:
            return tuple(_files(api.list_repo_tree(repo_id, recursive=True, revision=commit), task))

    def branches(self, repo_id: str) -> tuple[str, ...]:
        """The names of its branches, as the Hub orders them."""
        return tuple(self.branch_commits(repo_id))

    def branch_commits(self, repo_id: str) -> Mapping[str, str]:
        """At which commit each of its branches is now, as the Hub orders them."""
        _require_names(repo_id)
        with self._library(About(repo_id)) as api:
            found = api.list_repo_refs(repo_id).branches
            return {str(branch.name): matching(COMMIT, branch.target_commit) for branch in found}

    def user(self) -> str:
        """The name of whose token it is. Raises Refused("hub.token") where the Hub does not take it."""
        with self._asking(About()):
            response = self._client.get(f"{self._endpoint()}/api/whoami-v2", extensions=_extensions("token"))
            return str(response.json()["name"])

    def locate(self, repo_id: str, commit: str, path: str) -> Located:
        """A fresh address of a file's bytes, signed for some minutes."""
        from huggingface_hub import get_hf_file_metadata

        _require_names(repo_id, commit, path)
        with self._library(About(repo_id, commit, path)):
            said = get_hf_file_metadata(self._address(repo_id, commit, path), token=False, timeout=READ_S)
            if said.commit_hash is None or said.etag is None or said.size is None:
                raise Unreachable("hub.portal", host=self._access.origin().host, reason="X-Repo-Commit")
            etag = said.etag if COMMIT.fullmatch(said.etag) else matching(SHA256, said.etag)
            found = Located(said.location, etag, said.size, matching(COMMIT, said.commit_hash))
        if said.xet_file_data is None or not wanted(self._access.xet(), found.size_bytes):
            return found
        return replace(found, xet=self._xet_place(About(repo_id, commit, path), said.xet_file_data.file_hash))

    def open(self, located: Located, start: int, purpose: str = "file") -> AbstractContextManager[Bytes]:
        """The bytes of a file from `start` on. Without a byte for STALL_S it is told as "hub.stalled"; while it
        connects, after CONNECT_S."""
        if located.xet is not None:
            return self._by_xet(located, located.xet, start, purpose)
        return self._by_http(located, start, purpose)

    @contextmanager
    def _by_http(self, located: Located, start: int, purpose: str) -> Iterator[Streamed]:
        with self._asking(About()):
            headers = {"range": f"bytes={start}-"} if start else {}
            extensions = {**_extensions(purpose, None), "timeout": httpx2.Timeout(STALL_S, connect=CONNECT_S).as_dict()}
            request = self._client.build_request("GET", located.url, headers=headers, extensions=extensions)
            response = self._client.send(request, stream=True)
        try:
            streamed = Streamed(response, located, start)
        except Unreachable:
            response.close()
            raise
        try:
            yield streamed
        finally:
            streamed.close()

    def _xet_place(self, about: About, hash: str) -> XetPlace:
        address = f"{self._endpoint()}/api/models/{about.repo_id}/xet-read-token/{quote(about.revision, safe='')}"
        with self._asking(about):
            response = self._client.get(address, extensions=_extensions("file"))
            return place_of(matching(SHA256, hash), response.headers)

    @contextmanager
    def _by_xet(self, located: Located, place: XetPlace, start: int, purpose: str) -> Iterator[XetBytes]:
        if self._access.offline():
            raise Refused("hub.offline")
        storage = require_storage(place.address, self._access.origin())
        host = LOCAL if storage is None else storage.host
        line = self._log.begin(host, purpose, "XET")
        if storage is not None:
            self._require_public(storage, line)
        try:
            group = XetGroup(place, _AGENT)
        except Exception as error:  # whatever its Rust comes to
            raise told(error, host, line) from None
        opened = XetBytes(group, located, place, start, host, line, Patience(CONNECT_S, STALL_S))
        try:
            yield opened
        finally:
            opened.close()

    def _require_public(self, storage: Origin, line: Line) -> None:
        """What the storage's name leads to is checked as for all else; hf_xet then looks it up again by itself."""
        if proxy_of(storage) is not None:
            return  # names are looked up there
        try:
            checked(self._look_up, storage.host, storage.port, self._access.origin(), time.monotonic() + CONNECT_S)
        except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
            fault = broken(error, storage.host)
            line.ended(None, fault.code)
            raise fault from error
        except Refused as refused:
            line.ended(None, refused.code)
            raise

    def small(self, repo_id: str, commit: str, path: str, most_bytes: int, purpose: str = "file") -> bytes:
        """The first `most_bytes` of a file: the whole of a small one."""
        return self.part(repo_id, commit, path, 0, most_bytes, purpose)

    def part(
        self,
        repo_id: str,
        commit: str,
        path: str,
        start: int,
        length: int,
        purpose: str = "header",
        task: Task | None = None,
    ) -> bytes:
        """`length` bytes of a file from `start` on; fewer where it ends before. `task` ends it between two pieces."""
        _require_names(repo_id, commit, path)
        with self._asking(About(repo_id, commit, path)):
            request = self._client.build_request(
                "GET",
                self._address(repo_id, commit, path),
                headers={"range": f"bytes={start}-{start + length - 1}"},
                extensions=_extensions(purpose, None),
            )
            try:
                response = self._client.send(request, stream=True)
            except BadAnswer as bad:
                if bad.answer.status == httpx2.codes.RANGE_NOT_SATISFIABLE:
                    return b""  # there is no such byte, as in an empty file
                raise
            try:
                return _between(response, start, length, task)
            finally:
                response.close()

    def readme(self, repo_id: str, commit: str) -> str | None:
        """The model's card, in Markdown from strangers, cut at a MiB; None where it has none."""
        try:
            data = self.small(repo_id, commit, "README.md", README_BYTES, "card")
        except Refused as refused:
            if refused.code == "hub.no_file":
                return None
            raise
        return data.decode("utf-8", "replace")

    def _endpoint(self) -> str:
        return self._access.endpoint().rstrip("/")

    def _address(self, repo_id: str, commit: str, path: str) -> str:
        return f"{self._endpoint()}/{repo_id}/resolve/{quote(commit, safe='')}/{quote(path)}"

    @contextmanager
    def _library(self, about: About) -> Iterator[HfApi]:
        with self._asking(about), library(self._endpoint(), self._transport) as api:
            yield api

    @contextmanager
    def _asking(self, about: About) -> Iterator[None]:
        """Where an answer becomes an error that names what was asked for."""
        try:
            yield
        except BadAnswer as bad:
            raise fault(bad.answer, about) from None
        except httpx2.TooManyRedirects:
            raise Unreachable("hub.server", host=self._access.origin().host, reason="redirects") from None
        except _BadEntry as bad:
            raise Unreachable("hub.bad_entry", host=self._access.origin().host, name=bad.name) from None
        except (httpx2.InvalidURL, *_UNREADABLE) as error:
            raise Unreachable("hub.nonsense", host=self._access.origin().host, reason=type(error).__name__) from error


def _extensions(purpose: str, most_bytes: int | None = MOST_BYTES) -> dict[str, Any]:
    return {PURPOSE: purpose, LIMIT: most_bytes}


def _require_names(repo_id: str, revision: str = "main", path: str = "x") -> None:
    """Raise Refused("hub.bad_name") at what is no name of a repository, a revision or a file, before it is sent."""
    parts = repo_id.split("/")
    if not REPO_ID.fullmatch(repo_id) or any(part.strip(".") == "" for part in parts):
        raise Refused("hub.bad_name", name=repo_id)
    for name, most in ((revision, _MOST_REVISION), (path, 4_096)):
        dots = any(part in ("", ".", "..") for part in name.split("/"))
        if dots or len(name) > most or not name.isprintable():
            raise Refused("hub.bad_name", name=name)


def _files(entries: Any, task: Task | None) -> Iterator[RemoteFile]:
    for entry in islice(entries, MOST_FILES + 1):
        if task is not None:
            task.check()
        yield from _file(entry)


class _BadEntry(Exception):
    """A tree tells of a file, called so, what no file can have."""

    def __init__(self, name: object) -> None:
        super().__init__(name)
        self.name = printable(str(name)[:_SHOWN])


def _file(entry: RepoFile | RepoFolder) -> Iterator[RemoteFile]:
    """A file of the tree; nothing for a folder. Raises _BadEntry where it is not what a tree holds."""
    from huggingface_hub.hf_api import RepoFile

    if not isinstance(entry, RepoFile):
        return
    if not isinstance(entry.path, str) or type(entry.size) is not int or entry.size < 0:
        raise _BadEntry(entry.path)
    try:
        sha256 = None if entry.lfs is None else matching(SHA256, entry.lfs.sha256)
        git_sha1 = None if sha256 else matching(COMMIT, entry.blob_id)
        xet_hash = None if entry.xet_hash is None else matching(SHA256, entry.xet_hash)
    except ValueError:
        raise _BadEntry(entry.path) from None
    yield RemoteFile(entry.path, entry.size, sha256, git_sha1, xet_hash)


def _between(response: httpx2.Response, start: int, length: int, task: Task | None) -> bytes:
    """What was asked for, also of an answer that begins at the file's start. Raises ValueError for another range."""
    skipped = start
    if response.status_code == httpx2.codes.PARTIAL_CONTENT:
        told = _RANGE.match(response.headers.get("content-range", ""))
        if told is None or int(told.group(1)) != start:
            raise ValueError("Content-Range")
        skipped = 0
    held, wanted_bytes = bytearray(), skipped + length
    for piece in response.iter_raw():
        if task is not None:
            task.check()
        held += piece
        if len(held) >= wanted_bytes:
            break
    return bytes(held[skipped:wanted_bytes])
