"""The port's application: its routes, and what every request passes before it reaches one."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.server.access import Access
from weighbridge.server.chat_route import ChatRoute
from weighbridge.server.models_route import ModelsRoute
from weighbridge.server.ports import Leases, Models
from weighbridge.server.replies import error_body, status_of
from weighbridge.server.requests import Recorded, RequestRecords
from weighbridge.server.whole_requests import EMBEDDINGS, RERANK
from weighbridge.server.whole_route import WholeRoute


def gateway(
    library: Models, supervisor: Leases, records: RequestRecords, origins: Sequence[str] = (), house: str = ""
) -> ASGIApp:
    """The application. `origins` are the web origins let in, exactly as browsers send them ("http://localhost:5173").
    `house` is the mark of the data folder, by which it is known where it is asked as an endpoint of its own.
    """
    models = ModelsRoute(library, supervisor, house)
    routes = [
        Route("/health", _health, methods=["GET"]),
        Route("/v1/models", models.listing, methods=["GET"]),
        Route("/v1/models/{name:path}", models.one, methods=["GET"]),
        Route("/v1/chat/completions", ChatRoute(library, supervisor), methods=["POST"]),
        Route("/v1/embeddings", WholeRoute(library, supervisor, EMBEDDINGS), methods=["POST"]),
        Route("/v1/rerank", WholeRoute(library, supervisor, RERANK), methods=["POST"]),
    ]
    handlers = {WeighbridgeError: _told, HTTPException: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Recorded(Access(app, origins), records)


async def _health(request: Request) -> Response:
    del request
    return Response(b'{"status":"ok"}', media_type="application/json")


async def _told(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, WeighbridgeError)
    return _error(error)


async def _refused(request: Request, error: Exception) -> Response:
    """Starlette's own refusals, in our shape."""
    assert isinstance(error, HTTPException)
    place = {"method": request.method[:20], "path": request.url.path[:100]}
    told = Refused("route.method", **place) if error.status_code == 405 else NotFound("route.unknown", **place)
    return _error(told, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of ours: the caller hears of it; the server logs it."""
    del request
    return _error(WeighbridgeError("internal", kind=type(error).__name__))


def _error(error: WeighbridgeError, headers: object = None) -> Response:
    status = status_of(error)
    extra = dict(headers) if isinstance(headers, dict) else {}
    return Response(error_body(error, status), status, extra, media_type="application/json")
