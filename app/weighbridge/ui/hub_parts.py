"""The parts of the program that ask the Hub, built once: what the user has set, the log, the client, the queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings

if TYPE_CHECKING:
    from weighbridge.base.database import Database
    from weighbridge.hub.access import Access
    from weighbridge.hub.client import Hub
    from weighbridge.hub.jobs import Job
    from weighbridge.hub.looking import Looker
    from weighbridge.hub.network import NetworkLog
    from weighbridge.hub.queue import Queue
    from weighbridge.hub.searches import Searches
    from weighbridge.hub.token import Token, TokenStore
    from weighbridge.hub.wanted import Wanted


class TokenUse:
    """The token in use: the user's, or none once he has said so, until the program ends or he signs in anew."""

    def __init__(self, tokens: TokenStore) -> None:
        self._tokens = tokens
        self._refused: Token | None = None

    def __call__(self) -> Token | None:
        token = self._tokens.token()
        return None if token == self._refused else token

    def do_without(self) -> None:
        """Ask as somebody whom the Hub does not know, as long as there is no other token."""
        self._refused = self._tokens.token()

    def use_again(self) -> None:
        """The Hub has just taken the token there is."""
        self._refused = None


@dataclass(frozen=True)
class HubParts:
    """All that asks the Hub; `close` ends it."""

    token: TokenUse
    access: Access
    network: NetworkLog
    hub: Hub
    queue: Queue
    searches: Searches
    looker: Looker

    def close(self) -> None:
        """Stop the downloads, which go on at the next start, and let go of all connections."""
        self.queue.close()
        self.hub.close()


def build_hub(
    paths: Paths,
    settings: Callable[[], Settings],
    tokens: TokenStore,
    database: Database,
    environment: Mapping[str, str],
) -> HubParts:
    """Make them, and begin with what the queue still has. `settings` is asked anew each time."""
    from weighbridge.hub.access import access_of
    from weighbridge.hub.client import Hub
    from weighbridge.hub.job_store import JobStore
    from weighbridge.hub.kept import Kept
    from weighbridge.hub.looking import Looker
    from weighbridge.hub.network import NetworkLog
    from weighbridge.hub.queue import Limits, Queue
    from weighbridge.hub.searches import Searches

    token, network = TokenUse(tokens), NetworkLog()
    access = access_of(settings, token, environment)

    def limits() -> Limits:
        now = settings()
        return Limits(now.downloads_at_once, now.download_bytes_s, access.offline())

    hub = Hub(access, network)
    queue = Queue(hub, JobStore(database), paths.data, limits)
    looker = Looker(hub, Kept(paths.data / "hub", access.endpoint), asker=access.asker)
    return HubParts(token, access, network, hub, queue, Searches(hub, asker=access.asker), looker)


def job_for(wanted: Wanted, paths: Paths, settings: Settings, environment: Mapping[str, str]) -> Job:
    """The job that fetches what is `wanted` to where downloads go."""
    from weighbridge.hub.jobs import job_of
    from weighbridge.hub.layout import Layout, shelf_of
    from weighbridge.library.places import downloads_folder

    folder = downloads_folder(paths, settings, environment)
    return job_of(wanted, shelf_of(wanted.repository, Layout(settings.download_target), folder))
