"""The bytes of a file in Xet's way, range by range, so that they can be ended, paced and gone on with.

hf_xet makes its own connections. The address that it is given is checked, and each attempt is one line of the log;
where that address leads it to is up to the Hub's storage. Its telemetry is off by `environment`.

Of a range it hands on nothing until nearly all of it is here, and tells of no byte before. So ranges are only as large
as the line brings in a moment, and one that keeps waiting is a stall, not a slow line.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeAlias, cast

from weighbridge.base.errors import Unreachable
from weighbridge.hub.addresses import Origin, origin_of, require_allowed
from weighbridge.hub.network import Line
from weighbridge.hub.remote import Located, XetPlace
from weighbridge.hub.streaming import PIECE_BYTES

RANGE_BYTES, AHEAD = 4 << 20, 3
"""Asked for at once, and how many such at a time. Of a whole file hf_xet hands on 64 MiB in one piece, which is much
memory; ranges one after the other would each wait for an answer first."""
LEAST_BYTES = 128 << 10
"""Less would not come sooner: the storage gives whole chunks, of 64 KiB in the middle."""
COMING_S = 1.5
"""How long all that is asked for at a time may take. A line five times as slow as a moment ago looks stalled for once,
and is asked for less at the next attempt."""
LARGE_BYTES = 50_000_000_000
"""From here on the Hub wants Xet; huggingface_hub refuses such files by plain HTTP."""
_QUERY = re.compile(r"\?\S*")
_SHOWN = 200
LOCAL = "local:"


def wanted(setting: str, size_bytes: int) -> bool:
    """Whether a file of this size is fetched by Xet, as the setting `xet` says."""
    return setting == "always" or (setting == "large" and size_bytes > LARGE_BYTES)


def place_of(hash: str, headers: Mapping[str, str]) -> XetPlace:
    """Where a file lies, by the headers of the Hub's answer. Raises ValueError or KeyError at others."""
    until = int(headers["x-xet-token-expiration"])
    return XetPlace(hash, headers["x-xet-cas-url"], headers["x-xet-access-token"], until)


def require_storage(address: str, endpoint: Origin) -> Origin | None:
    """Xet's storage; None for a folder, which will do where the Hub is on this machine. Raises Refused("hub.address")
    where the Hub must not lead there, as far as can be told before its name is looked up.
    """
    if address.startswith(LOCAL) and endpoint.loopback:
        return None
    origin = origin_of(address)
    require_allowed(origin, endpoint)
    return origin


@dataclass(frozen=True)
class Asking:
    """How much is asked for in one range, and how many ranges at a time."""

    range_bytes: int = LEAST_BYTES
    at_once: int = 1


def asking(bytes_s: float) -> Asking:
    """What to ask of a line of that speed, so that all of it comes within COMING_S."""
    each = int(bytes_s * COMING_S) // AHEAD
    return Asking(min(each, RANGE_BYTES), AHEAD) if each >= LEAST_BYTES else Asking()


@dataclass(frozen=True)
class Patience:
    """How many seconds are waited for the first range, for which two servers are connected to, and for each other."""

    first_s: float
    next_s: float


_Range: TypeAlias = "tuple[list[bytes], Unreachable | None]"
"""What came of one range, and what broke it."""


class XetGroup:
    """What opens streams at a place, in a session of hf_xet of its own: a group that is aborted still waits for a
    server that has stopped in the middle of an answer, up to hf_xet's own time-outs. Raises as hf_xet does.
    """

    def __init__(self, place: XetPlace, agent: str) -> None:
        import hf_xet

        self._session = hf_xet.XetSession()
        self._group = self._session.new_download_stream_group(
            endpoint=place.address,
            token=place.token,
            token_expiry_unix_secs=place.expires,
            custom_headers={"user-agent": agent},
        )

    def download_stream(self, info: Any, start: int, end: int) -> Iterable[Any]:
        """The bytes from `start` to before `end`."""
        return cast("Iterable[Any]", self._group.download_stream(info, start=start, end=end))

    def abort(self) -> None:
        """End all of it at once. To be called once."""
        self._session.sigint_abort()


