import hashlib

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, Cancelled
from weighbridge.base.explain import explain_code
from weighbridge.base.task import Task
from weighbridge.hub.promises import Promises
from weighbridge.library.hashes import Hashes
from weighbridge.library.index import Library
from weighbridge.library.model import Model
from weighbridge.library.verifying import verify


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "models"
    made.mkdir()
    return made


def listed(folder):
    (model,) = Library([folder]).scan()
    return model


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put(folder, *names):
    for name in names:
        (folder / name).write_bytes(gguf(LLAMA))
    return [folder / name for name in names]


def check(model, database, task=None):
    return verify(model, Hashes(database), task or Task())


def test_right_by_what_the_download_knew(folder, database):
    paths = put(folder, "a-00001-of-00002.gguf", "a-00002-of-00002.gguf")
    for path in paths:
        Promises(database).keep(path, sha256(path))
    task = Task()
    found = check(listed(folder), database, task)
    assert (found.sound, found.told.code, found.told.values) == (True, "verified.by_download", {"count": 2})
    assert task.progress.done == task.progress.total == sum(path.stat().st_size for path in paths)


def test_a_flipped_byte_is_found(folder, database):
    (path,) = put(folder, "a.gguf")
    right = sha256(path)
    Promises(database).keep(path, right)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    found = check(listed(folder), database)
    assert found.fault.code == "model.corrupt"
    assert found.fault.values == {"name": "a.gguf", "expected": right, "found": sha256(path)}


def test_right_by_name_and_wrong_by_name(folder, database):
    (path,) = put(folder, "a.gguf")
    named = Model("a", "a", path, (path,), "gguf", None, 1, sha256s=(sha256(path),))
    assert check(named, database).told.code == "verified.by_name"
    path.write_bytes(b"GGUFx")
    assert check(named, database).fault.code == "model.corrupt"


def test_without_a_hash_the_header_is_looked_at_and_that_is_said(folder, database):
    put(folder, "a.gguf")
    found = check(listed(folder), database)
    assert (found.sound, found.told.code) == (True, "verified.by_header")
    assert str(explain_code(found.told.code, found.told.values)).startswith("No hash is known for 1 of 1")


def test_without_a_hash_a_cut_header_is_a_fault(folder, database):
    (path,) = put(folder, "a.gguf")
    model = listed(folder)
    path.write_bytes(path.read_bytes()[:100])
    found = check(model, database)
    assert isinstance(found.fault, BadFile)
    assert found.told.code == "verified.by_header"


def test_a_missing_part_is_a_fault_though_the_others_are_right(folder, database):
    (path,) = put(folder, "a-00001-of-00002.gguf")
    Promises(database).keep(path, sha256(path))
    assert check(listed(folder), database).fault.code == "model.part_missing"


def test_one_known_part_does_not_vouch_for_the_other(folder, database):
    first, _ = put(folder, "a-00001-of-00002.gguf", "a-00002-of-00002.gguf")
    Promises(database).keep(first, sha256(first))
    found = check(listed(folder), database)
    assert (found.told.code, found.told.values) == ("verified.by_header", {"count": 2, "unknown": 1})


def test_a_format_without_a_table_leaves_nothing_to_compare(folder, database):
    (folder / "a.echo").write_text("{}")
    found = check(listed(folder), database)
    assert (found.sound, found.told.code) == (True, "verified.nothing")


def test_it_can_be_cancelled(folder, database):
    (path,) = put(folder, "a.gguf")
    Promises(database).keep(path, sha256(path))
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        check(listed(folder), database, task)


def test_a_file_that_is_gone_is_told_and_is_no_verdict(folder, database):
    (path,) = put(folder, "a.gguf")
    Promises(database).keep(path, sha256(path))
    model = listed(folder)
    path.unlink()
    with pytest.raises(BadFile) as caught:
        check(model, database)
    assert caught.value.code == "file.unreadable"
