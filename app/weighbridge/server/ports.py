"""What the server needs of the layers below it, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from weighbridge.library.model import Model
from weighbridge.running.lease import Lease
from weighbridge.running.state import Running


class Models(Protocol):
    """The library: the only names that a request can load."""

    @property
    def models(self) -> Sequence[Model]:
        """All models that are complete."""

    def resolve(self, name: str) -> Model:
        """The model called `name`. Raises NotFound("model.unknown", name=, served=)."""


class Leases(Protocol):
    """The owner of the engines."""

    def lease(self, model: Model) -> Future[Lease]:
        """A lease once the model is loaded and it is this request's turn; cancelling the future leaves the queue."""

    def running(self) -> tuple[Running, ...]:
        """What runs now."""
