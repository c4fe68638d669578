"""The Hub's API for models: search, a repository's facts, its tree, its refs."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.fake_hub.content import Held, git_sha1
from tests.fake_hub.exchange import Answer, Request, of_json, refusal
from tests.fake_hub.repository import Commit, Entry, Repo

if TYPE_CHECKING:
    from tests.fake_hub.hub import FakeHub

_LISTED = ("likes", "private", "downloads", "tags", "pipeline_tag", "library_name", "createdAt", "trendingScore")
_TOLD = (
    *_LISTED,
    *("author", "sha", "lastModified", "gated", "disabled", "siblings", "gguf", "safetensors", "cardData", "config"),
    *("usedStorage", "spaces", "widgetData", "model-index", "transformersInfo", "inference"),
)
_EXPANDED = frozenset(_TOLD) | {
    "baseModels",
    "childrenModelCount",
    "downloadsAllTime",
    "evalResults",
    "inferenceProviderMapping",
    "mask_token",
    "resourceGroup",
}
_SORTED = ("createdAt", "downloads", "lastModified", "likes", "trendingScore")
_TESTED = ("search", "filter", "author", "apps", "gated", "pipeline_tag", "num_parameters")
_ASKED = frozenset({*_TESTED, "sort", "limit", "expand", "full", "config", "cardData", "cursor"})
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


def models(hub: FakeHub, asked: Request) -> Answer:
    """GET /api/models"""
    query = asked.query
    unknown = set(query) - _ASKED | set(query.get("expand", ())) - _EXPANDED
    sort = query.get("sort", ["trendingScore"])[0]
    if unknown or sort not in _SORTED:
        return refusal(400, None, f"Invalid query: {', '.join(sorted(unknown)) or sort}")
    found = [repo for repo in hub.repos.values() if hub.seen(repo, asked) and _found(repo, query)]
    found.sort(key=lambda repo: _facts(repo, repo.branches["main"])[sort], reverse=True)
    properties = query.get("expand") or (_TOLD if asked.flag("full") else _LISTED)
    size = min(int(query.get("limit", [str(hub.models_per_page)])[0]), hub.models_per_page)
    page, headers = _page(hub, asked, found, size)
    return of_json([_described(repo, repo.branches["main"], properties) for repo in page], headers)


def model(hub: FakeHub, asked: Request, repo: Repo, commit: Commit) -> Answer:
    """GET /api/models/{id}[/revision/{rev}]"""
    properties = asked.query.get("expand")
    if set(properties or ()) - _EXPANDED:
        return refusal(400, None, "Invalid query: expand")
    told = _described(repo, commit, properties or _TOLD)
    if asked.flag("blobs"):
        told["siblings"] = [_sibling(entry) for entry in commit.entries.values()]
    return of_json(told)


def tree(hub: FakeHub, asked: Request, repo: Repo, commit: Commit, folder: str) -> Answer:
    """GET /api/models/{id}/tree/{rev}[/{folder}]"""
    expand = asked.flag("expand")
    entries = _entries(repo, commit, expand)
    inside = [entry for entry in entries if not folder or entry["path"].startswith(folder + "/")]
    if folder and not inside:
        return not_there(folder, commit)
    if not asked.flag("recursive"):
        depth = folder.count("/") + 1 if folder else 0
        inside = [entry for entry in inside if entry["path"].count("/") == depth]
    page, headers = _page(hub, asked, inside, hub.expanded_per_page if expand else hub.files_per_page)
    return of_json(page, headers)


def paths_info(asked: Request, repo: Repo, commit: Commit) -> Answer:
    """POST /api/models/{id}/paths-info/{rev}"""
    if asked.headers.get("content-type", "").startswith("application/json"):
        form = json.loads(asked.body)
        paths, expand = form["paths"], bool(form.get("expand"))
    else:
        told = parse_qs(asked.body.decode())
        paths, expand = told.get("paths", []), told.get("expand", [""])[0].lower() in {"true", "1"}
    return of_json([entry for entry in _entries(repo, commit, expand) if entry["path"] in paths])


def refs(repo: Repo) -> Answer:
    """GET /api/models/{id}/refs"""
    branches = [_ref(name, "heads", commit) for name, commit in repo.branches.items()]
    tags = [_ref(name, "tags", commit) for name, commit in repo.tags.items()]
    return of_json({"branches": branches, "converts": [], "tags": tags})


def whoami(user: str | None) -> Answer:
    """GET /api/whoami-v2"""
    if user is None:
        return refusal(401, None, "Invalid username or password.")
    auth = {"type": "access_token", "accessToken": {"displayName": "test", "role": "read"}}
    return of_json({"type": "user", "id": user, "name": user, "fullname": user, "orgs": [], "auth": auth})


def xet_token(hub: FakeHub) -> Answer:
    """GET /api/models/{id}/xet-read-token/{sha}"""
    until = int(time.time()) + 3600
    place, token = hub.xet_address, "xet-token"
    headers = {"X-Xet-Cas-Url": place, "X-Xet-Access-Token": token, "X-Xet-Token-Expiration": str(until)}
    return of_json({"casUrl": place, "accessToken": token, "exp": until}, headers)


def not_there(path: str, commit: Commit) -> Answer:
    return refusal(404, "EntryNotFound", f"{path} does not exist", {"X-Repo-Commit": commit.sha})


def _described(repo: Repo, commit: Commit, properties: Sequence[str]) -> dict[str, Any]:
    facts = _facts(repo, commit)
    told = {name: facts[name] for name in properties if name in facts}
    return {"_id": _hash_of(repo.id)[:24], "id": repo.id, "modelId": repo.id, **told}


def _facts(repo: Repo, commit: Commit) -> dict[str, Any]:
    return {
        "author": repo.id.partition("/")[0],
        "sha": commit.sha,
        "lastModified": commit.date,
        "createdAt": repo.created,
        "private": repo.private,
        "gated": repo.gated or False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "trendingScore": 0,
        "tags": list(repo.model_tags),
        "usedStorage": sum(entry.size for entry in commit.entries.values()),
        "siblings": [{"rfilename": path} for path in commit.entries],
        "spaces": [],
        **repo.facts,
    }


def _found(repo: Repo, query: dict[str, list[str]]) -> bool:
    facts = _facts(repo, repo.branches["main"])
    parameters = _parameters(facts)
    tests: dict[str, Callable[[str], bool]] = {
        "search": lambda told: all(word in repo.id.lower() for word in told.lower().split()),
        "filter": lambda told: told in facts["tags"],
        "author": lambda told: facts["author"].lower() == told.lower(),
        "apps": lambda told: told in facts.get("apps", ()),
        "gated": lambda told: bool(facts["gated"]) == (told.lower() == "true"),
        "pipeline_tag": lambda told: facts.get("pipeline_tag") == told,
        "num_parameters": lambda told: parameters is not None and _within(parameters, told),
    }
    return all(tests[name](value) for name in _TESTED for value in query.get(name, ()))


def _parameters(facts: dict[str, Any]) -> float | None:
    told = facts.get("safetensors") or facts.get("gguf") or {}
    return told.get("total")


def _within(parameters: float, told: str) -> bool:
    """Whether a number of parameters is in a range as "min:6B,max:128B"."""
    limits = dict(part.split(":") for part in told.split(","))
    low, high = (_number(limits[name]) if name in limits else None for name in ("min", "max"))
    return (low is None or parameters >= low) and (high is None or parameters <= high)


def _number(told: str) -> float:
    return float(told[:-1]) * _UNITS[told[-1].upper()] if told[-1].upper() in _UNITS else float(told)


def _page(hub: FakeHub, asked: Request, rows: list[Any], size: int) -> tuple[list[Any], dict[str, str]]:
    """One page, and the header with the address of the next, whose cursor says nothing to anyone else."""
    told = asked.query.get("cursor", [""])[0]
    start = int(base64.urlsafe_b64decode(told)) if told else 0
    page, rest = rows[start : start + size], rows[start + size :]
    if not rest:
        return page, {}
    query = {**asked.query, "cursor": [base64.urlsafe_b64encode(str(start + size).encode()).decode()]}
    return page, {
        "Link": f'<{hub.endpoint}{urlsplit(asked.path).path}?{urlencode(query, doseq=True)}>; rel="next"',
    }


def _entries(repo: Repo, commit: Commit, expand: bool) -> list[dict[str, Any]]:
    """Every folder and every file, as the tree tells them."""
    folders = {path[:at] for path in commit.entries for at, letter in enumerate(path) if letter == "/" and at}
    rows = [{"type": "directory", "oid": _hash_of(commit.sha + path), "size": 0, "path": path} for path in folders]
    rows += [_file(entry) for entry in commit.entries.values()]
    if expand:
        last = {"id": commit.sha, "title": commit.title, "date": commit.date}
        rows = [{**row, "lastCommit": last, **_security(repo, row)} for row in rows]
    return sorted(rows, key=lambda row: row["path"])


def _file(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "file", "oid": entry.oid, "size": entry.size, "path": entry.path}
    if entry.large:
        told["lfs"] = {"oid": entry.sha256, "size": entry.size, "pointerSize": entry.pointer.size}
    if entry.xet_hash:
        told["xetHash"] = entry.xet_hash
    return told


def _sibling(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"rfilename": entry.path, "size": entry.size, "blobId": entry.oid}
    if entry.large:
        told["lfs"] = {"sha256": entry.sha256, "size": entry.size, "pointerSize": entry.pointer.size}
    return told


def _security(repo: Repo, row: dict[str, Any]) -> dict[str, Any]:
    if row["type"] == "directory":
        return {}
    status = "unsafe" if row["path"] in repo.unsafe else "safe"
    return {"securityFileStatus": {"status": status, "avScan": {"status": status}, "pickleImportScan": None}}


def _ref(name: str, kind: str, commit: Commit) -> dict[str, str]:
    return {"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": commit.sha}


def _hash_of(text: str) -> str:
    return git_sha1(Held(text.encode()))
