import json
import os
import subprocess
import sys

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.database import Database
from weighbridge.base.words import use_language
from weighbridge.cli.main import run
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import Job, JobFile, State
from weighbridge.hub.layout import shelf_in_folder
from weighbridge.hub.remote import RemoteFile


@pytest.fixture(autouse=True)
def bin_(monkeypatch, tmp_path):
    """A folder in the place of this computer's bin."""
    made = tmp_path / "bin"
    made.mkdir()
    monkeypatch.setattr("weighbridge.library.removal.into_bin", lambda path: path.rename(made / path.name))
    return made


@pytest.fixture
def own(home):
    made = home / "data" / "models"
    made.mkdir(parents=True)
    return made


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA))
    return path


def answering(monkeypatch, answer):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: answer)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_it_says_what_goes_and_what_is_freed_and_asks(own, bin_, monkeypatch, capsys):
    path = put(own / "ann" / "Tiny" / "a.gguf")
    answering(monkeypatch, "n")
    assert run(["rm", "a"], dict) == 1
    out = capsys.readouterr().out
    assert f"Into the bin: {path}" in out
    assert "Freed once the bin is emptied: " in out
    assert path.exists()
    answering(monkeypatch, "y")
    assert run(["rm", "a"], dict) == 0
    assert names(bin_) == ["a.gguf"]
    assert names(own) == []


@pytest.mark.parametrize(
    ("language", "answer", "code"),
    [("en", " Yes", 0), ("en", "", 1), ("en", "s", 1), ("es", "si", 0), ("es", "SÍ", 0), ("es", "no", 1)],
)
def test_an_answer_is_in_the_language_of_the_question(own, monkeypatch, language, answer, code):
    path = put(own / "a.gguf")
    answering(monkeypatch, answer)
    try:
        assert run(["--language", language, "rm", "a"], dict) == code
    finally:
        use_language("en")
    assert path.exists() == bool(code)


def test_without_a_terminal_it_needs_yes(own, capsys):
    path = put(own / "a.gguf")
    for arguments in (["rm", "a"], ["rm", "a", "--json"]):
        assert run(arguments, dict) == 1
        assert "--yes" in "".join(capsys.readouterr())
    assert path.exists()
    assert run(["rm", "a", "--yes"], dict) == 0
    assert not path.exists()


def test_as_json(own, bin_, capsys):
    path = put(own / "a.gguf")
    freed = 512 * path.stat().st_blocks
    assert run(["rm", "a", "--yes", "--json"], dict) == 0
    assert told(capsys) == {
        "id": "a",
        "off_list": False,
        "gone": [{"path": str(path), "link": False, "freed_bytes": freed}],
        "staying": [],
        "freed_bytes": freed,
    }


def test_another_programs_model_is_taken_off_the_list_and_can_be_put_back(own, tmp_path, bin_, capsys):
    path = put(tmp_path / "elsewhere" / "a.gguf")
    assert run(["add", str(path)], dict) == 0
    assert capsys.readouterr().out == f"Added: {path}\n"
    assert run(["rm", "a", "--yes"], dict) == 0
    assert "its files stay where they are" in capsys.readouterr().out
    assert path.exists()
    assert names(bin_) == []
    run(["ls", "--json"], dict)
    assert told(capsys)["models"] == []
    assert run(["add", "a"], dict) == 0
    assert capsys.readouterr().out == "On the list again: a\n"
    run(["ls", "--json"], dict)
    assert [row["id"] for row in told(capsys)["models"]] == ["a"]


def test_another_way_to_the_same_bytes_is_not_taken_for_ours(own, tmp_path, bin_, capsys):
    ours = put(own / "ann" / "Tiny" / "a.gguf")
    other = tmp_path / "other" / "a.gguf"
    other.parent.mkdir()
    os.link(ours, other)
    assert run(["add", str(other)], dict) == 0
    assert run(["rm", str(other), "--yes"], dict) == 1
    assert str(ours) in capsys.readouterr().err
    assert ours.exists()
    assert other.exists()
    assert run(["rm", str(ours), "--yes"], dict) == 0
    assert other.exists()


def test_a_model_that_is_fetched_stays(own, home, capsys):
    path = put(own / "ann" / "Tiny" / "a.gguf")
    shelf = shelf_in_folder(own, "ann/Tiny", "main", "0" * 40)
    job = Job("ann/Tiny", "main", "0" * 40, "a", shelf.root, shelf.layout, (JobFile(RemoteFile("a.gguf", 1)),))
    database = Database(home / "data" / "weighbridge.sqlite3")
    JobStore(database).add(job)
    assert run(["rm", "a", "--yes"], dict) == 1
    assert "being downloaded" in capsys.readouterr().err
    assert path.exists()
    (kept,) = JobStore(database).all()
    assert kept.state is State.QUEUED
    database.close()


def test_a_model_that_is_loaded_stays(own, capsys):
    path = put(own / "a.gguf")
    script = (
        "import mmap, sys; f = open(sys.argv[1], 'rb');"
        " m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ); f.close();"
        " print('ready', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(path), "weighbridge_engines.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdout.readline() == b"ready\n"
        assert run(["rm", "a", "--yes"], dict) == 1
        engine.stdin.close()
    assert "a is loaded" in capsys.readouterr().err
    assert path.exists()
    assert run(["rm", "a", "--yes"], dict) == 0


def test_without_a_bin_nothing_is_removed(own, monkeypatch, capsys):
    def refuse(path):
        raise OSError(13, "Permission denied")

    path = put(own / "a.gguf")
    monkeypatch.setattr("weighbridge.library.removal.into_bin", refuse)
    assert run(["rm", "a", "--yes"], dict) == 1
    assert "could not be moved to the bin (Permission denied). Nothing was removed." in capsys.readouterr().err
    assert path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="where the bin is differs from system to system")
def test_the_bin_of_this_system(tmp_path):
    path = put(tmp_path / "models" / "caf\u00e9 \u6a21\u578b.gguf")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    script = (
        "import sys; from pathlib import Path;"
        " from weighbridge.library.removal import into_bin; into_bin(Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=True)
    assert names(tmp_path / "share" / "Trash" / "files") == [path.name]
    assert not path.exists()
