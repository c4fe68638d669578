"""GET /v1/models: what the port serves; and which model a request means."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from weighbridge.base.errors import NotFound, Refused
from weighbridge.base.printable import printable
from weighbridge.library.model import ENDPOINT, Model
from weighbridge.running.choose import task_for
from weighbridge.running.sight import sees
from weighbridge.running.state import Running, State
from weighbridge.server.chat_request import model_name
from weighbridge.server.ports import Leases, Models
from weighbridge.server.requests import Note
from weighbridge_engines.api import Load

_MOST_NOTED = 200
"""Characters of a name that no model has."""

_NOT_FOR = {
    "chat": "model.not_for_chat",
    "embedding": "model.not_for_embedding",
    "rerank": "model.not_for_rerank",
}


def model_for(body: Mapping[str, Any], library: Models, supervisor: Leases, note: Note) -> Model:
    """The model that a request means: the one it names, else the one that is loaded, else the only one there is. It is
    noted; where there is no such model, the name is.

    A name is looked up in the library and nowhere else: it is never a path, and nothing is ever fetched. What an
    endpoint serves is meant only by its whole name: no request goes there by chance.
    """
    name = model_name(body)
    note.model = name and printable(name[:_MOST_NOTED])
    model = _meant(name, library, supervisor)
    note.model = model.id
    return model


def _meant(name: str | None, library: Models, supervisor: Leases) -> Model:
    if name is None:
        name = current(supervisor.running())
    model = _only(served(library)) if name is None else library.resolve(name)
    if model.problem is not None:
        raise model.problem
    return model


def check_task(model: Model, load: Load | None, task: str) -> None:
    """Raise Refused where `model` is loaded, by `load`, for something else than `task`."""
    if load is not None and load.task != task and not may_do_any(model):
        raise not_for(task, model, load.task)


def not_for(task: str, model: Model, loaded_for: str) -> Refused:
    """The refusal to do `task` with `model`, which is loaded for another one."""
    return Refused(_NOT_FOR[task], model=model.id, task=loaded_for, field="model")


def may_do_any(model: Model) -> bool:
    """Whether `model` is an endpoint's of which nobody says what it is for: then its server decides."""
    return model.remote is not None and model.remote.kind is None


def task_of(model: Model, supervisor: Leases) -> str:
    """What `model` is loaded for, or would be."""
    loads = [running.load for running in supervisor.running() if running.model_id == model.id]
    return loads[0].task if loads else task_for(model)


def served(library: Models) -> list[Model]:
    """The models that can be loaded as they are."""
    return [model for model in library.models if model.problem is None]


def _only(models: list[Model]) -> Model:
    if not models:
        raise NotFound("library.empty", field="model")
    here = [model for model in models if model.remote is None]
    if len(here) != 1:
        raise NotFound("model.needed", served=[model.id for model in models], field="model")
    return here[0]


def current(running: tuple[Running, ...]) -> str | None:
    """The id of the model that is loaded here: ready before loading, the latest first."""
    for state in (State.READY, State.LOADING):
        found = [engine for engine in running if engine.state is state and engine.engine_id != ENDPOINT]
        if found:
            return max(found, key=lambda engine: engine.since_s).model_id
    return None


class ModelsRoute:
    """The list, and one entry of it."""

    def __init__(self, library: Models, supervisor: Leases, house: str) -> None:
        self._library, self._supervisor = library, supervisor
        self._house = {"weighbridge": house} if house else {}

    async def listing(self, request: Request) -> Response:
        """All models of the library, loaded or not."""
        del request
        loaded = self._loaded
        entries = [_entry(model, loaded.get(model.id)) for model in served(self._library)]
        return _json({"object": "list", "data": entries, **self._house})

    async def one(self, request: Request) -> Response:
        """One of them, by id or alias. Raises NotFound("model.unknown")."""
        model = self._library.resolve(request.path_params["name"])
        return _json(_entry(model, self._loaded.get(model.id)))

    @property
    def _loaded(self) -> Mapping[str, Running]:
        return {each.model_id: each for each in self._supervisor.running() if each.state is State.READY}


def _entry(model: Model, loaded: Running | None) -> dict[str, Any]:
    """What is known of it as it stands now: how one that is not `loaded` would be loaded is not asked."""
    entry: dict[str, Any] = {"id": model.id, "object": "model", "owned_by": "weighbridge", "format": model.format}
    if model.remote is not None:
        told = {"owned_by": model.remote.endpoint_id, "leaves_computer": model.leaves, "reach": model.remote.reach}
        return {**entry, **told, "context_length": model.remote.context, **_goes_in(model.remote.sees)}
    if loaded is not None:
        entry |= {"context_length": loaded.slot_context, **_goes_in(sees(model, loaded.load, alone=loaded.sees_alone))}
    with contextlib.suppress(OSError):  # gone since the last scan: then its age is unknown
        entry["created"] = int(model.path.stat().st_mtime)
    return entry


def _goes_in(pictures: bool | None) -> dict[str, Any]:
    """What goes into a model, as OpenRouter tells it; nothing where nobody knows whether pictures do."""
    if pictures is None:
        return {}
    return {"architecture": {"input_modalities": ["text", "image"] if pictures else ["text"]}}


def _json(value: dict[str, Any]) -> Response:
    return Response(json.dumps(value), media_type="application/json", headers={"X-Content-Type-Options": "nosniff"})
