"""A Hugging Face Hub on loopback that can be told to go wrong. Standard library only, but for TLS and Xet."""

from tests.fake_hub.content import Content, Made, git_sha1, sha256
from tests.fake_hub.exchange import Request
from tests.fake_hub.faults import (
    Corrupt,
    Cut,
    Expired,
    Fault,
    Headers,
    IgnoreRange,
    Portal,
    RateLimited,
    Redirect,
    Reset,
    ShortBody,
    Slow,
    Stall,
    Status,
    Told,
    WrongRange,
)
from tests.fake_hub.hub import FakeHub
from tests.fake_hub.repository import Commit, Entry, Repo

__all__ = [
    "Commit",
    "Content",
    "Corrupt",
    "Cut",
    "Entry",
    "Expired",
    "FakeHub",
    "Fault",
    "Headers",
    "IgnoreRange",
    "Made",
    "Portal",
    "RateLimited",
    "Redirect",
    "Repo",
    "Request",
    "Reset",
    "ShortBody",
    "Slow",
    "Stall",
    "Status",
    "Told",
    "WrongRange",
    "git_sha1",
    "sha256",
]
