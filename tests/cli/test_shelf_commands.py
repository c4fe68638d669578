"""`add`, `note`, `verify` and `doubles`: what is done with models that are here."""

import hashlib
import json
import os

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.database import Database
from weighbridge.cli.main import run
from weighbridge.hub.promises import Promises


@pytest.fixture
def own(home):
    made = home / "data" / "models"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def database(home):
    made = Database(home / "data" / "weighbridge.sqlite3")
    yield made
    made.close()


def put(path, extra=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA) + extra)
    return path


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_a_note_is_written_shown_and_listed(own, capsys):
    put(own / "a.gguf")
    assert run(["note", "a", "for code"], dict) == 0
    assert run(["note", "a"], dict) == 0
    assert capsys.readouterr().out == "for code\n"
    run(["ls", "--json"], dict)
    assert told(capsys)["models"][0]["note"] == "for code"
    assert run(["note", "a", "", "--json"], dict) == 0
    assert told(capsys) == {"id": "a", "note": ""}


def test_a_note_on_what_is_not_here(own, capsys):
    assert run(["note", "gone", "x"], dict) == 1
    assert "the library is empty" in capsys.readouterr().err


def test_verified_by_its_hash_and_found_wrong_once_a_byte_is(own, database, capsys):
    path = put(own / "a.gguf")
    Promises(database).keep(path, hashlib.sha256(path.read_bytes()).hexdigest())
    assert run(["verify", "a"], dict) == 0
    assert "All bytes are right, by the sha256 that the Hub promised" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert run(["verify", "a", "--json"], dict) == 1
    answer = told(capsys)
    assert (answer["sound"], answer["fault"]["code"]) == (False, "model.corrupt")
    run(["ls", "--json"], dict)
    assert told(capsys)["models"][0]["problem"]["code"] == "model.corrupt"


def test_verified_without_a_hash_says_so(own, capsys):
    put(own / "a.gguf")
    assert run(["verify", "a", "--json"], dict) == 0
    assert told(capsys)["told"] == {"code": "verified.by_header", "count": 1, "unknown": 1}


def test_no_doubles(own, capsys):
    put(own / "a.gguf")
    assert run(["doubles"], dict) == 0
    assert "No file is here more than once." in capsys.readouterr().out


def test_doubles_are_told_and_linked(own, tmp_path, capsys):
    extra = bytes(2 << 20)
    ours, other = put(own / "a.gguf", extra), put(tmp_path / "other" / "a.gguf", extra)
    run(["add", str(other.parent)], dict)
    capsys.readouterr()
    assert run(["doubles", "--json"], dict) == 0
    (double,) = told(capsys)["doubles"]
    assert double["links"] == [{"path": str(ours), "to": str(other)}]
    assert double["would_free_bytes"] == 512 * ours.stat().st_blocks
    assert not ours.samefile(other)
    assert run(["doubles"], dict) == 0
    assert "Links would free" in capsys.readouterr().out
    assert run(["doubles", "--link", "--json"], dict) == 0
    assert told(capsys)["freed_bytes"] == double["would_free_bytes"]
    assert ours.samefile(other)


def test_a_link_that_cannot_be_made_is_told(own, tmp_path, monkeypatch, capsys):
    extra = bytes(2 << 20)
    put(own / "a.gguf", extra)
    put(own / "b.gguf", extra)

    def refuse(*paths, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert run(["doubles", "--link"], dict) == 1
    assert "could not be replaced by a hard link (Operation not permitted)" in capsys.readouterr().err


def test_adding_tells_what_was_not_added(own, tmp_path, capsys):
    path = put(tmp_path / "x" / "a.gguf")
    assert run(["add", str(path), str(tmp_path / "gone.gguf"), "--json"], dict) == 1
    answer = told(capsys)
    assert answer["files"] == [str(path)]
    assert [error["code"] for error in answer["refused"]] == ["model.no_file"]
    assert run(["add", str(path)], dict) == 1
    assert "is in the library already" in capsys.readouterr().err


def test_ls_tells_last_use_room_and_what_is_off_the_list(own, database, capsys):
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks

    for name in ("a", "b", "c"):
        put(own / f"{name}.gguf", bytes(100_000))
    a, b, c = Library([own]).scan()
    marks = Marks(database)
    marks.used(b, 2000.0)
    marks.used(c, 3000.0)
    marks.take_off(a)
    assert run(["ls", "--sort", "used"], dict) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == ["name", "c", "b"]
    assert run(["ls", "--all", "--json"], dict) == 0
    rows = {row["id"]: row for row in told(capsys)["models"]}
    assert (rows["a"]["off_list"], rows["b"]["off_list"]) == (True, False)
    assert (rows["a"]["used_s"], rows["c"]["used_s"]) == (None, 3000.0)
    assert rows["a"]["disk_bytes"] == 512 * a.path.stat().st_blocks
    assert run(["ls", "--all"], dict) == 0
    assert "Off the list: a. Back on it: weighbridge add NAME" in capsys.readouterr().out
    for one in (b, c):
        marks.take_off(one)
    assert run(["ls"], dict) == 0
    assert capsys.readouterr().out == "No models: 3 were taken off the list. To see them: weighbridge ls --all\n"
