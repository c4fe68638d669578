import hashlib

import pytest

from weighbridge.base.errors import Cancelled, Refused
from weighbridge.hub.remote import RemoteFile
from weighbridge.hub.verify import BLOCK_BYTES, Digest, is_right, require_sound_hash

CONTENT = bytes(range(256)) * 40


def large(content=CONTENT, **values):
    return RemoteFile("m.gguf", len(content), **{"sha256": hashlib.sha256(content).hexdigest(), **values})


def small(content=b"{}\n"):
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return RemoteFile("config.json", len(content), git_sha1=blob)


def nothing(done):
    assert done > 0


def put(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    return tmp_path / "m"


def test_by_sha256(tmp_path):
    assert is_right(put(tmp_path, CONTENT), large(), nothing)
    assert not is_right(put(tmp_path, CONTENT[:-1] + b"x"), large(), nothing)
    assert not is_right(put(tmp_path, CONTENT[:-1]), large(), nothing)


def test_by_gits_own_hash(tmp_path):
    assert small(b"").git_sha1 == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert is_right(put(tmp_path, b"{}\n"), small(), nothing)
    assert not is_right(put(tmp_path, b"[]\n"), small(), nothing)


def test_an_empty_file(tmp_path):
    assert is_right(put(tmp_path, b""), small(b""), nothing)


def test_without_a_hash_by_size(tmp_path):
    assert is_right(put(tmp_path, CONTENT), large(sha256=None), nothing)
    assert not is_right(put(tmp_path, CONTENT + b"x"), large(sha256=None), nothing)


def test_as_the_bytes_come():
    digest = Digest(large())
    digest.update(CONTENT[:100])
    assert not digest.matches()
    digest.update(CONTENT[100:])
    assert digest.matches()


def test_hashing_can_be_ended(tmp_path):
    path = put(tmp_path, bytes(3 * BLOCK_BYTES))
    seen = []

    def step(done):
        seen.append(done)
        raise Cancelled

    with pytest.raises(Cancelled):
        is_right(path, RemoteFile("m", 3 * BLOCK_BYTES, "0" * 64), step)
    assert seen == [BLOCK_BYTES]


@pytest.mark.parametrize("told", ["../../x", "a" * 63, "a" * 65, "A" * 64, "sha256:" + "a" * 64, "", "a" * 64 + "\n"])
def test_what_is_no_hash_is_refused(told):
    for values in ({"sha256": told}, {"git_sha1": told}):
        with pytest.raises(Refused) as caught:
            require_sound_hash(RemoteFile("m.gguf", 1, **values))
        assert caught.value.code == "hub.bad_hash"
    require_sound_hash(RemoteFile("m.gguf", 1, "0" * 64, "0" * 40))
