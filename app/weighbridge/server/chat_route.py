"""POST /v1/chat/completions: checks the request, leases the model, passes the engine's answer on."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from concurrent.futures import Future

from starlette.types import Receive, Scope, Send

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.base.printable import json_bytes
from weighbridge.chat.adapters import with_adapters
from weighbridge.chat.events import Usage
from weighbridge.chat.failure import failure
from weighbridge.library.model import Model
from weighbridge.running.lease import Lease
from weighbridge.server.bodies import json_object, read_body
from weighbridge.server.chat_request import ChatRequest, chat_request, check_lease
from weighbridge.server.hangup import HungUp, while_connected
from weighbridge.server.models_route import check_task, model_for
from weighbridge.server.ports import Leases, Models
from weighbridge.server.relay import Relay, known_usage, strip
from weighbridge.server.replies import send_error, send_json
from weighbridge.server.requests import Note, note_of
from weighbridge.server.upstream import Answer, post

_MAX_ANSWER_BYTES = 64 << 20
_MAX_ERROR_BYTES = 1 << 16
_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-content-type-options", b"nosniff"),
]


class ChatRoute:
    """The route as an ASGI application."""

    def __init__(self, library: Models, supervisor: Leases) -> None:
        self._library = library
        self._supervisor = supervisor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note = note_of(scope)
        exchange: _Exchange | None = None
        try:
            body = json_object(await read_body(scope, receive))
            model = model_for(body, self._library, self._supervisor, note)
            exchange = _Exchange(chat_request(body, model.id), model, send, note)
            await while_connected(receive, exchange.run(self._supervisor))
            await exchange.close()
        except HungUp as gone:
            note.complete = False
            if gone.stopping:
                await _tell(send, exchange, Refused("port.stopping"))
        except WeighbridgeError as error:
            note.complete = False
            await _tell(send, exchange, error)


async def _tell(send: Send, exchange: _Exchange | None, error: WeighbridgeError) -> None:
    """Answer with `error`, or end the answer with it where one has begun."""
    if exchange is not None and exchange.relay is not None:
        exchange.last = exchange.relay.broken(error)
        await exchange.close()
    else:
        await send_error(send, error)


class _Exchange:
    """One request on its way: `run` does all but send the last piece of the answer, `close` sends that.

    `relay` is set from the moment a stream has begun.
    """

    def __init__(self, request: ChatRequest, model: Model, send: Send, note: Note) -> None:
        self._request = request
        self._model = model
        self._send = send
        self._note = note
        self.relay: Relay | None = None
        self.last = b""

    async def run(self, supervisor: Leases) -> None:
        """Lease, ask, pass on."""
        async with leased(supervisor.lease(self._model)) as lease:
            check_lease(self._request, lease)
            check_task(self._model, lease.load, "chat")
            asked = with_adapters(self._request.body_for(lease.model_id, lease.context), lease.load)
            body = json_bytes(lease.spoken(asked))
            async with post(lease.address("/chat/completions"), lease.headers, body, lease.way) as answer:
                if answer.status != 200:
                    said = await answer.read(_MAX_ERROR_BYTES)
                    shown = bool(self._request.pictures)
                    error = failure(answer.status, said, lease.way, answer.headers, pictured=shown)
                    raise self._request.placed(error)
                if self._request.streamed:
                    await self._stream(answer)
                else:
                    self.last = self._whole(await answer.read(_MAX_ANSWER_BYTES))

    async def close(self) -> None:
        """Send the last piece of a stream, or the whole of another answer."""
        if self.relay is None:
            await send_json(self._send, 200, self.last)
        else:
            await self._send({"type": "http.response.body", "body": self.last})

    async def _stream(self, answer: Answer) -> None:
        relay = Relay(self._model.id, self._request.asked)
        await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        self.relay = relay
        try:
            async for piece in answer.pieces():
                if passed := relay.feed(piece):
                    await self._send({"type": "http.response.body", "body": passed, "more_body": True})
                if relay.ended:
                    break
            self.last = relay.end()
        except EngineFailed as error:
            self.last = relay.broken(error)
        self._note.complete = relay.fault is None
        self._count(relay.usage)

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self._note.prompt_tokens, self._note.output_tokens = usage.prompt_tokens, usage.completion_tokens

    def _whole(self, body: bytes) -> bytes:
        try:
            read = json.loads(body.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise EngineFailed("stream.malformed") from error
        if not isinstance(read, dict):
            raise EngineFailed("stream.malformed")
        self._count(known_usage(read))
        answer = {**strip(read, self._request.asked.unwanted()), "model": self._model.id}
        return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


@contextlib.asynccontextmanager
async def leased(future: Future[Lease]) -> AsyncIterator[Lease]:
    """The lease that `future` brings, given back at the end of the block; a hang-up while waiting loses none."""
    try:
        lease = await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        # It may have come at the very moment: then it is given back, now or when the owner of the engines is done.
        future.cancel()
        future.add_done_callback(_return_unused)
        raise
    with lease:
        yield lease


def _return_unused(future: Future[Lease]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().give_back()
