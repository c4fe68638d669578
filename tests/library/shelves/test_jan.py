from pathlib import Path

import pytest
from tests.library.made_folders import put_mlx
from tests.library.shelves.made_shelves import CLIP, codes, listed, model, put

from weighbridge.formats.variant import Role
from weighbridge.library.shelves.jan import JAN, MAX_NOTE_BYTES
from weighbridge.library.shelves.program import Where


def note(data, name, text):
    return put(data / "llamacpp" / "models" / name / "model.yml", text)


def test_a_model_bears_the_name_of_its_folder(tmp_path):
    path = put(tmp_path / "llamacpp/models/ann/Tiny-Q4/model.gguf", model())
    put(tmp_path / "llamacpp/models/ann/Tiny-Q4/mmproj.gguf", model(**CLIP))
    told = "llamacpp/models/ann/Tiny-Q4"
    note(tmp_path, "ann/Tiny-Q4", f"model_path: {told}/model.gguf\nmmproj_path: {told}/mmproj.gguf\nsize_bytes: 7\n")
    listing = listed(tmp_path, "jan")
    (found,) = listing.models
    assert (found.id, found.path, found.source, listing.skipped) == ("ann/Tiny-Q4", path, "jan", ())
    assert [(helper.role, helper.path.name) for helper in found.companions] == [(Role.PROJECTOR, "mmproj.gguf")]


def test_a_model_may_lie_anywhere_else_and_its_later_part_is_its_set(tmp_path):
    for number in (1, 2):
        put(tmp_path / "elsewhere" / f"m-0000{number}-of-00002.gguf", model(number))
    note(tmp_path / "data", "m", f"model_path: {tmp_path / 'elsewhere' / 'm-00002-of-00002.gguf'}\n")
    (found,) = listed(tmp_path / "data", "jan").models
    assert (found.id, found.path.name, len(found.parts)) == ("m", "m-00001-of-00002.gguf", 2)


def test_a_path_out_of_the_data_folder_is_followed_to_a_gguf_file_alone(tmp_path):
    put(tmp_path / "secret.gguf", b"-----BEGIN PRIVATE KEY-----")
    note(tmp_path / "data", "m", "model_path: ../secret.gguf\n")
    listing = listed(tmp_path / "data", "jan")
    assert (listing.models, codes(listing)) == ((), ["library.named"])
    assert listing.skipped[0].values["named"] == "../secret.gguf"


@pytest.mark.parametrize("named", ["\\\\\\\\evil\\\\share\\\\m.gguf", "//evil/share/m.gguf", "https://evil/m.gguf"])
def test_a_path_of_another_computer_is_not_opened(tmp_path, named, monkeypatch):
    note(tmp_path, "m", f'model_path: "{named}"\n')
    watched, seen = Path.stat, []
    monkeypatch.setattr(Path, "stat", lambda path, **rest: seen.append(str(path)) or watched(path, **rest))
    assert codes(listed(tmp_path, "jan")) == ["library.named"]
    assert not [path for path in seen if "evil" in path]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nmodel_path: m.gguf\n"


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "model_path: !!python/object/apply:os.system ['true']\n",
        "[" * 5_000,
        "- a\n",
        "",
        "a: b: c\n",
        b"\xff\xfe\x00",
        "x: " + "9" * 10_000,
        "when: 2024-13-45\n",
        "#" * (MAX_NOTE_BYTES + 1),
    ],
)
def test_a_note_that_cannot_be_read_is_told_and_the_others_still_list(tmp_path, text):
    note(tmp_path, "bad", text)
    put(tmp_path / "llamacpp/models/good/model.gguf", model())
    note(tmp_path, "good", "model_path: llamacpp/models/good/model.gguf\n")
    listing = listed(tmp_path, "jan")
    assert [found.id for found in listing.models] == ["good"]
    assert codes(listing) == ["library.note"]


@pytest.mark.parametrize("text", ["engine: mlx\n", "model_path: 7\n", "model_path: [a.gguf]\n", "model_path: m.bin\n"])
def test_a_note_on_no_gguf_file_says_nothing(tmp_path, text):
    note(tmp_path, "m", text)
    listing = listed(tmp_path, "jan")
    assert (listing.models, listing.skipped) == ((), ())


def test_files_without_a_note_are_found_as_they_lie(tmp_path):
    put(tmp_path / "models/huggingface.co/ann/tiny/tiny-Q8_0.gguf", model())
    put(tmp_path / "models/huggingface.co/ann/tiny/tiny-Q8_0.yaml", "name: tiny\n")
    put_mlx(tmp_path / "mlx/models/Qwen3-4B-4bit")
    put(tmp_path / "threads/not-a-model.gguf", model(1))
    assert [found.id for found in listed(tmp_path, "jan").models] == ["Qwen3-4B-4bit", "tiny-Q8_0"]


def where(home, platform="linux", **environment):
    return Where(environment, home, platform)


def test_where_it_keeps_models(tmp_path):
    home = Path("/home/ann")
    assert list(JAN.folders(where(home))) == [home / ".local/share/Jan/data", home / ".config/Jan/data"]
    assert list(JAN.folders(where(home, XDG_DATA_HOME="/xdg"))) == [Path("/xdg/Jan/data"), home / ".config/Jan/data"]
    assert list(JAN.folders(where(home, "darwin"))) == [home / "Library/Application Support/Jan/data"]
    assert list(JAN.folders(where(home, "win32"))) == [home / "AppData/Roaming/Jan/data"]
    assert list(JAN.folders(where(home, "win32", APPDATA="/roaming"))) == [Path("/roaming/Jan/data")]


@pytest.mark.parametrize("place", [".local/share/Jan", ".local/share/jan.ai.app", ".config/Jan"])
def test_a_data_folder_that_was_moved_comes_first(tmp_path, place):
    put(tmp_path / place / "settings.json", {"data_folder": "/big/jan"})
    assert JAN.folders(where(tmp_path))[0] == Path("/big/jan")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"data_folder": 7}', '{"data_folder": "./data"}', '{"data_folder": ""}']
)
def test_settings_that_say_nothing_sensible_move_nothing(tmp_path, content):
    put(tmp_path / ".local/share/Jan/settings.json", content)
    assert JAN.folders(where(tmp_path))[0] == tmp_path / ".local/share/Jan/data"
