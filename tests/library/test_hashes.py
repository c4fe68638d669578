import hashlib
import os
from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, Cancelled
from weighbridge.hub.promises import Promises
from weighbridge.library.hashes import Hashes, Known, Told
from weighbridge.library.model import Model, key_of

CONTENT = b"weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = hashlib.sha256(b"other").hexdigest()


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def hashes(database):
    return Hashes(database)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a.gguf"
    made.write_bytes(CONTENT)
    return made


def model(*parts, sha256s=()):
    return Model("a", "a", parts[0], parts, "gguf", None, 1, sha256s=sha256s)


def nothing(read_bytes):
    pass


def later(path):
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))


def test_without_anything_told_nothing_is_known(hashes, path):
    assert hashes.known(path) is None
    assert hashes.promised(model(path)) == (None,)
    assert hashes.known(path.with_name("gone")) is None


def test_what_a_download_knew_is_known_until_the_file_changes(hashes, database, path):
    Promises(database).keep(path, OTHER)
    assert hashes.known(path) == Known(OTHER, Told.DOWNLOAD)
    later(path)
    assert hashes.known(path) is None
    assert hashes.promised(model(path)) == (Known(OTHER, Told.DOWNLOAD),)  # that is what it should be all the same


def test_a_link_is_known_as_the_file_that_it_leads_to(hashes, database, path, tmp_path):
    link = tmp_path / "link.gguf"
    link.symlink_to(path)
    Promises(database).keep(link, SHA256)
    assert hashes.known(path) == hashes.known(link) == Known(SHA256, Told.DOWNLOAD)


def test_a_name_tells_a_hash(hashes, path):
    assert hashes.promised(model(path, sha256s=(SHA256,))) == (Known(SHA256, Told.NAME),)
    assert hashes.known(path, SHA256) == Known(SHA256, Told.NAME)
    assert hashes.promised(model(path, path, sha256s=(SHA256,))) == (None, None)  # of other files than these


def test_what_is_counted_is_kept_until_the_file_changes(hashes, path):
    seen = []
    assert hashes.count(path, seen.append) == SHA256
    assert seen == [len(CONTENT)]
    assert hashes.known(path, OTHER) == Known(SHA256, Told.COUNTED)
    later(path)
    assert hashes.known(path) is None


def test_counting_can_be_ended_and_leaves_nothing(hashes, path):
    def stop(read_bytes):
        raise Cancelled

    with pytest.raises(Cancelled):
        hashes.count(path, stop)
    assert hashes.known(path) is None


def test_a_file_that_changes_meanwhile_has_no_hash(hashes, path):
    with pytest.raises(BadFile) as caught:
        hashes.count(path, lambda read_bytes: later(path))
    assert caught.value.code == "file.changed"
    assert hashes.known(path) is None


def test_a_file_that_is_gone_has_no_hash(hashes, path):
    path.unlink()
    with pytest.raises(BadFile) as caught:
        hashes.count(path, nothing)
    assert caught.value.code == "file.unreadable"


def test_what_was_found_wrong_is_wrong_until_it_changes(hashes, path, tmp_path):
    beside = tmp_path / "b.gguf"
    beside.write_bytes(b"b")
    hashes.count(beside, nothing, hashlib.sha256(b"b").hexdigest())
    hashes.count(path, nothing, OTHER)
    hashes.count(path, nothing)  # read once more, to be compared with another file
    bad, good = model(path), model(beside)
    found = hashes.faults([bad, good])
    assert [(key, fault.code, fault.values["expected"]) for key, fault in found.items()] == [
        (key_of(bad), "model.corrupt", OTHER)
    ]
    later(path)
    assert hashes.faults([bad, good]) == {}


def test_a_wrong_file_that_is_right_again_is_no_fault(hashes, path):
    hashes.count(path, nothing, OTHER)
    hashes.count(path, nothing, SHA256)
    assert hashes.faults([model(path)]) == {}


def test_names_that_are_no_text(hashes, tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.gguf"))
    path.write_bytes(CONTENT)
    hashes.count(path, nothing, OTHER)
    assert hashes.known(path) == Known(SHA256, Told.COUNTED)
    assert len(hashes.faults([model(path)])) == 1
