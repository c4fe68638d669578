"""Text for strangers: without home folders, names of users and machines, keys and tokens. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "***"
_LEAST = 3
"""A name of fewer letters stands in too many words."""

_TOKENS = (
    re.compile(r"\bhf_[A-Za-z0-9]{8,}"),
    re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_-]{8,}"),
    re.compile(r"\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
)
_NAMED = (
    re.compile(r"(?i)(authorization\"?\s*[:=]\s*\"?(?:bearer|basic)?\s*)[^\s\"',;]+"),
    re.compile(r"(?i)(\bbearer\s+)[^\s\"',;]{6,}"),
    re.compile(
        r"(?i)([\w-]*(?:api[_-]?keys?|_key|secret|passw(?:or)?d|[_-]token|\btoken)\"?'?\s*(?:[:=]\s*|\s(?=[\w-]{16,}))[\"']?)"
        r"(?!\d+\b)[^\s\"',;]+"
    ),
    re.compile(r"(--api-key(?:-file)?[ =])\S+"),
)
_IN_ADDRESS = re.compile(r"(\w+://)[^\s/@]+@")
_QUERY = re.compile(r"(https?://[^\s?#]+)\?\S+")
_HOMES = (
    re.compile(r"(?i)(/(?:home|Users)/)(?:[^/\n'\":;,()]+(?=/)|[^/\s'\":;,()]+)"),
    re.compile(r"(?i)([A-Z]:\\+Users\\+)(?:[^\\\n'\":;,()]+(?=\\)|[^\\\s'\":;,()]+)"),
)


def redacted(text: str, secrets: Iterable[str], home: str, user: str, machine: str = "") -> str:
    """`text` without any of `secrets`, what looks like a token or a key, the folder `home` (which becomes "~"), other
    homes, and the names `user` and `machine`.
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for token in _TOKENS:
        text = token.sub(HIDDEN, text)
    for named in _NAMED:
        text = named.sub(rf"\1{HIDDEN}", text)
    text = _QUERY.sub(rf"\1?{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}@", text))
    return _without_people(text, home, user, machine)


def _without_people(text: str, home: str, user: str, machine: str) -> str:
    if len(home) > 1:
        for written in {home, home.replace("\\", "\\\\"), home.replace("\\", "/")}:
            text = re.sub(re.escape(written) + r"(?![\w.-])", "~", text)
    for other in _HOMES:
        text = other.sub(rf"\1{HIDDEN}", text)
    for name in (user, machine):
        if len(name) >= _LEAST:
            text = re.sub(rf"(?<![\w]){re.escape(name)}(?![\w])", HIDDEN, text)
    return text
