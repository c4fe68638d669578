"""One endpoint, what it was last seen to serve, and its models as the library lists them. Pure."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from weighbridge.formats.architectures import Kind
from weighbridge.library.model import ENDPOINT, Model, Reach, Remote
from weighbridge.running.endpoints.address import reach_of
from weighbridge.running.endpoints.presets import OTHER, Preset, presets
from weighbridge_engines.api import Cause

MOST_TITLE = 60
_NOWHERE = Path(os.devnull)
"""Nothing can be below it: what has this for a parent is no file, now or ever."""


@dataclass(frozen=True)
class Endpoint:
    """A server that someone else runs. `id` is its short name, `title` what people read.

    `origin` is its scheme, host and port, `base_path` what stands before its routes ("/v1", or ""). `key_number` is
    another one for each key that was ever given to it, 0 where none is kept. `plain_key`: the user has agreed that the
    key goes over http to the internet, where others can read it.
    """

    id: str
    title: str
    origin: str
    base_path: str
    preset_id: str = OTHER
    key_number: int = 0
    plain_key: bool = False

    @property
    def keyed(self) -> bool:
        """Whether a key is kept for it."""
        return self.key_number != 0

    @property
    def address(self) -> str:
        """Where its routes begin."""
        return f"{self.origin}{self.base_path}"

    @property
    def host(self) -> str:
        """Its host, without a port."""
        return urlsplit(self.origin).hostname or ""

    @property
    def preset(self) -> Preset:
        """How it is spoken to."""
        return presets().get(self.preset_id) or presets()[OTHER]

    @property
    def reach(self) -> Reach:
        """How far what is sent there goes."""
        return reach_of(self.host)

    @property
    def leaves(self) -> bool:
        """Whether what is sent there leaves this computer."""
        return self.reach is not Reach.HERE

    @property
    def unprotected(self) -> bool:
        """Whether what is sent there leaves this computer without encryption."""
        return self.leaves and self.origin.startswith("http:")


@dataclass(frozen=True)
class Listed:
    """A model that a server lists: its name there, its context length in tokens, what it is for, whether it takes
    pictures, and whether the server says that it sends requests on to others. None: not told.
    """

    name: str
    context: int | None = None
    kind: Kind | None = None
    sent_on: bool = False
    sees: bool | None = None


@dataclass(frozen=True)
class Reached:
    """What came of asking a server for its models, at `at_s` (seconds since 1970).

    `cause` is why it could not be reached, or gave no list; None where it did. `ms` is how long its answer took,
    `found_path` the base path at which it has a list, where that is not the one of the endpoint. `left_out` counts
    names that nobody could show or send, `beyond` those behind the end of what is listed of one server.
    """

    at_s: float
    cause: Cause | None = None
    models: tuple[Listed, ...] = ()
    ms: float | None = None
    found_path: str | None = None
    left_out: int = 0
    beyond: int = 0

    @property
    def reachable(self) -> bool:
        """Whether it gave a list."""
        return self.cause is None


def short_name(title: str, taken: Iterable[str]) -> str:
    """A short name made of `title` that is none of those `taken`."""
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:30] or ENDPOINT
    names, number, name = set(taken), 2, base
    while name in names:
        name, number = f"{base}-{number}", number + 1
    return name


def models_of(endpoint: Endpoint, listed: Iterable[Listed]) -> tuple[Model, ...]:
    """The models of an endpoint, as the library lists them: each is called "NAME@ENDPOINT".

    It answers to no shorter name, so that nothing leaves this computer for a name that another model might have had.
    """
    return tuple(_model(endpoint, each) for each in listed)


def _model(endpoint: Endpoint, listed: Listed) -> Model:
    named = f"{listed.name}@{endpoint.id}"
    place = _NOWHERE / endpoint.id / hashlib.sha256(listed.name.encode("utf-8", "replace")).hexdigest()[:16]
    reach = Reach.INTERNET if listed.sent_on else endpoint.reach
    remote = Remote(endpoint.id, endpoint.title, listed.name, reach, listed.context, listed.kind, listed.sees)
    return Model(named, named, place, (), ENDPOINT, None, 0, source=ENDPOINT, remote=remote)
