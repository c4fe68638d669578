"""The database file: migrations, damage, threads."""

import sqlite3
import subprocess
import sys
import threading

import pytest

from weighbridge.base.database import Database, folded
from weighbridge.base.errors import BadFile, Refused


def m001_first(connection):
    connection.execute("CREATE TABLE notes (text TEXT)")


def m002_second(connection):
    connection.execute("ALTER TABLE notes ADD COLUMN kind TEXT")


def m002_broken(connection):
    connection.execute("ALTER TABLE notes ADD COLUMN kind TEXT")
    connection.execute("this is not SQL")


@pytest.fixture
def opened():
    databases = []

    def open_(path, *migrations):
        databases.append(Database(path, migrations) if migrations else Database(path))
        return databases[-1]

    yield open_
    for database in databases:
        database.close()


def test_migrations_are_applied_once_and_their_names_kept(tmp_path, opened):
    path = tmp_path / "new folder" / "a.sqlite3"
    first = opened(path, m001_first)
    with first.transaction() as connection:
        connection.execute("INSERT INTO notes VALUES ('kept')")
    first.close()
    second = opened(path, m001_first, m002_second)
    assert [tuple(row) for row in second.rows("SELECT text, kind FROM notes")] == [("kept", None)]
    assert [name for (name,) in second.rows("SELECT name FROM migrations ORDER BY name")] == [
        "m001_first",
        "m002_second",
    ]


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path, opened):
    path = tmp_path / "a.sqlite3"
    opened(path, m001_first).close()
    with pytest.raises(BadFile) as caught:
        Database(path, [m001_first, m002_broken])
    assert caught.value.code == "database.unusable"
    columns = opened(path, m001_first).rows("SELECT name FROM pragma_table_info('notes')")
    assert [name for (name,) in columns] == ["text"]


def test_a_file_of_a_later_version_is_refused_and_left_alone(tmp_path, opened):
    path = tmp_path / "a.sqlite3"
    opened(path, m001_first, m002_second).close()
    before = path.read_bytes()
    with pytest.raises(Refused) as caught:
        Database(path, [m001_first])
    assert caught.value.code == "database.newer"
    assert caught.value.values["migration"] == "m002_second"
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_set_aside_and_a_new_one_made(tmp_path, opened):
    path = tmp_path / "weighbridge.sqlite3"
    path.write_bytes(b"this was never a database" * 400)
    database = opened(path)
    assert database.notice is not None
    assert database.notice.code == "database.damaged"
    (aside,) = tmp_path.glob("weighbridge.damaged-*.sqlite3")
    assert aside.read_bytes().startswith(b"this was never")
    assert database.rows("SELECT count(*) FROM conversations")[0][0] == 0


def test_a_page_overwritten_is_found_at_opening(tmp_path, opened):
    path = tmp_path / "a.sqlite3"
    database = opened(path, m001_first)
    with database.transaction() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", [("x" * 900,)] * 200)
    database.close()
    content = bytearray(path.read_bytes())
    content[8192:12288] = b"\xff" * 4096
    path.write_bytes(bytes(content))
    assert opened(path, m001_first).notice is not None


def test_a_locked_file_is_not_taken_for_damaged(tmp_path, monkeypatch):
    path = tmp_path / "a.sqlite3"
    Database(path).close()
    monkeypatch.setattr("weighbridge.base.database.BUSY_MS", 20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BadFile) as caught:
        Database(path)
    other.rollback()
    other.close()
    assert caught.value.code == "database.unusable"
    assert list(tmp_path.glob("*damaged*")) == []


def test_threads_share_it_and_a_transaction_that_raises_is_undone(tmp_path, opened):
    database = opened(tmp_path / "a.sqlite3", m001_first)

    def write():
        for _ in range(20):
            with database.transaction() as connection:
                connection.execute("INSERT INTO notes VALUES ('x')")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(RuntimeError), database.transaction() as connection:
        connection.execute("DELETE FROM notes")
        raise RuntimeError
    assert database.rows("SELECT count(*) FROM notes")[0][0] == 80


def test_search_sees_no_case_and_no_accents():
    assert folded("Ácción ÉTÉ Straße") == "accion ete strasse"
    assert folded("PLAIN") == "plain"


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path):
    database = Database(tmp_path / "w.sqlite3")
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute(
            "INSERT INTO messages (conversation_id, role, text, reasoning, settings, created, state, figures)"
            " VALUES (99, '', '', '', '', 0, '', '')"
        )
    with database.transaction() as connection:
        connection.execute("INSERT INTO remembered VALUES ('a', '1')")
    assert [tuple(row) for row in database.rows("SELECT * FROM remembered")] == [("a", "1")]
    database.close()


def test_a_damaged_letter_is_replaced(tmp_path):
    database = Database(tmp_path / "w.sqlite3")
    with database.transaction() as connection:
        connection.execute("INSERT INTO remembered VALUES ('a', CAST(x'61ff62' AS TEXT))")
    assert database.rows("SELECT value FROM remembered")[0][0] == "a\ufffdb"
    database.close()


def test_a_schema_damaged_in_its_letters_is_set_aside(tmp_path):
    path = tmp_path / "w.sqlite3"
    Database(path).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE conversations", b"CREATE \xf5\xf5BLE conversations"))
    database = Database(path)
    assert database.notice is not None
    assert database.notice.code == "database.damaged"
    database.close()


def test_a_full_disk_is_told_as_such(tmp_path):
    database = Database(tmp_path / "w.sqlite3")
    (pages,) = database.rows("PRAGMA page_count")[0]
    database.rows(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(BadFile) as bad, database.transaction() as connection:
        connection.execute("CREATE TABLE big AS SELECT zeroblob(99999) AS x")
    assert bad.value.code == "database.failed"
    assert "full" in bad.value.values["reason"]
    database.close()


FULL_DISK = """
import resource, sys
from pathlib import Path
from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile

path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # no file may grow, as on a disk without room
database = Database(path)
print([row["value"] for row in database.rows("SELECT value FROM remembered")])
try:
    with database.transaction() as connection:
        connection.execute("INSERT INTO remembered VALUES ('new', ?)", ("x" * 100_000,))
except BadFile as error:
    print(error.code)
print(len(database.rows("SELECT * FROM remembered")))
database.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of POSIX")
def test_on_a_full_disk_it_is_read_and_told_what_cannot_be_written(tmp_path, opened):
    path = tmp_path / "a.sqlite3"
    database = opened(path)
    with database.transaction() as connection:
        connection.execute("INSERT INTO remembered VALUES ('old', 'kept')")
    database.close()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False)
    assert (done.stdout.split("\n")[:3], done.returncode) == (["['kept']", "database.failed", "1"], 0)
