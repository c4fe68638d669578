"""What can go wrong on the way, on purpose: one-shot, always, or by chance."""

from __future__ import annotations

import json
import math
import random
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fake_hub.content import Held
from tests.fake_hub.exchange import Answer, Request, redirect
from tests.fake_hub.limits import standing, too_many


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with one answer. `change` alters the answer before it is sent; what happens while it is
    sent, the server does. Each kind can be `drawn` by chance, for an answer of `length` bytes.
    """

    def fits(self, answer: Answer) -> bool:
        """Whether it can happen to this answer. One that does not fit waits for the next."""
        return True

    def change(self, answer: Answer) -> Answer:
        return answer

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls()


@dataclass(frozen=True)
class Midway(Fault):
    """Happens after some bytes of the body; -1 is before the headers, as always where there is no body (HEAD)."""

    after: int = 0

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls(chance.randrange(max(1, answer.length)))


@dataclass(frozen=True)
class Cut(Midway):
    """The connection is closed in order (FIN) after `after` bytes, less than its length told."""


@dataclass(frozen=True)
class Reset(Midway):
    """The connection is torn down (RST) after `after` bytes."""


@dataclass(frozen=True)
class Stall(Midway):
    """Nothing comes for `seconds` after `after` bytes; then it goes on."""

    seconds: float = math.inf

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls(chance.randrange(max(1, answer.length)), chance.uniform(0.05, 0.5))


@dataclass(frozen=True)
class Slow(Fault):
    """The body comes at `bytes_per_second`."""

    bytes_per_second: int = 1 << 20


@dataclass(frozen=True)
class Corrupt(Fault):
    """One byte is wrong: the one at offset `at` of the file. Waits for an answer that carries that byte."""

    at: int = 0

    def fits(self, answer: Answer) -> bool:
        return answer.start <= self.at < answer.end

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls(answer.start + chance.randrange(max(1, answer.length)))


@dataclass(frozen=True)
class Status(Fault):
    """An error instead of the answer."""

    code: int = 503
    message: str = "Service unavailable"

    def change(self, answer: Answer) -> Answer:
        body = Held(f"<html><body>{self.message}</body></html>".encode())
        return Answer(self.code, {"Content-Type": "text/html"}, body, file=answer.file)

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls(chance.choice((500, 502, 503, 504)))


@dataclass(frozen=True)
class ShortBody(Fault):
    """An answer in good order, with a length that is true, that ends after `length` bytes of those asked for."""

    length: int = 0

    def change(self, answer: Answer) -> Answer:
        answer.stop = min(answer.end, answer.start + self.length)
        if answer.status == 206:
            last = max(answer.start, answer.stop - 1)
            answer.headers["Content-Range"] = f"bytes {answer.start}-{last}/{answer.content.size}"
        return answer

    @classmethod
    def drawn(cls, chance: random.Random, answer: Answer) -> Fault:
        return cls(chance.randrange(1, max(2, answer.length)))


@dataclass(frozen=True)
class IgnoreRange(Fault):
    """200 and the whole file, though a range was asked for. Waits for an answer to a range."""

    def fits(self, answer: Answer) -> bool:
        return answer.status == 206

    def change(self, answer: Answer) -> Answer:
        answer.status, answer.start, answer.stop = 200, 0, None
        answer.headers.pop("Content-Range")
        return answer


@dataclass(frozen=True)
class WrongRange(Fault):
    """206 with bytes that begin at `start`, and say so, whatever was asked for. Waits for an answer to a range."""

    start: int = 0

    def fits(self, answer: Answer) -> bool:
        return answer.status == 206

    def change(self, answer: Answer) -> Answer:
        answer.start = self.start
        answer.headers["Content-Range"] = f"bytes {answer.start}-{answer.end - 1}/{answer.content.size}"
        return answer


@dataclass(frozen=True)
class Expired(Fault):
    """The signed address is good no more."""

    def change(self, answer: Answer) -> Answer:
        return expired(answer.file)


@dataclass(frozen=True)
class RateLimited(Fault):
    """429, to be tried again after `seconds`."""

    seconds: int = 1
    resource: str = "resolvers"

    def change(self, answer: Answer) -> Answer:
        refused = too_many(standing(self.resource, 0, self.seconds))
        refused.file = answer.file
        return refused


@dataclass(frozen=True)
class Portal(Fault):
    """A page of a hotel's network instead of the answer."""

    html: str = "<html><title>Welcome</title><form>Room number</form></html>"

    def change(self, answer: Answer) -> Answer:
        return Answer(200, {"Content-Type": "text/html"}, Held(self.html.encode()), file=answer.file)


