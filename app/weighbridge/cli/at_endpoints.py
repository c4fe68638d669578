"""The endpoints of this user, for commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from weighbridge.base.paths import default_paths

if TYPE_CHECKING:
    from weighbridge.base.database import Database
    from weighbridge.running.endpoints.endpoints import Endpoints


def endpoints_in(database: Database) -> Endpoints:
    """Those in `database`, with their keys and the settings in force."""
    from weighbridge.cli.loading import settings
    from weighbridge.hub.access import offline
    from weighbridge.hub.network import NetworkLog
    from weighbridge.running.endpoints.endpoints import Endpoints
    from weighbridge.running.endpoints.keys import Keys

    kept = settings().value
    return Endpoints(database, Keys(default_paths().config), NetworkLog(), lambda: offline(kept, os.environ))


@contextmanager
def the_endpoints() -> Iterator[Endpoints]:
    """All of them, to be changed until the block is left. Raises a WeighbridgeError where the database is unusable."""
    from weighbridge.base.database import Database

    with closing(Database(default_paths().database)) as database:
        yield endpoints_in(database)
