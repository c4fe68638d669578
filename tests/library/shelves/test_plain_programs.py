"""LM Studio, llama.cpp's own cache, GPT4All and text-generation-webui: models under names of their own."""

from pathlib import Path

import pytest
from tests.library.made_folders import put_exl2, put_mlx
from tests.library.shelves.made_shelves import CLIP, listed, model, put

from weighbridge.library.shelves.gpt4all import GPT4ALL
from weighbridge.library.shelves.llama_cpp import LLAMA_CPP
from weighbridge.library.shelves.lm_studio import LM_STUDIO
from weighbridge.library.shelves.program import Where
from weighbridge.library.shelves.textgen import TEXTGEN

HOME = Path("/home/ann")


def found(path, source):
    listing = listed(path, source)
    assert listing.skipped == ()
    return [(model.id, model.format, model.source) for model in listing.models]


def where(platform="linux", home=HOME, **environment):
    return Where(environment, home, platform)


def test_lm_studio_has_files_and_folders_by_owner_and_name(tmp_path):
    put(tmp_path / "ann/Tiny-GGUF/tiny-Q4_K_M.gguf", model())
    put(tmp_path / "ann/Tiny-GGUF/mmproj-tiny-F16.gguf", model(**CLIP))
    put_mlx(tmp_path / "mlx-community/Qwen3-4B-4bit")
    assert found(tmp_path, "lm_studio") == [("Qwen3-4B-4bit", "mlx", "lm_studio"), ("tiny-Q4_K_M", "gguf", "lm_studio")]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_where_lm_studio_keeps_models(platform):
    usual = [HOME / ".lmstudio/models", HOME / ".cache/lm-studio/models"]
    assert list(LM_STUDIO.folders(where(platform))) == usual
    assert LM_STUDIO.folders(where(platform, LMSTUDIO_HOME="/lms"))[0] == Path("/lms/models")


@pytest.mark.parametrize(
    ("platform", "settings"),
    [
        ("linux", ".lmstudio/settings.json"),
        ("linux", ".config/LM Studio/settings.json"),
        ("darwin", "Library/Application Support/LM Studio/settings.json"),
        ("win32", "AppData/Roaming/LM Studio/settings.json"),
    ],
)
def test_lm_studios_models_may_have_been_moved(tmp_path, platform, settings):
    put(tmp_path / settings, {"downloadsFolder": "/big/models"})
    assert LM_STUDIO.folders(where(platform, tmp_path))[0] == Path("/big/models")


def test_lm_studios_home_may_have_been_moved(tmp_path):
    put(tmp_path / ".lmstudio-home-pointer", "/opt/lms\n")
    assert LM_STUDIO.folders(where(home=tmp_path))[0] == Path("/opt/lms/models")


def test_llama_cpps_cache_is_one_folder(tmp_path):
    put(tmp_path / "ann_Tiny-GGUF_tiny-Q8_0.gguf", model())
    put(tmp_path / "ann_Tiny-GGUF_tiny-Q8_0.gguf.etag", '"abc"')
    put(tmp_path / "manifest=ann=Tiny-GGUF=latest.json", "{}")
    put(tmp_path / "half.gguf.downloadInProgress", model(1))
    put(tmp_path / "below" / "other.gguf", model(2))
    assert found(tmp_path, "llama_cpp") == [("ann_Tiny-GGUF_tiny-Q8_0", "gguf", "llama_cpp")]


def test_where_llama_cpps_cache_is():
    assert list(LLAMA_CPP.folders(where())) == [HOME / ".cache/llama.cpp"]
    assert list(LLAMA_CPP.folders(where(XDG_CACHE_HOME="/xdg"))) == [Path("/xdg/llama.cpp")]
    assert list(LLAMA_CPP.folders(where("darwin"))) == [HOME / "Library/Caches/llama.cpp"]
    assert list(LLAMA_CPP.folders(where("win32", LOCALAPPDATA="/local"))) == [Path("/local/llama.cpp")]
    assert list(LLAMA_CPP.folders(where(LLAMA_CACHE="/cache"))) == [Path("/cache")]


def test_gpt4all_has_one_folder_and_marks_what_is_half_fetched(tmp_path):
    put(tmp_path / "Tiny-Q4_0.gguf", model())
    put(tmp_path / "incomplete-Other-Q4_0.gguf", model(1))
    put(tmp_path / "localdocs_v3.db", "x")
    assert found(tmp_path, "gpt4all") == [("Tiny-Q4_0", "gguf", "gpt4all")]


def test_where_gpt4all_keeps_models():
    python = HOME / ".cache/gpt4all"
    assert list(GPT4ALL.folders(where())) == [HOME / ".local/share/nomic.ai/GPT4All", python]
    assert list(GPT4ALL.folders(where("darwin"))) == [HOME / "Library/Application Support/nomic.ai/GPT4All", python]
    assert list(GPT4ALL.folders(where("win32"))) == [HOME / "AppData/Local/nomic.ai/GPT4All", python]
    assert GPT4ALL.folders(where("win32", LOCALAPPDATA="/local"))[0] == Path("/local/nomic.ai/GPT4All")


def test_an_installation_of_text_generation_webui_is_its_models(tmp_path):
    put(tmp_path / "user_data/models/tiny-Q8_0.gguf", model())
    put_exl2(tmp_path / "user_data/models/ann_Tiny-4.0bpw-exl2")
    put(tmp_path / "installer_files/env/lib/not-a-model.gguf", model(1))
    assert found(tmp_path, "added") == [("ann_Tiny-4.0bpw-exl2", "exl2", "textgen"), ("tiny-Q8_0", "gguf", "textgen")]


def test_so_is_an_older_one(tmp_path):
    put(tmp_path / "models/tiny-Q8_0.gguf", model())
    put(tmp_path / "installer_files/not-a-model.gguf", model(1))
    assert len(found(tmp_path, "added")) == 2
    put(tmp_path / "server.py", "")
    (tmp_path / "modules").mkdir()
    assert found(tmp_path, "added") == [("tiny-Q8_0", "gguf", "textgen")]


def test_text_generation_webui_has_no_place_of_its_own():
    assert list(TEXTGEN.folders(where())) == []
