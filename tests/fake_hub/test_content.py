"""Content, whole and in part."""

import hashlib

from tests.fake_hub.content import BLOCK_BYTES, Made, Stored, content_of, git_sha1, read, sha256


def test_made_content_is_the_same_in_whole_and_in_part():
    made = Made(2 * BLOCK_BYTES + 5, seed=3, head=b"GGUF")
    whole = read(made)
    assert (len(whole), whole[:4]) == (made.size, b"GGUF")
    assert whole[BLOCK_BYTES : 2 * BLOCK_BYTES] != read(Made(made.size, seed=3))[:BLOCK_BYTES]
    for start, stop in ((0, 3), (2, 9), (BLOCK_BYTES - 1, BLOCK_BYTES + 1), (5, made.size)):
        assert b"".join(bytes(piece) for piece in made.pieces(start, stop)) == whole[start:stop]
    assert sha256(made) == hashlib.sha256(whole).hexdigest()
    assert read(Made(9, seed=4)) != read(Made(9, seed=5)) or read(Made(99, seed=4)) != read(Made(99, seed=5))


def test_content_of_a_file_on_disk(tmp_path):
    file = tmp_path / "f.bin"
    file.write_bytes(bytes(range(200)))
    content = content_of(file)
    assert isinstance(content, Stored)
    assert b"".join(bytes(piece) for piece in content.pieces(10, 20)) == bytes(range(10, 20))


def test_gits_hash():
    assert git_sha1(content_of("hello\n")) == "ce013625030ba8dba906f756967f9e9ca394464a"