@dataclass(frozen=True)
class Told(Fault):
    """Other JSON than the answer's, with its headers: `value`, or `text` that need not be any."""

    value: object = None
    text: str | None = None

    def change(self, answer: Answer) -> Answer:
        body = json.dumps(self.value) if self.text is None else self.text
        return Answer(200, answer.headers, Held(body.encode()), file=answer.file)


@dataclass(frozen=True)
class Redirect(Fault):
    """Sent elsewhere. A redirect keeps what else it says."""

    to: str = "http://127.0.0.1:9/"
    code: int = 302

    def change(self, answer: Answer) -> Answer:
        kept = answer.headers if 300 <= answer.status < 400 else {}
        return redirect(self.code, self.to, {**kept, "Location": self.to}, file=answer.file)


@dataclass(frozen=True)
class Headers(Fault):
    """Some headers say something else; None leaves one out."""

    told: Mapping[str, str | None] = field(default_factory=dict)

    def change(self, answer: Answer) -> Answer:
        for name, value in self.told.items():
            answer.headers.pop(name, None)
            if value is not None:
                answer.headers[name] = value
        return answer


def expired(file: str | None) -> Answer:
    """What the storage answers to an address whose signature does not hold, or no more."""
    body = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
    return Answer(403, {"Content-Type": "application/xml"}, Held(body.encode()), file=file)


@dataclass
class _Planned:
    fault: Fault
    path: str | None
    on: str
    times: float

    def meets(self, request: Request, answer: Answer) -> bool:
        named = self.path is None or self.path == request.file or request.path.startswith(self.path)
        return named and self.on in {request.kind, "any"} and self.fault.fits(answer)


@dataclass
class Faults:
    """What will go wrong, in the order in which it was planned."""

    _planned: list[_Planned] = field(default_factory=list)
    _kinds: Sequence[type[Fault]] = ()
    _rate: float = 0.0
    _on: Collection[str] = ()
    _chance: random.Random = field(default_factory=random.Random)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, fault: Fault, path: str | None = None, on: str = "bytes", times: float = 1) -> None:
        """Plans a fault for the next `times` answers about `path`: a file's path in its repository, the beginning of a
        request's path ("/api/models"), or None for any. `on` is the kind of request: "bytes" (GET of a file's bytes),
        "resolve" (where a file is), "api", or "any".
        """
        with self._lock:
            self._planned.append(_Planned(fault, path, on, times))

    def always(self, fault: Fault, path: str | None = None, on: str = "bytes") -> None:
        """As `next`, without end."""
        self.next(fault, path, on, math.inf)

    def random(
        self, seed: int, rate: float, kinds: Sequence[type[Fault]], on: Collection[str] = frozenset({"bytes"})
    ) -> None:
        """From now on, each answer to a request of a kind `on` goes wrong with the chance `rate`, in one of the ways
        `kinds`. Which answers do depends on `seed` and on the order in which requests come.
        """
        with self._lock:
            self._chance, self._rate, self._kinds, self._on = random.Random(seed), rate, kinds, on

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self._planned.clear()
            self._rate = 0.0

    @property
    def left(self) -> int:
        """How many plans have not been used up."""
        return len(self._planned)

    def take(self, request: Request, answer: Answer) -> Fault | None:
        """The fault of this answer."""
        with self._lock:
            for plan in self._planned:
                if plan.meets(request, answer):
                    plan.times -= 1
                    if plan.times <= 0:
                        self._planned.remove(plan)
                    return plan.fault
            if request.kind in self._on and self._chance.random() < self._rate:
                fault = self._chance.choice(self._kinds).drawn(self._chance, answer)
                return fault if fault.fits(answer) else None
        return None
