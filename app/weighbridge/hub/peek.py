"""Looking into the small files of a repository before anything of it is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from weighbridge.formats.plain_json import CONFIG_LIMIT_BYTES, json_object
from weighbridge.formats.variant import Reader
from weighbridge.hub.remote import Repository


class Small(Protocol):
    """What gives small files whole, as `client.Hub` does."""

    def small(self, repo_id: str, commit: str, path: str, most_bytes: int, purpose: str = "file") -> bytes:
        """The first `most_bytes` of a file."""


def remote_reader(hub: Small, repository: Repository) -> Reader:
    """A reader of the JSON files of `repository`, each asked for once. One that is too long tells nothing.

    It raises BadFile("json.damaged"), and what the Hub raises.
    """
    sizes = {file.path: file.size_bytes for file in repository.files}

    @cache
    def content(path: str) -> Mapping[str, Any] | None:
        size = sizes.get(path, CONFIG_LIMIT_BYTES + 1)
        if size > CONFIG_LIMIT_BYTES:
            return None
        return json_object(hub.small(repository.id, repository.commit, path, size, "config"), path)

    return Reader(json=content)
