import pytest
from tests.library.shelves.made_shelves import CLIP, LORA, codes, listed, looked_at, model, put

from weighbridge.base.errors import BadFile
from weighbridge.formats.variant import Role
from weighbridge.library.index import Library
from weighbridge.library.places import Root
from weighbridge.library.recognise_path import recognise_path


@pytest.fixture
def elsewhere(tmp_path):
    put(tmp_path / "elsewhere" / "m-Q8_0.gguf", model())
    put(tmp_path / "elsewhere" / "eyes.gguf", model(**CLIP))
    put(tmp_path / "elsewhere" / "style.gguf", model(**LORA))
    put(tmp_path / "elsewhere" / "small.gguf", model(9))
    return tmp_path / "elsewhere"


def launch(tmp_path, **told):
    return put(tmp_path / "kobold" / "story.kcpps", told)


def test_a_launch_file_in_a_folder_of_the_user_names_a_model_and_what_goes_with_it(tmp_path, elsewhere):
    told = {"mmproj": str(elsewhere / "eyes.gguf"), "lora": [str(elsewhere / "style.gguf")]}
    launch(tmp_path, model_param=str(elsewhere / "m-Q8_0.gguf"), draftmodel=str(elsewhere / "small.gguf"), **told)
    listing = listed(tmp_path / "kobold", "added")
    (found,) = listing.models
    assert (found.id, found.source, found.path, listing.skipped) == (
        "m-Q8_0",
        "koboldcpp",
        elsewhere / "m-Q8_0.gguf",
        (),
    )
    assert [(helper.role, helper.path.name) for helper in found.companions] == [
        (Role.PROJECTOR, "eyes.gguf"),
        (Role.ADAPTER, "style.gguf"),
        (Role.DRAFT, "small.gguf"),
    ]


def test_a_model_that_is_listed_already_gets_what_goes_with_it(tmp_path, elsewhere):
    put(tmp_path / "kobold" / "m.gguf", model(3))
    launch(tmp_path, model=["m.gguf"], mmproj=str(elsewhere / "eyes.gguf"), model_param=None)
    (found,) = listed(tmp_path / "kobold", "added").models
    assert (found.id, found.source) == ("m", "added")
    assert [helper.path.name for helper in found.companions] == ["eyes.gguf"]


def test_what_is_named_and_is_no_gguf_file_is_left_out(tmp_path, elsewhere):
    put(elsewhere / "notes.txt", "hello")
    told = {"mmproj": str(elsewhere / "notes.txt"), "lora": [str(elsewhere / "gone.gguf"), 7]}
    launch(tmp_path, model_param=str(elsewhere / "m-Q8_0.gguf"), draftmodel={}, **told)
    assert listed(tmp_path / "kobold", "added").models[0].companions == ()


@pytest.mark.parametrize(
    "named", ["", "gone.gguf", "https://x/m.gguf", "\\\\host\\m.gguf", "a\0b", 7, [], "/etc/passwd"]
)
def test_one_that_leads_nowhere_is_told(tmp_path, named):
    launch(tmp_path, model_param=named)
    listing = listed(tmp_path / "kobold", "added")
    assert (listing.models, codes(listing)) == ((), ["library.named"])


@pytest.mark.parametrize("content", ["{", "[]", b"\xff", " " * (2 << 20)])
def test_one_that_cannot_be_read_is_told(tmp_path, content):
    put(tmp_path / "x.kcpps", content)
    listing = listed(tmp_path, "added")
    assert (listing.models, len(listing.skipped)) == ((), 1)


def test_it_can_be_named_by_its_path(tmp_path, elsewhere):
    path = launch(tmp_path, model_param=str(elsewhere / "m-Q8_0.gguf"))
    assert recognise_path(path).path == elsewhere / "m-Q8_0.gguf"
    library = Library([Root(path, "added")])
    library.scan()
    assert library.resolve(str(path)).id == "m-Q8_0"
    with pytest.raises(BadFile):
        recognise_path(put(tmp_path / "bad.kcpps", {}))


def test_launch_files_of_other_programs_folders_are_not_followed(tmp_path, elsewhere):
    launch(tmp_path, model_param=str(elsewhere / "m-Q8_0.gguf"))
    assert looked_at(Root(tmp_path / "kobold", "lm_studio")).models == ()
