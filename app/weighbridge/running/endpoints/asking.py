"""Asking a server: whether it is there, what it serves, and whether a model of it answers."""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import httpx2

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.hang_up import HangUp
from weighbridge.hub.network import CANCELLED, Line
from weighbridge.running.endpoints.endpoint import Endpoint, Listed, Reached
from weighbridge.running.endpoints.faults import answered, broken, message_of
from weighbridge.running.endpoints.listing import Listing, NoListing, read_listing, with_more, with_own
from weighbridge.running.endpoints.way import Way
from weighbridge_engines.api import Cause

CONNECT_S, READ_S, LONGEST_S = 5.0, 10.0, 30.0
EACH_S = 5.0
"""How long a server may be asked for what it tells of each model alone."""
TOKEN_S = 600.0
"""How long the first token of a server may take that loads the model for it."""
MOST_BYTES = 8 << 20
BASE_PATHS = ("/v1", "/v3", "/openai/v1", "/api/v1", "")
"""Where servers have their routes, in the order in which they are tried where there is nothing at the one that was
given."""


@dataclass(frozen=True)
class Got:
    """An answer in whole, how long its head took, and where it was led to."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: float


class Failed(Exception):
    """It could not be asked, or answered wrongly, for this cause."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.code)
        self.cause = cause


