import errno
import os

import pytest

from weighbridge.base.small_files import read_small


def test_a_file_is_read(tmp_path):
    (tmp_path / "a").write_text("ü\n", "utf-8")
    assert read_small(tmp_path / "a", 3) == "ü\n"


def test_a_larger_one_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(bytes(4))
    with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        read_small(tmp_path / "a", 3)


def test_what_is_no_utf8_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="utf-8"):
        read_small(tmp_path / "a")


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
def test_a_pipe_is_refused_at_once_and_so_is_a_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            read_small(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / "none")
