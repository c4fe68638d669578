"""A Hugging Face Hub on loopback, for the real huggingface_hub and for whoever else asks."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.fake_hub import api, files
from tests.fake_hub.exchange import Answer, Request, redirect, refusal
from tests.fake_hub.faults import Fault, Faults
from tests.fake_hub.limits import Limits, too_many
from tests.fake_hub.repository import Commit, Files, Repo
from tests.fake_hub.serving import Service
from tests.fake_hub.xet import LocalXet

_BAD_TOKEN = "Invalid credentials in Authorization header"


class FakeHub:
    """Two servers: the Hub at `endpoint` and the storage of large files at `cdn`. Runs between enter and exit.

    `tokens` says whose a token is; a token that is not there is refused. `requests` is all that came in, in order.
    `signer.seconds` is how long a signed address is good. Of the pages of lists one may choose the lengths.
    """

    def __init__(self, *, tls: bool = False) -> None:
        self.repos: dict[str, Repo] = {}
        self.tokens: dict[str, str] = {}
        self.limits = Limits()
        self.faults = Faults()
        self.requests: list[Request] = []
        self.signer = files.Signer()
        self.models_per_page, self.files_per_page, self.expanded_per_page = 1000, 1000, 50
        self.authority: Path | None = None
        self._names: dict[str, str] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="fake-hub-")
        self._xet = LocalXet(Path(self._folder.name) / "xet")
        context = self._certify() if tls else None
        self._hub = Service("hub", self._answering, context)
        self._cdn = Service("cdn", self._answering, context)

    @property
    def endpoint(self) -> str:
        return self._hub.address

    @property
    def cdn(self) -> str:
        return self._cdn.address

    @property
    def xet_address(self) -> str:
        return self._xet.address

    def __enter__(self) -> Self:
        self._hub.start()
        self._cdn.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._hub.stop()
        self._cdn.stop()
        self._folder.cleanup()
        faults = [*self._hub.errors, *self._cdn.errors]
        if faults and error is None:
            raise faults[0]

    def add(
        self,
        id: str,
        files: Files,
        *,
        branch: str = "main",
        tags: tuple[str, ...] = (),
        gated: str | None = None,
        private: bool = False,
        lfs_from: int = 1 << 14,
        xet: bool = False,
        **facts: Any,
    ) -> Repo:
        """A new repository. Files of `lfs_from` bytes and more, and those named as weights are, are large ones;
        with `xet` they are in Xet's storage too. A repository whose files are on another branch has an empty main.
        `facts`: see Repo.
        """
        repo = Repo(id, gated, private, tags, lfs_from, facts, self._xet.store if xet else None)
        if branch != "main":
            repo.commit({".gitattributes": "*.safetensors filter=lfs\n"}, title="initial commit")
        repo.commit(files, branch)
        self.repos[id] = repo
        return repo

    def rename(self, old: str, new: str) -> None:
        """The old name leads to the new one."""
        repo = self.repos.pop(old)
        repo.id = new
        self.repos[new] = repo
        self._names[old] = new

    def remove(self, id: str) -> None:
        """The repository is gone."""
        del self.repos[id]

    def expire_addresses(self) -> None:
        """Every signed address made so far is good no more."""
        self.signer.expire()

    @contextmanager
    def away(self) -> Iterator[None]:
        """The network is gone: every connection is closed, and each new one at once."""
        for service in (self._hub, self._cdn):
            service.away = True
            service.drop_connections()
        yield
        self._hub.away = self._cdn.away = False

    def trust(self) -> ssl.SSLContext:
        """What a client needs to believe the servers' certificate."""
        return ssl.create_default_context(cafile=str(self.authority))

    def asked(self, *, server: str | None = None, method: str | None = None, path: str = "") -> list[Request]:
        """Those requests that were made to a server, with a method, about a path that begins so."""
        return [
            request
            for request in self.requests
            if server in {None, request.server}
            and method in {None, request.method}
            and (request.path.startswith(path) or request.file == path)
        ]

    def user(self, asked: Request) -> str | None:
        return self.tokens.get(asked.token) if asked.token else None

    def seen(self, repo: Repo, asked: Request) -> bool:
        """Whether the one who asks may know of the repository."""
        return not repo.private or self.user(asked) in repo.members

    def _certify(self) -> ssl.SSLContext:
        from tests.fake_hub.tls import certify

        context, self.authority = certify(Path(self._folder.name))
        return context

    def _answering(self, asked: Request) -> tuple[Answer, Fault | None]:
        self.requests.append(asked)
        answer = self.signer.answer(asked) if asked.server == "cdn" else self._limited(asked)
        asked.file = answer.file
        asked.kind = _kind(asked, answer)
        return answer, self.faults.take(asked, answer)

    def _limited(self, asked: Request) -> Answer:
        standing, over = self.limits.spend("resolvers" if "resolve" in asked.path else "api")
        if over:
            return too_many(standing)
        known = asked.token is None or asked.token in self.tokens
        answer = self._routed(asked) if known else refusal(401, None, _BAD_TOKEN)
        answer.headers.update(standing)
        return answer

    def _routed(self, asked: Request) -> Answer:
        match asked.segments:
            case ["api", "whoami-v2"]:
                return api.whoami(self.user(asked))
            case ["api", "models"]:
                return api.models(self, asked)
            case ["api", "resolve-cache", "models", owner, name, sha, *path]:
                return self._in_repo(asked, f"{owner}/{name}", ["resolve-cache", sha, *path])
            case ["api", "models", owner, name, *rest]:
                return self._in_repo(asked, f"{owner}/{name}", rest)
            case [owner, name, "resolve" | "raw", _, _, *_]:
                return self._in_repo(asked, f"{owner}/{name}", asked.segments[2:])
        return refusal(404, None, "Sorry, we can't find the page you are looking for.")

    def _in_repo(self, asked: Request, id: str, rest: list[str]) -> Answer:
        spelled = self._names.get(id) or next((name for name in self.repos if name.lower() == id.lower()), id)
        repo = self.repos.get(spelled)
        if repo is None or not self.seen(repo, asked):
            if self.user(asked):
                return refusal(404, "RepoNotFound", "Repository not found")
            return refusal(401, "RepoNotFound", "Invalid username or password.")
        if spelled != id:
            return redirect(307, asked.path.replace(f"/{id}", f"/{spelled}", 1))
        what, revision, *path = rest if len(rest) > 1 else [*rest, *("", "main")[len(rest) :]]
        commit = repo.at(revision)
        if commit is None:
            return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return self._told(asked, repo, commit, what, "/".join(path))

    def _told(self, asked: Request, repo: Repo, commit: Commit, what: str, path: str) -> Answer:
        """What anyone may know who sees the repository."""
        match what:
            case "" | "revision":
                return api.model(self, asked, repo, commit)
            case "refs":
                return api.refs(repo)
            case "tree":
                return api.tree(self, asked, repo, commit, path)
            case "paths-info":
                return api.paths_info(asked, repo, commit)
        return self._gate(repo, asked) or self._fetched(asked, repo, commit, what, path)

    def _fetched(self, asked: Request, repo: Repo, commit: Commit, what: str, path: str) -> Answer:
        """What only those get who have accepted the licence."""
        match what:
            case "auth-check":
                return Answer()
            case "resolve":
                return files.resolve(self, asked, repo, commit, path)
            case "resolve-cache":
                return files.small(asked, commit, path)
            case "raw":
                return files.raw(commit, path)
            case "xet-read-token":
                return api.xet_token(self)
        return refusal(404, None, "Not found")

    def _gate(self, repo: Repo, asked: Request) -> Answer | None:
        """The refusal of one who has not accepted the licence."""
        user = self.user(asked)
        if not repo.gated or user in repo.granted:
            return None
        if user is None:
            message = f"Access to model {repo.id} is restricted. You must have access to it and be authenticated."
            return refusal(401, "GatedRepo", message)
        message = f"Access to model {repo.id} is restricted and you are not in the authorized list."
        return refusal(403, "GatedRepo", f"{message} Visit {self.endpoint}/{repo.id} to ask for access.")


def _kind(asked: Request, answer: Answer) -> str:
    if asked.method == "GET" and answer.file is not None and answer.status in {200, 206}:
        return "bytes"
    if asked.server == "cdn" or "resolve" in urlsplit(asked.path).path.split("/")[1:4]:
        return "resolve"
    return "resolve" if answer.file is not None else "api"
