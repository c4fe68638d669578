"""The settings file: defaults, round trip, what we do not know, and what is wrong."""

import os
import tomllib
from dataclasses import fields

import pytest

from weighbridge.base.setting_kinds import Address, Number, kind_of
from weighbridge.base.settings import Settings, SettingsStore, language_choice, parse


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config" / "settings.toml"


def written(file, text):
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return SettingsStore(file)


def test_no_file_means_defaults_and_makes_none(file):
    store = SettingsStore(file)
    assert store.value == Settings(theme="system", language="system", port=2412, port_on=False, context=4096)
    assert store.notices == ()
    assert not file.exists()


def test_a_change_is_there_after_a_restart(file):
    SettingsStore(file).change(theme="dark", port=8080, model_folders=("/a b", "/ñ"), last_model="m")
    again = SettingsStore(file)
    assert again.value == Settings(theme="dark", port=8080, model_folders=("/a b", "/ñ"), last_model="m")
    assert again.notices == ()
    assert [entry.name for entry in file.parent.iterdir()] == ["settings.toml"]


def test_none_takes_a_setting_back(file):
    store = SettingsStore(file)
    store.change(last_model="m")
    store.change(last_model=None)
    assert "last_model" not in tomllib.loads(file.read_text("utf-8"))


def test_unknown_keys_and_tables_are_kept(file):
    store = written(file, 'later = "x"\nport = 1\n[hub]\nmirror = "y"\n')
    store.change(port=2)
    assert tomllib.loads(file.read_text("utf-8")) == {"later": "x", "port": 2, "hub": {"mirror": "y"}}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('theme = "pink"', "theme"),
        ("theme = 1", "theme"),
        ('language = "fr"', "language"),
        ("port = 0", "port"),
        ("port = 65536", "port"),
        ("port = true", "port"),
        ('port = "2412"', "port"),
        ("port_on = 1", "port_on"),
        ("context = -1", "context"),
        ("idle_minutes = 0", "idle_minutes"),
        ("idle_minutes = 10081", "idle_minutes"),
        ('closing = "minimize"', "closing"),
        ('model_folders = ["/a", 1]', "model_folders"),
        ("context = 4096.0", "context"),
        ("model_folders = [1]", "model_folders"),
        ('model_folders = "/m"', "model_folders"),
        ("last_model = 5", "last_model"),
    ],
)
def test_a_bad_value_is_reported_by_name_and_its_default_used(line, name):
    value, bad = parse(tomllib.loads(line))
    assert value == Settings()
    assert [(cause.code, cause.values["name"]) for cause in bad] == [("settings.bad_value", name)]


def test_a_bad_value_stays_in_the_file_until_it_is_changed(file):
    store = written(file, 'theme = "pink"\n')
    store.change(port=3)
    assert tomllib.loads(file.read_text("utf-8"))["theme"] == "pink"
    store.change(theme="light")
    assert tomllib.loads(file.read_text("utf-8"))["theme"] == "light"


@pytest.mark.parametrize("content", [b"port = [", b"\xff\xfe\x00", b"\x00"])
def test_a_damaged_file_is_set_aside_with_a_notice(file, content):
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    store = SettingsStore(file)
    assert store.value == Settings()
    assert [cause.code for cause in store.notices] == ["settings.damaged"]
    assert file.with_suffix(".damaged.toml").read_bytes() == content
    assert not file.exists()


def test_a_file_that_cannot_be_written_leaves_a_notice_and_the_change_holds(tmp_path):
    (tmp_path / "config").write_text("a file where the folder should be")
    store = SettingsStore(tmp_path / "config" / "settings.toml")
    store.change(port=9)
    assert store.value.port == 9
    assert {cause.code for cause in store.notices} <= {"settings.unwritable", "settings.unreadable"}
    assert store.notices[-1].code == "settings.unwritable"


def test_a_value_or_name_that_is_wrong_in_code_raises(file):
    store = SettingsStore(file)
    with pytest.raises(ValueError, match="port"):
        store.change(port=0)
    with pytest.raises(TypeError, match="colour"):
        store.change(colour="red")
    assert not file.exists()


def test_listeners_hear_each_change_until_they_leave(file):
    store, heard = SettingsStore(file), []
    leave = store.subscribe(heard.append)
    store.change(port=1)
    leave()
    store.change(port=2)
    assert [value.port for value in heard] == [1]


@pytest.mark.parametrize("content", ["a = " + "[" * 5000, "port = " + "9" * 5000, "port = 1\nport = 2", "\x00"])
def test_a_hostile_file_is_set_aside(tmp_path, content):
    path = tmp_path / "settings.toml"
    path.write_text(content)
    assert language_choice(path) is None
    store = SettingsStore(path)
    assert [notice.code for notice in store.notices] == ["settings.damaged"]
    assert not path.exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_told_and_kept_aside_at_the_first_change(tmp_path, put):
    path = tmp_path / "settings.toml"
    put(path)
    assert language_choice(path) is None
    store = SettingsStore(path)
    assert [notice.code for notice in store.notices] == ["settings.unreadable"]
    store.change(port=2500)
    assert SettingsStore(path).value.port == 2500
    assert not path.with_suffix(".damaged.toml").is_file()
    assert path.with_suffix(".damaged.toml").exists()


@pytest.mark.parametrize("folder", ["", "a\0b"])
def test_a_folder_that_is_no_path_is_a_bad_value(folder):
    settings, bad = parse({"model_folders": [folder]})
    assert settings.model_folders == ()
    assert [cause.code for cause in bad] == ["settings.bad_value"]


def test_every_shown_field_says_what_it_is_and_takes_its_default():
    for field in fields(Settings):
        kind = kind_of(field)
        assert kind.accepts(field.default)
        assert not kind.title or (kind.description.endswith(".") and kind.group)


def test_a_number_takes_none_only_where_there_is_a_word_for_it():
    assert Number(none="Never", low=1).accepts(None)
    assert not Number(low=1).accepts(None)
    assert not Number(low=0).accepts(True)


@pytest.mark.parametrize(
    ("address", "accepted"),
    [
        (None, True),
        ("https://huggingface.co", True),
        ("https://mirror.example:8443/hub", True),
        ("http://127.0.0.1:8000", True),
        ("http://localhost", True),
        ("http://[::1]:8000", True),
        ("http://mirror.example", False),
        ("http://127.0.0.1.example", False),
        ("http://localhost@mirror.example", False),
        ("https://me:pw@mirror.example", False),
        ("https://mirror.example/?a=b", False),
        ("https://mirror.example\\@x", False),
        ("https://a b", False),
        ("https://", False),
        ("ftp://mirror.example", False),
        ("", False),
        (7, False),
    ],
)
def test_which_addresses_the_hub_may_have(address, accepted):
    assert Address().accepts(address) is accepted


def test_the_speed_of_downloads_in_bytes():
    assert Settings().download_bytes_s is None
    assert Settings(download_mbps=80).download_bytes_s == 10_000_000
