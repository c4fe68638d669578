"""The bytes of a file in Xet's way, range by range, so that they can be ended, paced and gone on with.

hf_xet makes its own connections. The address that it is given is checked, and each attempt is one line of the log;
where that address leads it to is up to the Hub's storage. Its telemetry is off by `environment`.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from weighbridge.base.errors import Unreachable
from weighbridge.hub.addresses import Origin, origin_of, require_allowed
from weighbridge.hub.network import Line
from weighbridge.hub.remote import Located, XetPlace
from weighbridge.hub.streaming import PIECE_BYTES

RANGE_BYTES, AHEAD = 4 << 20, 3
"""Asked for at once, and how many such at a time. Of a whole file hf_xet hands on 64 MiB in one piece, which is much
memory; ranges one after the other would each wait for an answer first."""
LARGE_BYTES = 50_000_000_000
"""From here on the Hub wants Xet; huggingface_hub refuses such files by plain HTTP."""
_QUERY = re.compile(r"\?\S*")
_SHOWN = 200
_LOCAL = "local:"


def wanted(setting: str, size_bytes: int) -> bool:
    """Whether a file of this size is fetched by Xet, as the setting `xet` says."""
    return setting == "always" or (setting == "large" and size_bytes > LARGE_BYTES)


def place_of(hash: str, headers: Mapping[str, str]) -> XetPlace:
    """Where a file lies, by the headers of the Hub's answer. Raises ValueError or KeyError at others."""
    until = int(headers["x-xet-token-expiration"])
    return XetPlace(hash, headers["x-xet-cas-url"], headers["x-xet-access-token"], until)


def require_storage(address: str, endpoint: Origin) -> str:
    """The host of Xet's storage. Raises Refused("hub.address") where the Hub must not lead there; a folder will do
    where the Hub is on this machine.
    """
    if address.startswith(_LOCAL) and endpoint.loopback:
        return _LOCAL
    origin = origin_of(address)
    require_allowed(origin, endpoint)
    return origin.host


class XetStorage:
    """hf_xet's session, made when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Any = None

    def group(self, place: XetPlace, agent: str) -> Any:
        """What opens streams at a place. Raises as hf_xet does."""
        import hf_xet

        with self._lock:
            self._session = self._session or hf_xet.XetSession()
        return self._session.new_download_stream_group(
            endpoint=place.address,
            token=place.token,
            token_expiry_unix_secs=place.expires,
            custom_headers={"user-agent": agent},
        )


class XetBytes:
    """A file from `start` on: see `remote.Bytes`."""

    def __init__(self, group: Any, located: Located, place: XetPlace, start: int, host: str, line: Line) -> None:
        self.start = start
        self._group, self._located, self._place = group, located, place
        self._host, self._line = host, line
        self._lock = threading.Lock()
        self._hung_up = False
        self._count = 0

    def pieces(self) -> Iterator[bytes]:
        """The bytes, some hundred KiB at a time. What came before a break is handed on before it is told."""
        starts = iter(range(self.start, self._located.size_bytes, RANGE_BYTES))
        with ThreadPoolExecutor(AHEAD, "xet range") as pool:
            try:
                coming = deque(pool.submit(self._fetched, at) for at in islice(starts, AHEAD))
                while coming:
                    wholes, fault = coming.popleft().result()
                    coming.extend(pool.submit(self._fetched, at) for at in islice(starts, 1))
                    for whole in wholes:
                        yield from self._handed(whole)
                    if fault is not None:
                        raise fault
            finally:
                self.hang_up()  # no range is waited for that nobody wants

    def hang_up(self) -> None:
        """End it at once, also where a read waits. Of the group, for a stream cannot be ended while it is read."""
        with self._lock:
            if not self._hung_up:
                self._hung_up = True
                self._group.abort()

    def close(self) -> None:
        """No more of it is wanted."""
        self.hang_up()
        self._line.ended(self._count)

    def _handed(self, whole: bytes) -> Iterator[bytes]:
        for begin in range(0, len(whole), PIECE_BYTES):
            if self._hung_up:
                raise self._broken("hung up")
            piece = whole[begin : begin + PIECE_BYTES]
            self._count += len(piece)
            yield piece

    def _fetched(self, start: int) -> tuple[list[bytes], Unreachable | None]:
        """What came of one range, and what broke it."""
        import hf_xet

        end = min(self._located.size_bytes, start + RANGE_BYTES)
        info = hf_xet.XetFileInfo(self._place.hash, self._located.size_bytes)
        came: list[bytes] = []
        try:
            came.extend(bytes(piece) for piece in self._group.download_stream(info, start=start, end=end))
        except Exception as error:  # whatever its Rust comes to
            return came, self._broken("hung up") if self._hung_up else told(error, self._host, self._line, self._count)
        if sum(map(len, came)) == end - start:
            return came, None
        return came, self._broken("hung up" if self._hung_up else "cut short")

    def _broken(self, reason: str) -> Unreachable:
        self._line.ended(self._count, "hub.unreachable")
        return Unreachable("hub.unreachable", host=self._host, reason=reason)


def told(error: Exception, host: str, line: Line, count: int = 0) -> Unreachable:
    """hf_xet's error as one of ours; what it says may hold signed addresses, whose queries are left out."""
    expired = type(error).__name__ == "XetAuthenticationError"
    code = "hub.expired" if expired else "hub.unreachable"
    line.ended(count, code)
    reason = _QUERY.sub("", str(error))[:_SHOWN] or type(error).__name__
    return Unreachable(code, host=host, reason=reason)
