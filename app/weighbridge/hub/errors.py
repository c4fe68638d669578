"""What a bad answer of the Hub, or none, means: the one place where it becomes an error with a code."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpcore2

from weighbridge.base.errors import Refused, Unreachable, WeighbridgeError

DEFAULT_WAIT_S = 60
LONGEST_WAIT_S = 3_600
_RATE_LIMIT = re.compile(r";\s*r\s*=\s*0+\s*;\s*t\s*=\s*(\d{1,9})(?!\d)")
_BAD_TOKEN = re.compile(r"invalid (credentials|user access token)|token\b.*\bexpired", re.IGNORECASE | re.S)
_WAITING = re.compile(r"awaiting|pending|rejected", re.IGNORECASE)
_NAMED = {"EntryNotFound": "hub.no_file", "RevisionNotFound": "hub.no_revision", "RepoNotFound": "hub.private"}
_SHOWN = 200


@dataclass(frozen=True)
class About:
    """What was asked for, for the words of an error."""

    repo_id: str = ""
    revision: str = ""
    path: str = ""


@dataclass(frozen=True)
class Answer:
    """The head of an answer that is none of the good ones. `at_hub`: the endpoint gave it, not where it led to.
    `token_sent`: the request carried the user's token."""

    status: int
    headers: Mapping[str, str]
    host: str
    at_hub: bool
    token_sent: bool

    @property
    def code(self) -> str:
        """What the Hub calls it."""
        return self.headers.get("x-error-code", "")

    @property
    def message(self) -> str:
        """What the Hub says of it, in English, at most some hundred characters."""
        return self.headers.get("x-error-message", "")[:_SHOWN]


class BadAnswer(Exception):
    """An answer that `fault` has words for, from the transport to whoever knows what was asked for."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def fault(answer: Answer, about: About) -> WeighbridgeError:
    """The error for an answer. The order matters: a gated repository is told as missing too, a bad token as both."""
    if answer.status == 429:
        return Unreachable("hub.rate_limit", seconds=seconds_to_wait(answer.headers))
    if answer.status in (407, 511):
        code = "hub.proxy" if answer.status == 407 else "hub.portal"
        return Unreachable(code, host=answer.host, reason=f"HTTP {answer.status}")
    if answer.status == 408 or answer.status >= 500:
        return Unreachable("hub.server", host=answer.host, reason=_told(answer))
    if not (answer.at_hub or answer.code):
        code = "hub.expired" if answer.status in (400, 401, 403, 404, 410) else "hub.server"
        return Unreachable(code, host=answer.host, reason=_told(answer))
    return _refusal(answer, about)


def _refusal(answer: Answer, about: About) -> WeighbridgeError:
    """What stays as it is until the user changes something."""
    code = _bad_token(answer) or _named(answer) or _by_status(answer, about)
    if code is None:
        return Unreachable("hub.server", host=answer.host, reason=_told(answer))
    page = f"https://huggingface.co/{about.repo_id}"
    told = {"repo_id": about.repo_id, "revision": about.revision, "path": about.path, "page": page}
    return Refused(code, host=answer.host, reason=_told(answer), **told)


def _bad_token(answer: Answer) -> str | None:
    refused = answer.token_sent and answer.status == 401
    return "hub.token" if refused and (_BAD_TOKEN.search(answer.message) or not answer.code) else None


def _named(answer: Answer) -> str | None:
    """By the Hub's own name for it."""
    if answer.code == "GatedRepo":
        if not answer.token_sent:
            return "hub.gated_sign_in"
        return "hub.gated_waiting" if _WAITING.search(answer.message) else "hub.gated"
    if "resource is disabled" in answer.message:
        return "hub.disabled"
    return _NAMED.get(answer.code)


def _by_status(answer: Answer, about: About) -> str | None:
    if not about.repo_id:  # a list, or who one is: there is nothing that one could be let to
        return "hub.token" if answer.status == 401 and answer.token_sent else None
    if answer.status == 404:
        return "hub.no_file" if about.path else "hub.private"
    return {401: "hub.private", 403: "hub.denied", 451: "hub.denied"}.get(answer.status)


def _told(answer: Answer) -> str:
    return f"HTTP {answer.status}" + (f": {answer.message}" if answer.message else "")


def seconds_to_wait(headers: Mapping[str, str]) -> int:
    """How long the Hub asks to wait: of its own header, or the common one; else a minute. From 1 s to an hour."""
    told = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    seconds = int(told.group(1)) if told else _retry_after(headers.get("retry-after", "").strip())
    return max(1, min(LONGEST_WAIT_S, DEFAULT_WAIT_S if seconds is None else seconds))


def _retry_after(told: str) -> int | None:
    """Seconds, or a date (RFC 9110, 10.2.3)."""
    if told.isdecimal() and len(told) < 10:
        return int(told)
    try:
        until = parsedate_to_datetime(told)
        return int((until - datetime.now(until.tzinfo and UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def broken(error: Exception, host: str) -> Unreachable:
    """The error for a connection that failed, stalled or broke."""
    reason = (str(error) or type(error).__name__)[:_SHOWN]
    if isinstance(error, httpcore2.ReadTimeout | httpcore2.WriteTimeout):
        return Unreachable("hub.stalled", host=host)
    if isinstance(error, httpcore2.ProxyError):
        return Unreachable("hub.proxy", host=host, reason=reason)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in error.args):
        return Unreachable("hub.certificate", host=host, reason=reason)
    return Unreachable("hub.unreachable", host=host, reason=reason)
