"""A library whose endpoints are as they are now, whoever has changed them: what a port asks."""

from __future__ import annotations

from weighbridge.library.index import Library
from weighbridge.library.model import Model
from weighbridge.running.endpoints.endpoints import Endpoints


class Current:
    """`library`, which lists what `endpoints` serve. What another process has changed is noticed at the next question,
    without a clock. Safe to use from any thread; raises what the library raises.
    """

    def __init__(self, library: Library, endpoints: Endpoints) -> None:
        self._library, self._endpoints = library, endpoints

    @property
    def models(self) -> tuple[Model, ...]:
        """All models."""
        self._endpoints.refresh()
        return self._library.models

    def resolve(self, name: str) -> Model:
        """The model called `name`."""
        self._endpoints.refresh()
        return self._library.resolve(name)
