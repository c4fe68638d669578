import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.errors import Cancelled, NotFound
from weighbridge.base.task import Task
from weighbridge.library.headers import Headers
from weighbridge.library.index import Library


@pytest.fixture
def folder(tmp_path):
    repository = tmp_path / "models" / "ann" / "Tiny-GGUF"
    repository.mkdir(parents=True)
    for name in ("Tiny.Q4_1.gguf", "Tiny.Q8_0.gguf", "Big-00001-of-00002.gguf", "Big-00002-of-00002.gguf"):
        (repository / name).write_bytes(gguf(LLAMA))
    return tmp_path / "models"


@pytest.fixture
def library(folder):
    made = Library([folder])
    made.scan()
    return made


@pytest.mark.parametrize(
    "name",
    [
        "Tiny.Q4_1",
        "tiny.q4_1",
        "Tiny.Q4_1.gguf",
        "TINY.Q4_1.GGUF",
        "Tiny:Q4_1",
        "tiny:q4_1",
        "ann/Tiny-GGUF:Q4_1",
        "ann/Tiny-GGUF/Tiny:Q4_1",
        "Tiny.Q4_1:Q4_1",
    ],
)
def test_ways_to_name_a_model(library, name):
    assert library.resolve(name).id == "Tiny.Q4_1"


def test_a_listed_path_is_a_name(library, folder, monkeypatch):
    path = folder / "ann/Tiny-GGUF/Tiny.Q8_0.gguf"
    assert library.resolve(str(path)).id == "Tiny.Q8_0"
    monkeypatch.chdir(folder)
    assert library.resolve("ann/Tiny-GGUF/Tiny.Q8_0.gguf").id == "Tiny.Q8_0"


def test_a_later_part_is_its_model(library, folder):
    later = folder / "ann/Tiny-GGUF/Big-00002-of-00002.gguf"
    assert library.resolve(str(later)).path.name == "Big-00001-of-00002.gguf"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gpt-4o",
        "Tiny",
        "Tiny:Q5_K_M",
        ":Q4_1",
        "attacker/repo",
        "/etc",
        "/etc/passwd",
        "../../x",
        "C:\\x",
        "hf.co/a/b:Q4",
        "x\0y/z",
        "n" * 100_000,
    ],
)
def test_other_names_are_unknown_and_what_is_served_is_told(library, name):
    with pytest.raises(NotFound) as caught:
        library.resolve(name)
    assert caught.value.code == "model.unknown"
    assert caught.value.values["served"] == ["Big", "Tiny.Q4_1", "Tiny.Q8_0"]
    assert len(caught.value.values["name"]) <= 200


def test_a_file_outside_is_not_opened(library, tmp_path):
    outside = tmp_path / "outside.gguf"
    outside.write_bytes(gguf(LLAMA))
    with pytest.raises(NotFound):
        library.resolve(str(outside))


def test_a_name_of_two_models_is_ambiguous(folder):
    other = folder / "ben" / "Tiny-GGUF"
    other.mkdir(parents=True)
    (other / "Tiny.Q4_1.gguf").write_bytes(gguf(LLAMA))
    library = Library([folder])
    library.scan()
    with pytest.raises(NotFound) as caught:
        library.resolve("Tiny.Q4_1")
    assert caught.value.code == "model.ambiguous"
    assert caught.value.values["served"] == ["ann/Tiny-GGUF/Tiny.Q4_1", "ben/Tiny-GGUF/Tiny.Q4_1"]
    assert library.resolve("ben/tiny-gguf/tiny.q4_1").path.parent == other


def test_an_empty_library_says_so(tmp_path):
    library = Library([tmp_path / "missing"])
    assert library.scan() == ()
    with pytest.raises(NotFound) as caught:
        library.resolve("x")
    assert (caught.value.code, caught.value.values["served"]) == ("model.none", [])


def test_a_second_scan_reads_only_what_changed(library, folder, monkeypatch):
    read = []
    monkeypatch.setattr("weighbridge.library.headers._read", lambda path: read.append(path.name))
    library.scan()
    assert read == []
    changed = folder / "ann/Tiny-GGUF/Tiny.Q8_0.gguf"
    changed.write_bytes(gguf(LLAMA) + b"more")
    monkeypatch.undo()
    assert {model.id: model.size_bytes for model in library.scan()}["Tiny.Q8_0"] == len(gguf(LLAMA)) + 4


def test_headers_of_files_that_are_gone_are_forgotten(library, folder):
    headers = library._headers
    assert isinstance(headers, Headers)
    assert len(headers._known) == 3
    for path in (folder / "ann/Tiny-GGUF").glob("Tiny*"):
        path.unlink()
    library.scan()
    assert len(headers._known) == 1


def test_a_cancelled_scan_leaves_the_last_listing(library):
    task = Task()
    task.cancel()
    before = library.models
    with pytest.raises(Cancelled):
        library.scan(task)
    assert library.models is before


def test_a_scan_of_a_drive_that_does_not_answer_is_given_up_at_once(library, folder, tmp_path, monkeypatch):
    answers, asked, look = threading.Event(), threading.Event(), os.scandir

    def hanging(path):
        if str(path).endswith("dead"):
            asked.set()
            answers.wait()
        return look(path)

    monkeypatch.setattr(os, "scandir", hanging)
    task = Task()
    (tmp_path / "dead").mkdir()
    library.use_roots([folder, tmp_path / "dead"])
    with ThreadPoolExecutor(1) as pool:
        scan = pool.submit(library.scan, task)
        assert asked.wait(10)
        task.cancel()
        assert isinstance(scan.exception(10), Cancelled)
    library.use_roots([folder])
    assert len(library.scan(Task())) == 3
    answers.set()
