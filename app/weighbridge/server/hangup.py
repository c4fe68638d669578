"""Work that ends when its caller hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Message, Receive

STOPPING = "weighbridge.stopping"
"""Set in a disconnect message that comes from the port's own end."""

T = TypeVar("T")


class HungUp(Exception):
    """The caller is gone, or (`stopping`) the port is being closed and the caller is to be told."""

    def __init__(self, *, stopping: bool) -> None:
        super().__init__()
        self.stopping = stopping


def hung_up(message: Message) -> HungUp:
    """The exception for a disconnect message."""
    return HungUp(stopping=bool(message.get(STOPPING)))


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled, and has ended, when this raises HungUp.

    The request's body must have been received. A route that has `work` send the very last piece of its answer would
    race against itself, for the server tells a disconnect then, too: send that piece afterwards.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise hung_up(watch.result())
    finally:
        watch.cancel()
        task.cancel()
        await asyncio.gather(watch, task, return_exceptions=True)


async def _disconnect(receive: Receive) -> Message:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message
