"""Models that endpoints serve, beside those that are here."""

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.errors import NotFound, Refused
from weighbridge.base.task import Task
from weighbridge.library.index import Library
from weighbridge.library.model import Reach, Remote, key_of
from weighbridge.library.remembered import Remembered
from weighbridge.library.removal import plan
from weighbridge.running.endpoints.endpoint import Endpoint, Listed, models_of

FAR = Endpoint("groq", "Groq", "https://api.groq.com", "/openai/v1", "groq")
NAMES = ("Tiny.Q4_1", "org/model:7b", "../../etc/passwd")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "models"
    made.mkdir()
    (made / "Tiny.Q4_1.gguf").write_bytes(gguf(LLAMA))
    return made


@pytest.fixture
def served():
    return list(models_of(FAR, map(Listed, NAMES)))


@pytest.fixture
def library(folder, served, tmp_path):
    made = Library([folder], remembered=Remembered(tmp_path / "kept"), elsewhere=lambda: served)
    made.scan()
    return made


def test_they_are_listed_by_name_among_the_others(library):
    assert [model.id for model in library.models] == [
        "../../etc/passwd@groq",
        "org/model:7b@groq",
        "Tiny.Q4_1",
        "Tiny.Q4_1@groq",
    ]
    assert library.all_models == library.models
    assert library.off_list == ()


def test_they_are_listed_before_any_scan_and_change_without_one(folder, served):
    library = Library([folder], elsewhere=lambda: served)
    assert len(library.models) == len(NAMES)
    served.pop()
    library.relist()
    assert len(library.models) == len(NAMES) - 1
    assert len(library.scan()) == len(NAMES)


def test_one_is_meant_by_its_whole_name_alone(library):
    assert library.resolve("org/model:7b@groq").remote == Remote("groq", "Groq", "org/model:7b", Reach.INTERNET)
    assert library.resolve("TINY.q4_1@GROQ").leaves
    assert not library.resolve("Tiny.Q4_1").leaves
    for name in ("org/model:7b", "org/model", "model:7b", "groq", "groq/Tiny.Q4_1", "Tiny:Q4_1@groq"):
        with pytest.raises(NotFound):
            library.resolve(name)


def test_names_that_differ_by_case_alone_are_told_apart(folder):
    library = Library([folder], elsewhere=lambda: models_of(FAR, [Listed("M"), Listed("m")]))
    assert library.resolve("M@groq").remote.name == "M"
    assert library.resolve("m@groq").remote.name == "m"


def test_nothing_of_them_is_on_disk(library):
    model = library.resolve("../../etc/passwd@groq")
    assert not model.path.exists()
    assert "etc" not in model.path.parts
    assert len({key_of(each) for each in library.models}) == len(library.models)
    assert library.read_full(model) is None
    library.read_all(Task())


def test_they_are_neither_verified_nor_removed(library, folder):
    model = library.resolve("Tiny.Q4_1@groq")
    with pytest.raises(Refused) as verified:
        library.verify(model, Task())
    with pytest.raises(Refused) as removed:
        plan(model, library.all_models, folder)
    assert {verified.value.code, removed.value.code} == {"endpoint.not_ours"}
    assert removed.value.values["id"] == "groq"


def test_they_are_not_remembered_as_files(library, folder, tmp_path):
    recalled = Library([folder], remembered=Remembered(tmp_path / "kept"))
    assert [model.id for model in recalled.recall()] == ["Tiny.Q4_1"]


def test_while_it_is_listed_anew_what_was_listed_stands():
    seen = []

    def served():
        seen.append([model.id for model in library.models] if seen else [])
        return models_of(FAR, [Listed("m")])

    library = Library([], elsewhere=served)
    library.relist()
    assert seen == [[], ["m@groq"]]
