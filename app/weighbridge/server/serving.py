"""The open port: its sockets, and the server on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weighbridge.base.errors import WeighbridgeError
from weighbridge.server.connections import Connection
from weighbridge.server.hangup import STOPPING
from weighbridge.server.sockets import take

_GRACE_S = 1
_START_S = 10.0


class Port:
    """An application served on loopback. `start` and `stop` may be called from any thread, one at a time."""

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1") -> None:
        self._app = app
        self._host = host
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.port: int | None = None

    def start(self, port: int, *, next_free: bool = False) -> str:
        """Open the port and return its address.

        `port` 0 lets the system choose. With `next_free`, a taken port is passed over for the next free one: compare
        `self.port` with what was asked for, and say so. Raises Refused with a "port." code, at once.
        """
        if self._thread is not None:
            raise RuntimeError("the port is open")
        sockets = take(self._host, port, next_free=next_free)
        self.port = sockets[0].getsockname()[1]
        self._server = _Server(self._app)
        self._thread = threading.Thread(target=self._server.serve_on, args=(sockets,), name="port")
        self._thread.start()
        if not self._server.ready.wait(_START_S) or not self._server.started:
            self.stop()
            raise WeighbridgeError("internal", kind="the server did not start")
        return self.url or ""

    @property
    def url(self) -> str | None:
        """The address to show, always in numbers: "localhost" may be looked up as ::1 first. None while closed."""
        if self.port is None:
            return None
        return f"http://[{self._host}]:{self.port}" if ":" in self._host else f"http://{self._host}:{self.port}"

    def stop(self) -> None:
        """Close the port. Answers on their way end with an error within two seconds; then the thread has ended, too."""
        if self._server is not None and self._thread is not None:
            self._server.ask_to_stop()
            self._thread.join()
        self._server = self._thread = self.port = None


class _Server(uvicorn.Server):
    """uvicorn, told to stop from another thread, and leaving nothing behind."""

    def __init__(self, app: ASGIApp) -> None:
        self._stoppable = _Stoppable(app)
        super().__init__(
            uvicorn.Config(
                self._stoppable,
                http=Connection,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self.ready = threading.Event()

    def serve_on(self, sockets: list[socket.socket]) -> None:
        """Serve until asked to stop. Sets `ready` in any case."""
        try:
            self.run(sockets=sockets)
        finally:
            self.ready.set()
            for each in sockets:
                each.close()

    def ask_to_stop(self) -> None:
        """From any thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stoppable.stop()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # a reader that does not read is not waited for
        await asyncio.sleep(0)


class _Stoppable:
    """Tells every request under way, as a disconnect, that the port is being closed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: set[asyncio.Future[Message]] = set()
        self._stopping = False

    def stop(self) -> None:
        """On the server's loop."""
        self._stopping = True
        for future in self._waiting:
            if not future.done():
                future.set_result(_stop_message())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_or_stop() -> Message:
            return await self._receive(receive)

        await self._app(scope, receive_or_stop, send)

    async def _receive(self, receive: Receive) -> Message:
        if self._stopping:
            return _stop_message()
        stop: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        message = asyncio.ensure_future(receive())
        self._waiting.add(stop)
        try:
            done, _ = await asyncio.wait({stop, message}, return_when=asyncio.FIRST_COMPLETED)
            return (message if message in done else stop).result()
        finally:
            self._waiting.discard(stop)
            message.cancel()
            stop.cancel()


def _stop_message() -> Message:
    return {"type": "http.disconnect", STOPPING: True}
