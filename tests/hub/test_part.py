import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from tests.processes import running

from weighbridge.base.errors import BadFile, Refused
from weighbridge.hub.part import Origin, Part, part_bytes, remains_of
from weighbridge.hub.remote import RemoteFile

CONTENT = bytes(range(256)) * 400
ORIGIN = Origin("o/r", "c" * 40)


def remote(content=CONTENT):
    return RemoteFile("sub/m.gguf", len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def target(tmp_path):
    return tmp_path / "models" / "o" / "r" / "m.gguf"


def nothing(done):
    del done


def names(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_from_the_first_byte_to_the_name(target):
    with Part(target, remote(), ORIGIN) as part:
        assert part.have_bytes == 0
        part.write(CONTENT[:1000])
        assert names(target) == ["m.gguf.part", "m.gguf.part.json", "m.gguf.part.lock"]
        part.write(CONTENT[1000:])
        assert part.is_right(nothing)
        part.finish()
    assert target.read_bytes() == CONTENT
    assert names(target) == ["m.gguf"]


def test_what_it_will_be_is_written_beside_it(target):
    with Part(target, remote(), ORIGIN) as part:
        part.write(b"x")
    told = json.loads(target.with_name("m.gguf.part.json").read_text())
    digest = remote().sha256
    assert told == {
        "repo": "o/r",
        "path": "sub/m.gguf",
        "etag": digest,
        "sha256": digest,
        "size": len(CONTENT),
        "commit": "c" * 40,
    }


def begun(target, content=CONTENT[:1000]):
    with Part(target, remote(), ORIGIN) as part:
        part.write(content)


def test_it_is_taken_up_at_its_last_byte_and_read_again(target):
    begun(target)
    with Part(target, remote(), Origin("o/r", "d" * 40)) as part:
        assert (part.have_bytes, part.missing_bytes) == (1000, len(CONTENT) - 1000)
        part.write(CONTENT[1000:])
        seen = []
        assert part.is_right(seen.append)
        assert seen[-1] == len(CONTENT)
        part.finish()
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("sidecar", [None, b"", b"[]", b"\xff", b'{"repo": 1}', b"[" * 5000])
def test_without_its_word_it_is_thrown_away(target, sidecar):
    begun(target)
    beside = target.with_name("m.gguf.part.json")
    beside.unlink() if sidecar is None else beside.write_bytes(sidecar)
    with Part(target, remote(), ORIGIN) as part:
        assert part.have_bytes == 0


def test_the_part_of_another_content_is_thrown_away(target):
    begun(target)
    with Part(target, remote(CONTENT[::-1]), ORIGIN) as part:
        assert part.have_bytes == 0


def test_without_a_hash_nothing_is_taken_up(target):
    file = RemoteFile("m.gguf", len(CONTENT))
    with Part(target, file, ORIGIN) as part:
        part.write(CONTENT[:10])
    with Part(target, file, ORIGIN) as part:
        assert part.have_bytes == 0


def test_a_part_that_is_too_long_is_thrown_away(target):
    begun(target)
    with target.with_name("m.gguf.part").open("ab") as file:
        file.write(bytes(len(CONTENT)))
    with Part(target, remote(), ORIGIN) as part:
        assert part.have_bytes == 0


def test_no_more_is_written_than_the_file_will_have(target):
    with Part(target, remote(), ORIGIN) as part:
        part.write(CONTENT + b"more")
        assert part.missing_bytes == 0
        assert part.is_right(nothing)


def test_wrong_bytes_are_found_whether_read_again_or_not(target):
    wrong = CONTENT[:500] + b"\0" + CONTENT[501:]
    with Part(target, remote(), ORIGIN) as part:
        part.write(wrong)
        assert not part.is_right(nothing)
    with Part(target, remote(), ORIGIN) as part:
        assert part.missing_bytes == 0
        assert not part.is_right(nothing)
        part.restart()
        part.write(CONTENT)
        assert part.is_right(nothing)
        part.finish()
    assert target.read_bytes() == CONTENT


def test_one_writer_at_a_time(target):
    with Part(target, remote(), ORIGIN) as part:
        part.write(CONTENT)
        with pytest.raises(Refused) as caught, Part(target, remote(), ORIGIN):
            pass
        assert caught.value.code == "download.busy"
        part.finish()
    with Part(target, remote(), ORIGIN) as part:
        assert part.is_here(nothing)


WRITER = """
import sys, time
from pathlib import Path
from tests.hub.test_part import CONTENT, ORIGIN, remote
from weighbridge.hub.part import Part
with Part(Path(sys.argv[1]), remote(), ORIGIN) as part:
    part.write(CONTENT[:2000])
    print("up", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="no kill -9")
def test_a_killed_writer_leaves_a_part_that_others_take_up(target):
    root = Path(__file__).parents[2]
    with running([sys.executable, "-c", WRITER, str(target)], cwd=root) as writer:
        assert writer.stdout.readline() == "up\n"
        with pytest.raises(Refused), Part(target, remote(), ORIGIN):
            pass
        writer.kill()
    with Part(target, remote(), ORIGIN) as part:
        assert part.have_bytes == 2000
    assert not target.exists()


def test_a_full_disk_is_told_with_numbers_and_keeps_what_came(target, monkeypatch):
    with Part(target, remote(), ORIGIN) as part:
        part.write(CONTENT[:1000])
        monkeypatch.setattr(part, "_opened", _Full(part._opened, 500))
        with pytest.raises(Refused) as caught:
            part.write(CONTENT[1000:])
        assert caught.value.code == "disk.full"
        assert caught.value.values["needed_bytes"] > len(CONTENT) - 1500
        assert part.have_bytes == 1500
    with Part(target, remote(), ORIGIN) as part:
        assert part.have_bytes == 1500
        part.write(CONTENT[1500:])
        assert part.is_right(nothing)


class _Full:
    def __init__(self, file, left):
        self._file, self._left = file, left

    def write(self, piece):
        if not self._left:
            raise OSError(28, "No space left on device")
        count = self._file.write(piece[: self._left])
        self._left -= count
        return count

    def close(self):
        self._file.close()


def test_a_place_that_cannot_be_written(target):
    target.parent.parent.mkdir(parents=True)
    target.parent.write_text("a file where a folder should be")
    with pytest.raises(BadFile) as caught, Part(target, remote(), ORIGIN):
        pass
    assert caught.value.code == "file.unwritable"


def test_a_link_in_the_place_of_the_part_is_not_followed(target, tmp_path):
    begun(target)
    part = target.with_name("m.gguf.part")
    part.unlink()
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    part.symlink_to(victim)
    with pytest.raises(BadFile), Part(target, remote(), ORIGIN):
        pass
    assert victim.read_bytes() == b"mine"


def test_what_is_left_of_it(target):
    begun(target)
    assert part_bytes(target) == 1000
    assert [path.name for path in remains_of(target)] == ["m.gguf.part", "m.gguf.part.json"]
    with Part(target, remote(), ORIGIN) as part:
        part.discard()
    assert remains_of(target) == []
    assert part_bytes(target) == 0


def test_a_hash_of_another_form_is_never_used(target):
    with pytest.raises(Refused) as caught:
        Part(target, RemoteFile("m.gguf", 1, "../" * 20), ORIGIN)
    assert caught.value.code == "hub.bad_hash"
