"""One download in a process of its own, which may be killed at any moment: the child of `tests.soak.downloads`."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from weighbridge.base.database import Database
from weighbridge.base.errors import Unreachable
from weighbridge.hub import client, layout, pace, queue, space
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import ENDED, Job, State, job_of
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.peek import remote_reader
from weighbridge.hub.queue import Queue
from weighbridge.hub.reference import Reference
from weighbridge.hub.wanted import wanted


@dataclass(frozen=True)
class Order:
    """What to fetch from where to where. `blind`: free space is not looked at, so that the disk itself tells of it."""

    endpoint: str
    repo_id: str
    data: Path
    models: Path
    blind: bool = False


def fetch(order: Order, told: Connection) -> None:
    """Fetch it, however often it was begun before, and tell the state in which it ends, and why."""
    _hurry(order.blind)
    access = Access(lambda: order.endpoint, lambda: None, lambda: False)
    with closing(Hub(access, NetworkLog())) as hub, closing(Database(order.data / "db.sqlite3")) as database:
        store = JobStore(database)
        known = store.all()
        with closing(Queue(hub, store, order.data)) as downloads:
            job_id = known[0].id if known else downloads.add(_job(hub, order))
            if known and known[0].state is State.FAILED:
                downloads.retry(job_id)
            seen = None
            while seen not in ENDED:
                time.sleep(0.01)
                view = downloads.snapshot().job(job_id)
                assert view is not None
                if view.state is State.PAUSED and view.state is not seen:
                    told.send((view.state.value, view.error.code if view.error else None))
                seen = view.state
            told.send((view.state.value, view.error.code if view.error else None))


def _job(hub: Hub, order: Order) -> Job:
    while True:
        try:
            repository = hub.repository(order.repo_id, "main")
            found = wanted(repository, Reference(order.repo_id), remote_reader(hub, repository))
        except Unreachable:
            continue
        return job_of(found, layout.shelf_of(repository, layout.Layout.FOLDER, order.models))


def _hurry(blind: bool) -> None:
    """Waits that would make a soak last for hours, and room on a disk of a few MiB."""
    pace.FIRST_WAIT_S, pace.LONGEST_WAIT_S = 0.01, 0.1
    client.STALL_S = 0.3
    queue.TOLD_S, queue.IDLE_S, queue.ROOM_S, queue.HOLD_S, queue.BUSY_S = 0.01, 0.02, 0.05, 0.3, 0.05
    space.MARGIN_BYTES = 0
    if blind:
        queue.volume_of = lambda folder: space.Volume(1, None)
