import pytest

from weighbridge.base.errors import BadFile
from weighbridge.formats.plain_json import CONFIG_LIMIT_BYTES
from weighbridge.hub.peek import remote_reader
from weighbridge.hub.remote import RemoteFile, Repository


class Small:
    def __init__(self, **files):
        self.files, self.asked = files, []

    def small(self, repo_id, commit, path, most_bytes, purpose="file"):
        self.asked.append((repo_id, commit, path, most_bytes))
        return self.files[path][:most_bytes]


def test_small_files_are_asked_for_once():
    hub = Small(**{"config.json": b'{"a": 1}', "bad.json": b"["})
    listed = (RemoteFile("config.json", 8), RemoteFile("bad.json", 1), RemoteFile("vast.json", CONFIG_LIMIT_BYTES + 1))
    reader = remote_reader(hub, Repository("o/r", "main", "c" * 40, listed))
    assert reader.json("config.json") == {"a": 1}
    assert reader.json("config.json") == {"a": 1}
    assert hub.asked == [("o/r", "c" * 40, "config.json", 8)]
    assert reader.json("vast.json") is None
    assert reader.json("absent.json") is None
    with pytest.raises(BadFile) as caught:
        reader.json("bad.json")
    assert caught.value.code == "json.damaged"
