"""The one owner of all endpoints: what is known of them, their keys, and the ways to them.

What asks a server is imported once one is to be asked: a mere list of models needs none of it.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, NotFound, Refused
from weighbridge.base.listeners import Listeners
from weighbridge.base.printable import printable
from weighbridge.base.task import Task
from weighbridge.hub.addresses import origin_of
from weighbridge.hub.network import NetworkLog
from weighbridge.library.model import Model, Reach
from weighbridge.running.endpoints import table
from weighbridge.running.endpoints.address import path_of, place_of
from weighbridge.running.endpoints.endpoint import MOST_TITLE, Endpoint, Reached, models_of, short_name
from weighbridge.running.endpoints.keys import Keys, key_of
from weighbridge.running.endpoints.presets import OTHER, Preset, preset_for, presets
from weighbridge.running.endpoints.way import Way
from weighbridge_engines.api import Engine


@dataclass(frozen=True)
class Attached:
    """What a model of an endpoint is lent with: the engine over its server, and the way there, with its key."""

    endpoint: Endpoint
    engine: Engine
    way: Way


class Endpoints:
    """All of them, in `database`. Safe to use from any thread; `subscribe` tells of each change.

    Nothing is asked of a server but by `reach`, and by the requests of those who were lent a model of it. `offline()`
    forbids what leaves this computer. `tls` is for servers with an authority of their own; without it, the system's.
    """

    def __init__(
        self,
        database: Database,
        keys: Keys,
        network: NetworkLog,
        offline: Callable[[], bool],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._database, self._keys = database, keys
        self._network, self._offline = network, offline
        self._tls = tls
        self._lock = threading.RLock()
        self._listeners: Listeners[[]] = Listeners()
        self._kept: tuple[table.Kept, ...] = ()
        self._models: tuple[Model, ...] = ()
        self._rows: list[tuple[object, ...]] = []
        self._version = database.version
        self._read()

    @cached_property
    def house(self) -> str:
        """What the port of this data folder calls itself, so that it is known where it is met as an endpoint."""
        return table.house_of(self._database)

    @property
    def all(self) -> tuple[Endpoint, ...]:
        """All endpoints, in the order in which they were added."""
        return tuple(kept.endpoint for kept in self._kept)

    def get(self, name: str) -> Endpoint:
        """The endpoint with this id or title, in any case. Raises NotFound("endpoint.unknown", name=, known=)."""
        return self._named(name).endpoint

    def reached(self, endpoint_id: str) -> Reached | None:
        """What came of asking it last; None where it never was."""
        return self._named(endpoint_id).reached

    def models(self) -> tuple[Model, ...]:
        """The models that were listed last, endpoint by endpoint. Asks nobody."""
        return self._models

    def models_at(self, endpoint_id: str) -> tuple[Model, ...]:
        """Those of one endpoint."""
        kept = self._named(endpoint_id)
        return models_of(kept.endpoint, kept.models)

    def add(
        self,
        address: str,
        *,
        preset: str | None = None,
        title: str = "",
        base_path: str | None = None,
        key: str | None = None,
        plain_key: bool = False,
    ) -> Endpoint:
        """Add a server by its address; it is not asked for anything. `preset` None: what it most likely is.

        Raises Refused: "endpoint.address"; "endpoint.preset"; "endpoint.key_form"; "endpoint.plain_key" where the key
        would go over http to the internet and nobody has agreed to that; "endpoint.known" where it is here already.
        """
        made = replace(self._made(address, preset, title, base_path), plain_key=plain_key)
        require_protected(made, keyed=key is not None)
        value = None if key is None else key_of(key)
        with self._changing():
            self._require_new(made)
            if value is not None:
                made = replace(made, key_number=self._keys.keep(made.id, value))
            table.write(self._database, made)
        return made

    def change(
        self,
        name: str,
        *,
        title: str | None = None,
        address: str | None = None,
        preset: str | None = None,
        base_path: str | None = None,
    ) -> Endpoint:
        """Give it another title, address, preset or base path. A key stays only where the server does: it was for that.

        Raises what `get` and `add` raise.
        """
        before = self.get(name)
        after = replace(before, title=_title(title, before.title))
        if preset is not None:
            usual = before.base_path == before.preset.base_path
            after = replace(after, preset_id=_preset(preset).id)
            after = replace(after, base_path=after.preset.base_path if usual else before.base_path)
        if address is not None:
            origin, path = place_of(address)
            after = replace(after, origin=str(origin), base_path=after.preset.base_path if path is None else path)
        if base_path is not None:
            after = replace(after, base_path=path_of(base_path))
        with self._changing():
            self._require_new(after)
            if after.address != before.address:
                table.forget_listed(self._database, before.id)
            if after.origin != before.origin:
                self._keys.forget(before.id)
                after = replace(after, key_number=0, plain_key=False)
            table.write(self._database, after)
        return after

    def use_key(self, name: str, key: str | None, *, plain_key: bool = False) -> Endpoint:
        """Keep a key for it in the place of the one that was; None: keep none. Raises what `get` and `add` raise."""
        changed = replace(self.get(name), key_number=0, plain_key=plain_key)
        require_protected(changed, keyed=key is not None)
        value = None if key is None else key_of(key)
        with self._changing():
            if value is None:
                self._keys.forget(changed.id)
            else:
                changed = replace(changed, key_number=self._keys.keep(changed.id, value))
            table.write(self._database, changed)
        return changed

    def remove(self, name: str) -> Endpoint:
        """Forget it, its models and its key. What was lent goes on to its end."""
        endpoint = self.get(name)
        with self._changing():
            table.delete(self._database, endpoint.id)
            self._keys.forget(endpoint.id)
        return endpoint

    def reach(self, name: str, task: Task | None = None) -> Reached:
        """Ask the server for its models, and keep what came of it.

        Never raises for what the server does, which is in the answer. Raises NotFound, Refused("endpoint.offline"),
        and Cancelled, at once where `task` is cancelled.
        """
        from weighbridge.running.endpoints.asking import Asker, with_hint

        endpoint, task = self.get(name), task or Task()
        asker = Asker(endpoint, self.way(endpoint), self.house)
        task.on_cancel(asker.cut)
        try:
            reached = with_hint(asker.models())
        finally:
            task.on_cancel(None)
        task.check()
        with self._changing():
            table.write_reached(self._database, endpoint.id, reached)
        return reached

    def attach(self, model: Model) -> Attached:
        """What `model` is lent with. Raises NotFound, Refused("endpoint.plain_key")."""
        assert model.remote is not None
        self.refresh()
        endpoint = self._by_id(model.remote.endpoint_id).endpoint
        require_protected(endpoint, keyed=endpoint.keyed)
        engine = endpoint.preset.engine(endpoint.title, endpoint.base_path)
        # A server here may send it on.
        way = replace(self.way(endpoint), leaves=model.leaves, sees=model.remote.sees)
        return Attached(endpoint, engine, way)

    def stands(self, endpoint: Endpoint) -> bool:
        """Whether `endpoint` is still there, with nothing changed."""
        return endpoint in self.all

    def way(self, endpoint: Endpoint) -> Way:
        """How requests travel to it."""
        from weighbridge.hub.transport import proxy_of

        encrypted = endpoint.origin.startswith("https:")
        return Way(
            title=endpoint.title,
            address=endpoint.address,
            leaves=endpoint.leaves,
            log=self._network,
            offline=self._offline,
            tls=self._verifying if encrypted else _plain,
            proxy=_proxy(proxy_of(origin_of(endpoint.origin))),
            key=self._key(endpoint),
        )

    def refresh(self) -> None:
        """Read them again where another process may have changed some; costs microseconds where none has. Where the
        database fails, what is known stays.
        """
        if self._reread():
            self._listeners.tell()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called after each change, from the thread that made it. Returns what ends that."""
        return self._listeners.add(listener)

    def _named(self, name: str) -> table.Kept:
        """By its id; else by its title, in any case."""
        for kept in self._kept:
            if kept.endpoint.title.casefold() == name.casefold() and all(name != each.id for each in self.all):
                return kept
        return self._by_id(name)

    def _by_id(self, endpoint_id: str) -> table.Kept:
        for kept in self._kept:
            if kept.endpoint.id == endpoint_id:
                return kept
        known = ", ".join(each.id for each in self.all) or "-"
        raise NotFound("endpoint.unknown", name=endpoint_id[:200], known=known)

    def _made(self, address: str, preset: str | None, title: str, base_path: str | None) -> Endpoint:
        origin, path = place_of(address)
        kind = preset_for(origin) if preset is None else _preset(preset)
        path = path if base_path is None else path_of(base_path)
        named = _title(title or None, origin.host if kind.id == OTHER else kind.title)
        name = short_name(named, [each.id for each in self.all])
        return Endpoint(name, named, str(origin), kind.base_path if path is None else path, kind.id)

    def _require_new(self, endpoint: Endpoint) -> None:
        """Raise Refused("endpoint.known") where another one is at the same address."""
        same = [each for each in self.all if each.address == endpoint.address and each.id != endpoint.id]
        if same:
            raise Refused("endpoint.known", endpoint=same[0].id, address=endpoint.address)

    def _key(self, endpoint: Endpoint) -> str:
        return self._keys.of(endpoint.id, endpoint.key_number) if endpoint.keyed else ""

    def _verifying(self) -> ssl.SSLContext:
        """Made once, for reading the list of authorities takes 50 ms."""
        import httpx2

        with self._lock:
            self._tls = self._tls or httpx2.create_ssl_context()
            return self._tls

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            yield
            self._read()
        self._listeners.tell()

    def _reread(self) -> bool:
        with suppress(BadFile), self._lock:
            version = self._database.version
            if version != self._version:
                changed, self._version = self._read(), version
                return changed
        return False

    def _read(self) -> bool:
        """Read the table; False where it is as it was. Under the lock."""
        found = table.rows(self._database)
        rows = [tuple(row) for row in found]
        if rows == self._rows:
            return False
        self._rows, self._kept = rows, tuple(map(table.kept, found))
        self._models = tuple(model for kept in self._kept for model in models_of(kept.endpoint, kept.models))
        return True


def require_protected(endpoint: Endpoint, *, keyed: bool) -> None:
    """Raise Refused("endpoint.plain_key") where its key would go over http to the internet without the user's word."""
    if keyed and endpoint.unprotected and endpoint.reach is Reach.INTERNET and not endpoint.plain_key:
        raise Refused("endpoint.plain_key", endpoint=endpoint.title, address=endpoint.address)


def _preset(name: str) -> Preset:
    found = presets().get(name)
    if found is None:
        raise Refused("endpoint.preset", name=name[:60], known=", ".join(presets()))
    return found


def _title(told: str | None, otherwise: str) -> str:
    """What was told, where that can be shown."""
    return printable((told or "").strip())[:MOST_TITLE] or otherwise


def _plain() -> None:
    """There is no TLS."""


def _proxy(named: str | None) -> str | None:
    """Environments name some without a scheme."""
    return named if named is None or "://" in named else f"http://{named}"