class XetBytes:
    """A file from `start` on: see `remote.Bytes`."""

    def __init__(
        self, group: XetGroup, located: Located, place: XetPlace, start: int, host: str, line: Line, patience: Patience
    ) -> None:
        self.start = start
        self._group, self._located, self._place = group, located, place
        self._host, self._line, self._patience = host, line, patience
        self._lock = threading.Lock()
        self._hung_up = self._stalled = self._aborted = False
        self._count = 0
        self._asked, self._asking, self._patient_s = start, Asking(), patience.first_s

    def pieces(self) -> Iterator[bytes]:
        """The bytes, some hundred KiB at a time. What came before a break is handed on before it is told."""
        with ThreadPoolExecutor(AHEAD, "xet range") as pool:
            try:
                coming: deque[Future[_Range]] = deque()
                while self._ask(pool, coming):
                    wholes, fault = self._waited(coming.popleft())
                    for whole in wholes:
                        yield from self._handed(whole)
                    if fault is not None:
                        raise fault
            finally:
                self.hang_up()  # no range is waited for that nobody wants

    def _ask(self, pool: ThreadPoolExecutor, coming: deque[Future[_Range]]) -> bool:
        """Ask for as many ranges as the line bears; whether one is on the way."""
        while self._asked < self._located.size_bytes and len(coming) < self._asking.at_once:
            end = min(self._located.size_bytes, self._asked + self._asking.range_bytes)
            coming.append(pool.submit(self._fetched, self._asked, end, self._asking.at_once))
            self._asked = end
        return bool(coming)

    def _waited(self, coming: Future[_Range]) -> _Range:
        """The next range. Where it keeps us waiting all is ended, and what had come of it is told as stalled."""
        try:
            came = coming.result(self._patient_s)
        except TimeoutError:
            self._stalled = True
            self._abort()
            came = coming.result()
        self._patient_s = self._patience.next_s
        return came

    def hang_up(self) -> None:
        """End it at once, also where a read waits. All of it, for a stream cannot be ended while it is read."""
        self._hung_up = True
        self._abort()

    def close(self) -> None:
        """No more of it is wanted."""
        self.hang_up()
        self._line.ended(self._count)

    def _abort(self) -> None:
        with self._lock:
            if not self._aborted:
                self._aborted = True
                self._group.abort()

    def _handed(self, whole: bytes) -> Iterator[bytes]:
        for begin in range(0, len(whole), PIECE_BYTES):
            if self._hung_up:
                raise self._broken()
            piece = whole[begin : begin + PIECE_BYTES]
            self._count += len(piece)
            yield piece

    def _fetched(self, start: int, end: int, at_once: int) -> _Range:
        """One range, of so many that share the line."""
        import hf_xet

        info = hf_xet.XetFileInfo(self._place.hash, self._located.size_bytes)
        came: list[bytes] = []
        began = monotonic()
        try:
            came.extend(bytes(piece) for piece in self._group.download_stream(info, start=start, end=end))
        except (Exception, KeyboardInterrupt) as error:  # whatever its Rust comes to; the second after an abort
            return came, self._broken() if self._aborted else told(error, self._host, self._line, self._count)
        if sum(map(len, came)) < end - start:
            return came, self._broken("cut short")
        self._asking = asking((end - start) * at_once / max(monotonic() - began, 1e-6))
        return came, None

    def _broken(self, reason: str = "hung up") -> Unreachable:
        """Why no more comes: nobody wants it, nothing came for long, or else `reason`."""
        if self._stalled and not self._hung_up:
            self._line.ended(self._count, "hub.stalled")
            return Unreachable("hub.stalled", host=self._host)
        self._line.ended(self._count, "hub.unreachable")
        return Unreachable("hub.unreachable", host=self._host, reason="hung up" if self._hung_up else reason)


def told(error: BaseException, host: str, line: Line, count: int = 0) -> Unreachable:
    """hf_xet's error as one of ours; what it says may hold signed addresses, whose queries are left out."""
    expired = type(error).__name__ == "XetAuthenticationError"
    code = "hub.expired" if expired else "hub.unreachable"
    line.ended(count, code)
    reason = _QUERY.sub("", str(error))[:_SHOWN] or type(error).__name__
    return Unreachable(code, host=host, reason=reason)
