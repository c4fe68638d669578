"""huggingface_hub, made to ask by way of our transport and no other.

It has one session for the whole process. Ours sends each request by the transport of whoever is asking at that moment
in that thread, and refuses those that nobody of ours has asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from weighbridge.base.errors import Refused
from weighbridge.hub.addresses import Origin, origin_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PLAIN = {"accept-encoding": "identity"}
"""Nothing packed: what comes is as large as it says."""


@dataclass
class _Asking:
    """Who asks whom. `led`: the last answer leads elsewhere."""

    endpoint: Origin
    transport: httpx2.BaseTransport
    led: bool = False


_asking: ContextVar[_Asking | None] = ContextVar("asking", default=None)
_installing = threading.Lock()


@contextmanager
def library(endpoint: str, transport: httpx2.BaseTransport) -> Iterator[HfApi]:
    """huggingface_hub's API of the Hub at `endpoint`, whose requests go by `transport`, in this thread, until the end.

    The token is none of its business: the transport adds it.
    """
    from huggingface_hub import HfApi, get_session, set_client_factory

    with _installing:
        if not isinstance(get_session(), _Session):
            set_client_factory(_Session)
    before = _asking.set(_Asking(origin_of(endpoint), transport))
    try:
        yield HfApi(endpoint, token=False, library_name="weighbridge")
    finally:
        _asking.reset(before)


class _Session(httpx2.Client):
    def __init__(self) -> None:
        super().__init__(transport=_OfWhoeverAsks(), follow_redirects=True, headers=PLAIN)


class _OfWhoeverAsks(httpx2.BaseTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        asking = _asking.get()
        if asking is None:
            raise Refused("hub.unasked", host=request.url.host)
        if origin_of(str(request.url)) != asking.endpoint and "/resolve" not in request.url.path:
            if asking.led:  # a mirror may lead to the Hub for files, and no more
                raise Refused("hub.led_away", host=asking.endpoint.host, to=request.url.host)
            raise Refused("hub.unasked", host=request.url.host)
        response = asking.transport.handle_request(request)
        asking.led = response.has_redirect_location
        return response