class Asker:
    """Asks one endpoint, with its key. Not for two threads at a time, but any may `cut` what it is asking.

    A redirect is never followed: the key is for this address alone. A list from the port of `house`, our own, is none.
    """

    def __init__(self, endpoint: Endpoint, way: Way, house: str = "") -> None:
        self._endpoint, self._way, self._house = endpoint, way, house
        self._hang_up = HangUp()

    def cut(self) -> None:
        """Give up what is being asked, and all that would be."""
        self._hang_up.cut()

    def models(self) -> Reached:
        """The models that it lists. Never raises for what the server does; Refused("endpoint.offline")."""
        at_s = time.time()
        try:
            got, listing = self._listing(self._endpoint.base_path)
        except Failed as failed:
            return Reached(at_s, failed.cause, found_path=self._other_path(failed.cause))
        models = self._with_own(self._with_more(listing.models))
        return Reached(at_s, None, models, got.ms, left_out=listing.left_out, beyond=listing.beyond)

    def check(self, route: str, body: Mapping[str, Any] | None = None) -> None:
        """Ask for `route`, below the origin. Raises Failed where the answer is none that is good."""
        limit_s = LONGEST_S if body is None else TOKEN_S
        got = self.ask("GET" if body is None else "POST", f"{self._endpoint.origin}{route}", body, limit_s)
        if body is not None and got.status == HTTPStatus.NOT_FOUND:
            raise Failed(self._cause("endpoint.no_model", status=got.status, message=self._message(got)))
        self._require_good(got)

    def ask(self, method: str, url: str, body: Mapping[str, Any] | None = None, limit_s: float = LONGEST_S) -> Got:
        """One request and its whole answer. Raises Failed."""
        line = self._begun(method)
        try:
            with self._client(limit_s) as http:
                got = self._exchanged(
                    http, http.build_request(method, url, json=body, headers=self._headers()), limit_s
                )
        except WeighbridgeError as error:
            line.ended(None, error.code)
            raise
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            cause = broken(error, self._endpoint.title, self._endpoint.address)
            line.ended(None, CANCELLED if self._hang_up.is_cut else cause.code)
            raise Failed(cause) from error
        line.answered(got.status)
        line.ended(len(got.body))
        return got

    def _begun(self, method: str) -> Line:
        try:
            return self._way.begin(method)
        except EngineFailed as error:
            raise Failed(Cause(error.code, error.values)) from None

    def _exchanged(self, http: httpx2.Client, request: httpx2.Request, limit_s: float) -> Got:
        request.extensions["trace"] = self._hang_up.watch
        start_s = time.monotonic()
        answer = http.send(request, stream=True)
        ms = (time.monotonic() - start_s) * 1000
        try:
            body = bytearray()
            for piece in answer.iter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    raise httpx2.RemoteProtocolError(f"more than {MOST_BYTES >> 20} MiB")
                if time.monotonic() - start_s > limit_s:
                    raise httpx2.ReadTimeout("the answer does not end")
        finally:
            answer.close()
        return Got(answer.status_code, answer.headers, bytes(body), ms)

    @contextlib.contextmanager
    def _client(self, limit_s: float) -> Iterator[httpx2.Client]:
        timeout = httpx2.Timeout(max(READ_S, limit_s if limit_s > LONGEST_S else 0.0), connect=CONNECT_S)
        made = httpx2.Client(trust_env=False, verify=verified(self._way), proxy=self._way.proxy, timeout=timeout)
        with made as http:
            yield http

    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._way.key}"} if self._way.key else {}
        return {**key, "Accept": "application/json", "Accept-Encoding": "identity"}

    def _listing(self, base_path: str) -> tuple[Got, Listing]:
        got = self.ask("GET", f"{self._endpoint.origin}{base_path}/models")
        self._require_good(got)
        try:
            listing = read_listing(got.body)
        except NoListing:
            raise Failed(self._cause("endpoint.no_list", found=_start(got.body))) from None
        if listing.house and listing.house == self._house:
            raise Failed(self._cause("endpoint.self"))
        return got, listing

    def _require_good(self, got: Got) -> None:
        endpoint = self._endpoint
        cause = answered(got.status, self._message(got), got.headers, endpoint.title, endpoint.address)
        if cause is not None:
            raise Failed(self._cause("endpoint.needs_key") if self._wants_key(cause) else cause)
        if got.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            raise Failed(self._cause("endpoint.no_route", status=got.status))
        if got.status != HTTPStatus.OK:
            raise Failed(self._cause("endpoint.answer", status=got.status, message=self._message(got)))
        try:
            self._way.require_readable(got.headers.get("content-type", ""), got.headers.get("content-encoding", ""))
        except EngineFailed as error:
            raise Failed(Cause(error.code, error.values)) from None

    def _wants_key(self, cause: Cause) -> bool:
        return cause.code == "endpoint.key" and not self._way.key

    def _other_path(self, cause: Cause) -> str | None:
        """Where the list is, if not where it was looked for: only a server that has answered is asked again."""
        if cause.code not in ("endpoint.no_route", "endpoint.page", "endpoint.no_list"):
            return None
        for base_path in BASE_PATHS:
            if base_path == self._endpoint.base_path:
                continue
            with contextlib.suppress(Failed):
                self._listing(base_path)
                return base_path
        return None

    def _with_more(self, models: tuple[Listed, ...]) -> tuple[Listed, ...]:
        """With what a further list tells, where this kind of server has one; without, where that fails."""
        route = self._endpoint.preset.further
        if route:
            with contextlib.suppress(Failed, NoListing):
                return with_more(models, self._further("GET", route))
        return models

    def _with_own(self, models: tuple[Listed, ...]) -> tuple[Listed, ...]:
        """With what is told of each alone, where this kind of server does that, as far as that takes no long time."""
        route, until_s = self._endpoint.preset.each, time.monotonic() + EACH_S
        if not route:
            return models
        told: dict[str, Listed] = {}
        with contextlib.suppress(Failed):  # what fails for one would for the next
            for each in models:
                if time.monotonic() > until_s:
                    break
                with contextlib.suppress(NoListing):
                    told[each.name] = with_own(each, self._further("POST", route, {"model": each.name}))
        return tuple(told.get(each.name, each) for each in models)

    def _further(self, method: str, route: str, body: Mapping[str, Any] | None = None) -> bytes:
        got = self.ask(method, f"{self._endpoint.origin}{route}", body)
        self._require_good(got)
        return got.body

    def _message(self, got: Got) -> str:
        return self._way.hidden(message_of(got.body))

    def _cause(self, code: str, **values: object) -> Cause:
        return Cause(code, {"endpoint": self._endpoint.title, "address": self._endpoint.address, **values})


def verified(way: Way) -> ssl.SSLContext:
    """What verifies the server's certificate; one that trusts nobody where there is none, which costs no time."""
    return way.tls() or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def with_hint(reached: Reached) -> Reached:
    """The same, its cause telling the base path at which the list was found."""
    if reached.cause is None or reached.found_path is None:
        return reached
    code = "endpoint.base_path"
    return replace(reached, cause=Cause(code, {**reached.cause.values, "found": reached.found_path or "/"}))


def _start(body: bytes) -> str:
    return body[:60].decode("utf-8", "replace").strip()
