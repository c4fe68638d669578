"""What the commands share that change something of the models that are here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.base.paths import default_paths

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge.hub.job_store import JobStore
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks


@dataclass(frozen=True)
class AtHome:
    """The library, scanned just now, what is written on its models and known of their bytes, and the downloads.

    `own_folder` is the one whose files are ours to remove.
    """

    library: Library
    marks: Marks
    hashes: Hashes
    jobs: JobStore
    own_folder: Path


@contextmanager
def at_home() -> Iterator[AtHome]:
    """All of it until the block is left. Raises a WeighbridgeError where the database cannot be used."""
    from weighbridge.base.database import Database
    from weighbridge.cli.at_endpoints import endpoints_in
    from weighbridge.cli.loading import settings
    from weighbridge.hub.job_store import JobStore
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks
    from weighbridge.library.places import library_roots
    from weighbridge.library.shelves.program import this_computer

    paths = default_paths()
    with closing(Database(paths.database)) as database:
        marks, hashes = Marks(database), Hashes(database)
        roots = library_roots(paths, settings().value, this_computer())
        library = Library(roots, paths.headers, marks, hashes, elsewhere=endpoints_in(database).models)
        library.scan()
        yield AtHome(library, marks, hashes, JobStore(database), paths.models)
