"""The Hub as this user has set it, for commands that ask it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from weighbridge.base.errors import Refused
from weighbridge.base.explain import explain, explain_code
from weighbridge.base.paths import default_paths

if TYPE_CHECKING:
    from weighbridge.base.settings import Settings
    from weighbridge.base.task import Task
    from weighbridge.hub.client import Hub
    from weighbridge.hub.remote import Repository

T = TypeVar("T")


@contextmanager
def the_hub() -> Iterator[tuple[Hub, Settings]]:
    """The Hub and the settings; what is wrong with these is told on standard error."""
    from weighbridge.cli.loading import settings
    from weighbridge.hub.access import access_of
    from weighbridge.hub.client import Hub
    from weighbridge.hub.environment import prepare
    from weighbridge.hub.network import NetworkLog
    from weighbridge.hub.token import TokenStore

    prepare(os.environ)
    store = settings()
    for notice in store.notices:
        print(explain_code(notice.code, notice.values), file=sys.stderr)
    tokens = TokenStore(default_paths().config, os.environ)
    hub = Hub(access_of(lambda: store.value, tokens.token, os.environ), NetworkLog())
    try:
        yield hub, store.value
    finally:
        hub.close()


def asked(hub: Hub, ask: Callable[[Hub], T]) -> tuple[Hub, T]:
    """What `ask` comes to, and the Hub that told it: without the token where that is no good, which is told."""
    try:
        return hub, ask(hub)
    except Refused as error:
        if error.code != "hub.token":
            raise
        print(explain(error), file=sys.stderr)
    nobody = hub.without_token()
    try:
        return nobody, ask(nobody)
    except BaseException:
        nobody.close()
        raise


def listed(hub: Hub, repo_id: str, revision: str, task: Task) -> tuple[Hub, Repository]:
    """A repository, and the Hub that told of it; see `asked`."""
    return asked(hub, lambda there: there.repository(repo_id, revision, task))
