"""A lease: the right to send one request to a loaded model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from weighbridge_engines.api import Dialect, Engine, Load

if TYPE_CHECKING:
    from weighbridge.running.endpoints.way import Way

_ANY = Dialect()
_NO_LIMIT: tuple[tuple[str, Any], ...] = (("max_tokens", -1), ("stop", []))


class Lease:
    """A loaded model's address, held for one request.

    `context` is what one request may have of it, in tokens. `engine` and `load` are what runs it, and how; None where
    it is not known what runs it. `way` is how requests travel to a server that is no child of ours, None for an engine
    on loopback.

    Give it back, or leave the `with` block, when the request is over.

    While a lease is out its engine is never stopped to make room. Giving back twice does nothing more.
    """

    def __init__(
        self,
        model_id: str,
        url: str,
        key: str,
        context: int | None,
        give_back: Callable[[], None],
        engine: Engine | None = None,
        load: Load | None = None,
        way: Way | None = None,
    ) -> None:
        self.model_id = model_id
        self.url = url
        self.key = key
        self.context = context
        self.engine = engine
        self.load = load
        self.way = way
        self._give_back = give_back
        self._lock = threading.Lock()
        self._returned = False

    def address(self, route: str) -> str:
        """Where a request goes: `route` as in OpenAI's API, without its version ("/chat/completions")."""
        return f"{self.url}{self._dialect.base_path}{route}"

    def spoken(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """`body` as its engine understands it: the model and the limit of the answer by their names there, without
        fields that it does not know, nor ours for no limit where it may not know that.
        """
        known, load = self._dialect.fields, self.load
        name = self.model_id if self.engine is None or load is None else self.engine.name_of(load)
        if known is None:
            return {**self._dialect.limited(body), "model": name}
        told = {field: value for field, value in body.items() if field in known and (field, value) not in _NO_LIMIT}
        return {**self._dialect.limited(told), "model": name}

    def left_out(self, body: Mapping[str, Any]) -> tuple[str, ...]:
        """The fields of `body` that its engine does not know: they are left out on the way to it."""
        known = self._dialect.fields
        return () if known is None else tuple(field for field in body if field not in known)

    @property
    def _dialect(self) -> Dialect:
        return _ANY if self.engine is None else self.engine.dialect

    @property
    def headers(self) -> dict[str, str]:
        """What a request to `url` must carry."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def give_back(self) -> None:
        """End the lease."""
        with self._lock:
            returned, self._returned = self._returned, True
        if not returned:
            self._give_back()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()
