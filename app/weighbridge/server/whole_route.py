"""POST /v1/embeddings and /v1/rerank: checks the request, leases the model, passes the engine's whole answer on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope, Send

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.base.printable import json_bytes
from weighbridge.chat.failure import failure
from weighbridge.library.model import Model
from weighbridge.running.lease import Lease
from weighbridge.server.bodies import json_object, read_body
from weighbridge.server.chat_route import leased
from weighbridge.server.hangup import HungUp, while_connected
from weighbridge.server.models_route import check_task, may_do_any, model_for, not_for, task_of
from weighbridge.server.ports import Leases, Models
from weighbridge.server.relay import known_usage
from weighbridge.server.replies import send_error, send_json
from weighbridge.server.requests import Note, note_of
from weighbridge.server.upstream import post

_MAX_ANSWER_BYTES = 256 << 20
_MAX_ERROR_BYTES = 1 << 16

Read = Callable[[Mapping[str, Any], Model], dict[str, Any]]
"""A request's body, checked, as the fields that go on to the engine."""


@dataclass(frozen=True)
class Task:
    """What a route does: a task of `Load`, the route for it, and how its requests are read."""

    name: str
    path: str
    read: Read


class WholeRoute:
    """A route whose answer comes in one piece, as an ASGI application."""

    def __init__(self, library: Models, supervisor: Leases, task: Task) -> None:
        self._library = library
        self._supervisor = supervisor
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note = note_of(scope)
        try:
            body = json_object(await read_body(scope, receive))
            model = model_for(body, self._library, self._supervisor, note)
            if (loaded := task_of(model, self._supervisor)) != self._task.name and not may_do_any(model):
                raise not_for(self._task.name, model, loaded)
            fields = self._task.read(body, model)
            answer: list[bytes] = []
            await while_connected(receive, self._ask(model, fields, note, answer))
            await send_json(send, 200, answer[0])
        except HungUp as gone:
            note.complete = False
            if gone.stopping:
                await send_error(send, Refused("port.stopping"))
        except WeighbridgeError as error:
            note.complete = False
            await send_error(send, error)

    async def _ask(self, model: Model, fields: Mapping[str, Any], note: Note, answer: list[bytes]) -> None:
        async with leased(self._supervisor.lease(model)) as lease:
            check_task(model, lease.load, self._task.name)
            answer.append(_named(await self._told(lease, fields), model.id, note))

    async def _told(self, lease: Lease, fields: Mapping[str, Any]) -> bytes:
        body = json_bytes(lease.spoken(fields))
        async with post(lease.address(self._task.path), lease.headers, body, lease.way) as told:
            if told.status != 200:
                raise failure(told.status, await told.read(_MAX_ERROR_BYTES), lease.way, told.headers)
            return await told.read(_MAX_ANSWER_BYTES)


def _named(body: bytes, model_id: str, note: Note) -> bytes:
    """The answer with the model's name as the port has it."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise EngineFailed("stream.malformed") from error
    if not isinstance(read, dict):
        raise EngineFailed("stream.malformed")
    usage = known_usage({"usage": {"completion_tokens": 0, **(read.get("usage") or {})}})
    if usage is not None:
        note.prompt_tokens, note.output_tokens = usage.prompt_tokens, 0
    return json.dumps({**read, "model": model_id}, ensure_ascii=False).encode()
