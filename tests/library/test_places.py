"""Where models are looked for."""

from pathlib import Path

from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings
from weighbridge.library.places import downloads_folder, library_folders

PATHS = Paths(Path("/data"), Path("/config"), Path("/data/models"))


def test_by_default_downloads_go_to_our_own_folder_which_is_looked_at_once():
    settings = Settings(model_folders=("/srv/models", "/data/models"))
    assert downloads_folder(PATHS, settings, {}) == Path("/data/models")
    assert library_folders(PATHS, settings, {}) == (Path("/data/models"), Path("/srv/models"))


def test_hugging_faces_cache_is_looked_at_where_downloads_go_there():
    settings = Settings(download_target="hf_cache")
    found = library_folders(PATHS, settings, {"HF_HUB_CACHE": "/cache/hub"})
    assert found == (Path("/data/models"), Path("/cache/hub"))
