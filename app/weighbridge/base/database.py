"""The one SQLite file: opened, brought up to date, and shared by threads.

One connection and one lock serve all threads of the process: transactions here last about a millisecond, so waiting
for the lock costs less than keeping, and closing, a connection for each thread that ever asked. Other processes are
kept apart by SQLite itself (WAL, a busy time-out). A database that cannot be read is set aside, never deleted.
"""

from __future__ import annotations

import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from weighbridge.base.errors import BadFile, Refused

BUSY_MS = 5_000
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_ROOM = (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_FULL)
"""What opening comes to on a full disk, where there is no room for the file by which processes share an index."""

Migration = Callable[[sqlite3.Connection], None]


def m001_chats(connection: sqlite3.Connection) -> None:
    """Conversations, their messages as a tree, and small values remembered by name."""
    connection.execute(
        "CREATE TABLE conversations (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, created REAL NOT NULL,"
        " updated REAL NOT NULL, model_id TEXT, system_prompt TEXT NOT NULL, settings TEXT NOT NULL, leaf_id INTEGER,"
        " deleted REAL)"
    )
    connection.execute(
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT,"
        " conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,"
        " parent_id INTEGER REFERENCES messages (id) ON DELETE CASCADE, role TEXT NOT NULL, text TEXT NOT NULL,"
        " reasoning TEXT NOT NULL, model_id TEXT, settings TEXT NOT NULL, created REAL NOT NULL, state TEXT NOT NULL,"
        " error TEXT, figures TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX messages_of_conversation ON messages (conversation_id)")
    connection.execute("CREATE INDEX messages_of_parent ON messages (parent_id)")
    connection.execute("CREATE TABLE remembered (name TEXT PRIMARY KEY, value TEXT NOT NULL)")


def m002_observations(connection: sqlite3.Connection) -> None:
    """What loads really took; one row for each model under each load on each engine and set of devices."""
    connection.execute(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, files TEXT NOT NULL,"
        " architecture TEXT, engine_id TEXT NOT NULL, version TEXT, devices TEXT NOT NULL, load TEXT NOT NULL,"
        " estimated TEXT NOT NULL, told TEXT NOT NULL, resident_bytes INTEGER NOT NULL)"
    )
    connection.execute(
        "CREATE UNIQUE INDEX observations_of_a_load ON observations"
        " (files, engine_id, ifnull(version, ''), devices, load)"
    )


def m003_speeds(connection: sqlite3.Connection) -> None:
    """How fast answers were: one row for each answer."""
    connection.execute(
        "CREATE TABLE speeds (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, files TEXT NOT NULL,"
        " architecture TEXT, engine_id TEXT NOT NULL, version TEXT, devices TEXT NOT NULL, load TEXT NOT NULL,"
        " formula INTEGER NOT NULL, bandwidths TEXT NOT NULL, mixed INTEGER NOT NULL, depth INTEGER NOT NULL,"
        " decode_tps REAL, prompt_tokens INTEGER, prefill_tps REAL, calculated_decode_tps REAL,"
        " calculated_prefill_tps REAL, busy REAL)"
    )
    connection.execute("CREATE INDEX speeds_of_a_load ON speeds (files, engine_id, load)")


def m004_downloads(connection: sqlite3.Connection) -> None:
    """What is to be fetched, is being fetched and was; one row for each set of files, in the order of `place`."""
    connection.execute(
        "CREATE TABLE downloads (id INTEGER PRIMARY KEY AUTOINCREMENT, place REAL NOT NULL, added REAL NOT NULL,"
        " repo_id TEXT NOT NULL, revision TEXT NOT NULL, commit_id TEXT, label TEXT NOT NULL, root TEXT NOT NULL,"
        " layout TEXT NOT NULL, files TEXT NOT NULL, state TEXT NOT NULL, error TEXT, for_room INTEGER NOT NULL)"
    )


def m005_library(connection: sqlite3.Connection) -> None:
    """What is written on models, by path and format; hashes that downloads knew, and those that were counted here.

    Paths are bytes, as the file system has them.
    """
    connection.execute(
        "CREATE TABLE marks (path BLOB NOT NULL, format TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', used REAL,"
        " off_list INTEGER NOT NULL DEFAULT 0, parts TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (path, format))"
    )
    connection.execute(
        "CREATE TABLE promised_hashes (id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE,"
        " size_bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL, sha256 TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE counted_hashes (id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE,"
        " size_bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, expected TEXT)"
    )


def m006_presets(connection: sqlite3.Connection) -> None:
    """Ways to load a model, by its path (bytes, as the file system has it), its format and a name."""
    connection.execute(
        "CREATE TABLE presets (path BLOB NOT NULL, format TEXT NOT NULL, name TEXT NOT NULL, chosen TEXT NOT NULL,"
        " is_default INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (path, format, name))"
    )


