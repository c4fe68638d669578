"""Bytes of a remote file by ranges."""

import pytest

from weighbridge.base.errors import Cancelled, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.kept import Kept
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.remote_source import RemoteSource

BODY = bytes(range(256)) * 40
FILE = RemoteFile("m.gguf", len(BODY), sha256="a" * 64)
REPOSITORY = Repository("o/r", "main", "0" * 40, (FILE,))


class Parts:
    """Gives ranges of BODY, `short` by so many bytes."""

    def __init__(self, short=0):
        self.asked = []
        self.short = short

    def part(self, repo_id, commit, path, start, length, purpose="header", task=None):
        self.asked.append((start, length))
        return BODY[start : start + length - self.short]


def source(parts, kept=None, task=None, **more):
    return RemoteSource(parts, kept or Kept(None), REPOSITORY, FILE, task or Task(), **more)


def test_no_byte_is_asked_for_twice():
    parts = Parts()
    one = source(parts)
    assert one.size_bytes == len(BODY)
    assert one.read(0, 100) == BODY[:100]
    assert one.read(100, 100) == BODY[100:200]
    assert one.read(50, 100) == BODY[50:150]
    assert one.read(len(BODY) - 10, 100) == BODY[-10:]
    assert one.read(len(BODY), 5) == b""
    assert parts.asked == [(0, 100), (100, 100), (200, len(BODY) - 200)]


def test_a_request_is_for_as_much_as_is_sensible():
    parts = Parts()
    one = source(parts, least_bytes=4096)
    assert one.read(0, 8) == BODY[:8]
    assert one.read(8, 4000) == BODY[8:4008]
    assert parts.asked == [(0, 4096)]


def test_what_was_kept_is_not_asked_for_again(tmp_path):
    kept = Kept(tmp_path)
    first = source(Parts(), kept)
    first.read(0, 300)
    first.keep()
    parts = Parts()
    again = source(parts, kept)
    assert again.read(0, 400) == BODY[:400]
    assert parts.asked == [(300, 100)]
    again.keep()
    assert kept.head(FILE.sha256) == BODY[:400]


def test_an_answer_that_is_too_short_is_the_servers_fault():
    with pytest.raises(Unreachable):
        source(Parts(short=1)).read(0, 100)


def test_a_cancelled_task_asks_nothing():
    task, parts = Task(), Parts()
    task.cancel()
    with pytest.raises(Cancelled):
        source(parts, task=task).read(0, 10)
    assert parts.asked == []
