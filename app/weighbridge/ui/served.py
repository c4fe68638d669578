"""What is known of the endpoint that serves a model. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound

if TYPE_CHECKING:  # built elsewhere: the window shows before they are
    from weighbridge.library.model import Model
    from weighbridge.running.endpoints.endpoint import Endpoint
    from weighbridge.ui.services import Services


def endpoint_of(services: Services, model: Model) -> Endpoint | None:
    """The endpoint of `model`; None for a file, and where the endpoint has just been removed."""
    if model.remote is None:
        return None
    try:
        return services.endpoints.endpoints.get(model.remote.endpoint_id)
    except NotFound:
        return None


def address_of(services: Services, model: Model) -> str:
    """Where the endpoint of `model` is; "" where it has none."""
    endpoint = endpoint_of(services, model)
    return "" if endpoint is None else endpoint.address


def not_understood(services: Services, model: Model, fields: Iterable[str]) -> frozenset[str]:
    """Those of these fields of a request that the endpoint of `model` does not understand: they are not sent to it."""
    endpoint = endpoint_of(services, model)
    known = None if endpoint is None else endpoint.preset.fields
    return frozenset() if known is None else frozenset(fields) - known
