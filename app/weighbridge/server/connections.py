"""One connection of the port: uvicorn's own, with an end to its patience."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_S = 20.0
"""A program on this machine sends the head of a request within milliseconds."""


class Connection(H11Protocol):
    """Ends where no whole head of a request has come in HEAD_S seconds, at first or after an answer.

    Else a program that connects and says nothing, or half a line, would hold a place for ever, and a few hundred of
    them all places that the process has.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._wait_for_head()
        super().on_response_complete()

    def _wait_for_head(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = self.loop.call_later(HEAD_S, self._end_unless_asked, self.cycle)

    def _end_unless_asked(self, last: RequestResponseCycle | None) -> None:
        if self.cycle is last:
            self.transport.close()