def m007_endpoints(connection: sqlite3.Connection) -> None:
    """Servers that someone else runs, in the order of `place`, with what each was last seen to serve. Never a key."""
    connection.execute(
        "CREATE TABLE endpoints (place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
        " origin TEXT NOT NULL, base_path TEXT NOT NULL, preset TEXT NOT NULL, keyed INTEGER NOT NULL DEFAULT 0,"
        " plain_key INTEGER NOT NULL DEFAULT 0, listed TEXT NOT NULL DEFAULT '[]', reached TEXT)"
    )


def m008_pictures(connection: sqlite3.Connection) -> None:
    """Pictures of messages, in the order in which they were attached; they go with their message."""
    connection.execute(
        "CREATE TABLE pictures (id INTEGER PRIMARY KEY AUTOINCREMENT,"
        " message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE, name TEXT NOT NULL,"
        " kind TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, data BLOB NOT NULL)"
    )
    connection.execute("CREATE INDEX pictures_of_message ON pictures (message_id)")


MIGRATIONS: tuple[Migration, ...] = (
    m001_chats,
    m002_observations,
    m003_speeds,
    m004_downloads,
    m005_library,
    m006_presets,
    m007_endpoints,
    m008_pictures,
)


class Database:
    """An open database file.

    `notice` is set where a damaged file was found and set aside. Raises Refused("database.newer") for a file written
    by a later version and BadFile("database.unusable") where the place cannot be written to.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        self.path = path
        self.notice: BadFile | None = None
        self._lock = threading.RLock()
        self._connection = self._open(migrations)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A short transaction of any thread: committed at the end of the block, undone where it raises.

        Raises BadFile("database.failed", path=, reason=) where SQLite could not do it: a full disk, most often.
        """
        with self._lock, self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.commit()
            except BaseException:  # a commit that fails leaves its transaction open, too
                self._connection.rollback()
                raise

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """All rows of a query, from any thread. Raises BadFile("database.failed")."""
        with self._lock, self._told():
            return self._connection.execute(query, tuple(values)).fetchall()

    @property
    def version(self) -> int:
        """A number that is another one once somebody else has changed the file: another process, or another `Database`.
        From any thread; it costs microseconds. Raises BadFile("database.failed").
        """
        return int(self.rows("PRAGMA data_version")[0][0])

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's own faults as ours; a broken rule of the schema is a fault of the program and stays as it is."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise BadFile("database.failed", path=str(self.path), reason=str(error)) from error

    def close(self) -> None:
        """Write everything into the one file and let it go."""
        with self._lock:
            self._connection.close()

    def _open(self, migrations: Sequence[Migration]) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return _opened_though_full(self.path, migrations)
            except UnicodeDecodeError:
                pass  # sqlite3 could not even read the complaint about a damaged schema
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode not in _DAMAGED:
                    raise
            aside = _set_aside(self.path)
            self.notice = BadFile("database.damaged", path=str(self.path), aside=str(aside))
            return _opened(self.path, migrations)
        except (OSError, sqlite3.Error) as error:
            raise BadFile("database.unusable", path=str(self.path), reason=str(error)) from error


def folded(text: str) -> str:
    """`text` as search sees it: without case and without accents."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _opened_though_full(path: Path, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """On a full disk it can still be read, by one process alone; what cannot be written is told by each transaction."""
    try:
        return _opened(path, migrations)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in _NO_ROOM:
            raise
    return _opened(path, migrations, "EXCLUSIVE")


def _opened(path: Path, migrations: Sequence[Migration], locking: str = "NORMAL") -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA locking_mode = {locking}")
        connection.row_factory = sqlite3.Row
        connection.text_factory = _text
        connection.create_function("folded", 1, folded, deterministic=True)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _check(connection)
        _migrate(connection, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    """A damaged letter must not keep the rest of a conversation from being read."""
    return raw.decode("utf-8", "replace")


def _check(connection: sqlite3.Connection) -> None:
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        error = sqlite3.DatabaseError(verdict)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
        applied = {str(name) for (name,) in connection.execute("SELECT name FROM migrations")}
        unknown = applied - {_name(step) for step in migrations}
        if unknown:
            raise Refused("database.newer", migration=max(unknown))
        for step in migrations:
            if _name(step) not in applied:
                step(connection)
                connection.execute("INSERT INTO migrations VALUES (?)", (_name(step),))
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _name(step: Migration) -> str:
    return str(getattr(step, "__name__", step))


def _set_aside(path: Path) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    number = 2
    while aside.exists():
        aside = path.with_name(f"{path.stem}.damaged-{stamp}-{number}{path.suffix}")
        number += 1
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        beside = path.with_name(path.name + ending)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + ending))
    return aside
