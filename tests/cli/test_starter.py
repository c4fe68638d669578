import hashlib
import json

import pytest
from tests.formats.made_gguf import gguf

from weighbridge.base.errors import Unreachable
from weighbridge.base.task import Task
from weighbridge.cli.main import run
from weighbridge.cli.progress import progress_line


@pytest.fixture
def fetched(monkeypatch):
    """What `fetch` was called with; it answers a path below the models folder."""
    calls = []

    def fetch(models, task, *_):
        calls.append(models)
        return models / "o" / "r" / "m.Q4_1.gguf"

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    return calls


def test_it_goes_to_the_models_folder(home, fetched, capsys):
    assert run(["starter"], dict) == 0
    assert fetched == [home / "data" / "models"]
    assert str(home / "data/models/o/r/m.Q4_1.gguf") in capsys.readouterr().out


def test_it_can_be_verified_later_on(home, monkeypatch, capsys):
    def fetch(models, task, *_):
        path = models / "m.gguf"
        path.parent.mkdir(parents=True)
        path.write_bytes(gguf())
        return path

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    monkeypatch.setattr("weighbridge.library.starter.SHA256", hashlib.sha256(gguf()).hexdigest())
    assert run(["starter"], dict) == 0
    assert run(["verify", "m"], dict) == 0
    assert "All bytes are right" in capsys.readouterr().out
    (home / "data" / "models" / "m.gguf").write_bytes(gguf() + b"more")
    assert run(["verify", "m"], dict) == 1


def test_as_json(home, fetched, capsys):
    assert run(["starter", "--json"], dict) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"path": str(home / "data/models/o/r/m.Q4_1.gguf"), "id": "m.Q4_1"}
    assert err == ""


def test_a_failure_is_told(monkeypatch, capsys):
    def fetch(models, task, *_):
        raise Unreachable("starter.unreachable", hub="refused", index="no such package")

    monkeypatch.setattr("weighbridge.library.starter.fetch", fetch)
    assert run(["starter"], dict) == 1
    err = capsys.readouterr().err
    assert "not from the Hub (refused), nor from the package index (no such package)" in err


def test_on_a_terminal_progress_is_one_line(fetched, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(["starter"], dict) == 0
    assert capsys.readouterr().err == "\r\x1b[K"


def test_progress_in_words():
    task = Task()
    task.step(49 << 20, 98 << 20, "downloading")
    assert progress_line(task).replace("\u202f", " ") == "Downloading 50 % (49.0 MiB)"
    task.step(1 << 20, None, "package index")
    assert progress_line(task).replace("\u202f", " ") == "Fetching from the package index (1.0 MiB)"
