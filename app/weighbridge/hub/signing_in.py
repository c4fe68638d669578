"""Signing in and out: a token is kept only once the Hub has said whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weighbridge.base.task import Task
from weighbridge.base.words import mark
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.token import Token, TokenStore, token_of

WHERE: Mapping[str, str] = {
    "keyring": mark("the system's keyring"),
    "file": mark("a file that only you can read"),
    "environment": mark("the environment"),
    "login": mark("the login of other Hugging Face programs"),
}
"""Where a token is, by its `origin`, in words."""


@dataclass(frozen=True)
class SignedIn:
    """Whose token it is, and the token as it is kept."""

    user: str
    token: Token


def user_of(token: Token, access: Access, log: NetworkLog, task: Task) -> str:
    """The name of whose token it is, as the Hub has it. Raises Refused("hub.token") where the Hub does not take it,
    Cancelled at once where `task` is cancelled, and what else the Hub comes to.
    """
    hub = Hub(replace(access, token=lambda: token), log)
    try:
        return abandonable(hub.user, lambda _user: None, task)
    finally:
        hub.close()


def sign_in(text: str, access: Access, log: NetworkLog, tokens: TokenStore, task: Task) -> SignedIn:
    """Keep the token in `text`. Raises Refused("hub.token_form"), which sends nothing, and what `user_of` and
    `TokenStore.keep` raise; nothing is kept then.
    """
    given = Token(token_of(text), "file")
    user = user_of(given, access, log, task)
    task.check()
    return SignedIn(user, tokens.keep(given.value))
