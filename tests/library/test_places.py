"""Where models are looked for."""

from dataclasses import replace
from pathlib import Path

from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings
from weighbridge.library.places import Root, downloads_folder, library_roots
from weighbridge.library.shelves.known import PROGRAMS
from weighbridge.library.shelves.program import Where

PATHS = Paths(Path("/data"), Path("/config"), Path("/data/models"))


ALONE = Settings(other_programs=False)


def where(**environment):
    return Where(environment, Path("/home/ann"), "linux")


def test_by_default_downloads_go_to_our_own_folder_which_is_looked_at_once():
    settings = replace(ALONE, model_folders=("/srv/models", "/data/models"))
    assert downloads_folder(PATHS, settings, {}) == Path("/data/models")
    assert library_roots(PATHS, settings, where()) == (
        Root(Path("/data/models"), "own"),
        Root(Path("/srv/models"), "added"),
    )


def test_hugging_faces_cache_is_looked_at_where_downloads_go_there():
    settings = replace(ALONE, download_target="hf_cache")
    found = library_roots(PATHS, settings, where(HF_HUB_CACHE="/cache/hub"))
    assert found == (Root(Path("/data/models"), "own"), Root(Path("/cache/hub"), "hf_cache"))


def test_single_files_of_the_user_are_places_too():
    settings = replace(ALONE, model_files=("/usb/m.gguf",))
    assert library_roots(PATHS, settings, where())[1:] == (Root(Path("/usb/m.gguf"), "added"),)


def test_other_programs_come_last_and_can_be_left_out():
    roots = library_roots(PATHS, Settings(model_folders=("/home/ann/.ollama/models",)), where())
    assert roots[:2] == (Root(Path("/data/models"), "own"), Root(Path("/home/ann/.ollama/models"), "added"))
    assert {root.source for root in roots[2:]} == {
        program.id for program in PROGRAMS if program.id not in ("koboldcpp", "textgen")
    }
    assert library_roots(PATHS, ALONE, where()) == (Root(Path("/data/models"), "own"),)


def test_a_folder_of_another_program_stays_that_programs_though_it_is_ours_too(tmp_path):
    theirs = tmp_path / ".lmstudio" / "models"
    theirs.mkdir(parents=True)
    (tmp_path / "link").symlink_to(theirs, target_is_directory=True)
    here = Where({}, tmp_path, "linux")
    for ours, source in ((theirs, "lm_studio"), (tmp_path / "link", "lm_studio"), (tmp_path / "models", "own")):
        assert library_roots(replace(PATHS, models=ours), ALONE, here) == (Root(ours, source),)
