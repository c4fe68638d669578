"""The token: where it comes from, where it is kept, and that it does not show."""

import os
import stat

import pytest

from weighbridge.base.errors import BadFile, Refused
from weighbridge.hub.token import Token, TokenStore, existing_login, token_of


class Ring:
    """A keyring in memory; one that is locked raises at everything."""

    def __init__(self, locked=False):
        self.kept, self.locked = {}, locked

    def _open(self):
        if self.locked:
            raise RuntimeError("locked")

    def get_password(self, service, username):
        self._open()
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self._open()
        self.kept[service, username] = password

    def delete_password(self, service, username):
        self._open()
        del self.kept[service, username]


@pytest.fixture
def config(tmp_path):
    return tmp_path / "config"


@pytest.fixture
def nobody(tmp_path):
    """An environment in which nobody is signed in."""
    return {"HF_HOME": str(tmp_path / "hf")}


def store(config, environment, ring=None):
    return TokenStore(config, environment, lambda: ring)


def test_a_token_does_not_show():
    token = Token("hf_TESTTOKEN", "file")
    assert "TESTTOKEN" not in f"{token} {token!r} {[token]}"


@pytest.mark.parametrize("text", ["", " ", "hf_a b", "hf_a\nX-Evil: 1", "hf_\u00e4", "x" * 513, "hf_\0"])
def test_what_cannot_be_a_token(text):
    with pytest.raises(Refused) as caught:
        token_of(text)
    assert caught.value.code == "hub.token_form"
    assert caught.value.values == {}


def test_the_order(config, nobody, tmp_path):
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "token").write_text("hf_login\n")
    assert store(config, nobody).token() == Token("hf_login", "login")
    old = {**nobody, "HUGGING_FACE_HUB_TOKEN": "hf_old"}
    assert store(config, old).token() == Token("hf_old", "environment")
    new = {**old, "HF_TOKEN": " hf_new "}
    assert store(config, new).token() == Token("hf_new", "environment")
    ring = Ring()
    assert store(config, new, ring).keep("hf_ours") == Token("hf_ours", "keyring")
    assert store(config, new, ring).token() == Token("hf_ours", "keyring")
    assert not config.exists()
    assert store(config, new).keep("hf_file") == Token("hf_file", "file")
    assert store(config, new, ring).token() == Token("hf_file", "file")


def test_others_can_be_told_not_to_be_used(nobody):
    assert existing_login({**nobody, "HF_TOKEN": "hf_x", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}) is None


def test_places_of_the_login_file(tmp_path):
    (tmp_path / "huggingface").mkdir()
    (tmp_path / "huggingface" / "token").write_text("hf_cache")
    (tmp_path / "elsewhere").write_text("hf_else")
    assert existing_login({"XDG_CACHE_HOME": str(tmp_path)}) == Token("hf_cache", "login")
    assert existing_login({"XDG_CACHE_HOME": str(tmp_path), "HF_TOKEN_PATH": str(tmp_path / "elsewhere")}) == Token(
        "hf_else", "login"
    )


def test_what_stands_in_place_of_a_token_is_not_one(tmp_path, nobody):
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "token").write_bytes(b"\xff\xfe" * 10)
    assert existing_login(nobody) is None
    assert existing_login({**nobody, "HF_TOKEN": "two words"}) is None


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_the_file_is_for_its_owner_alone(config, nobody):
    before = os.umask(0)
    try:
        store(config, nobody).keep("hf_x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((config / "hub-token").stat().st_mode) == 0o600
    assert [entry.name for entry in config.iterdir()] == ["hub-token"]


def test_a_keyring_that_is_locked_leads_to_the_file(config, nobody):
    made = store(config, nobody, Ring(locked=True))
    assert made.keep("hf_x").origin == "file"
    assert store(config, nobody, Ring(locked=True)).token() == Token("hf_x", "file")
    assert made.forget()
    assert made.token() is None


def test_the_keyring_takes_it_out_of_the_file(config, nobody):
    store(config, nobody).keep("hf_old")
    ring = Ring()
    assert store(config, nobody, ring).keep("hf_new").origin == "keyring"
    assert list(config.iterdir()) == []


def test_forgetting_takes_ours_alone(config, nobody):
    ring = Ring()
    made = store(config, {**nobody, "HF_TOKEN": "hf_env"}, ring)
    made.keep("hf_ours")
    assert made.forget()
    assert ring.kept == {}
    assert made.token() == Token("hf_env", "environment")
    assert not made.token().ours
    assert not made.forget()


def test_a_folder_that_cannot_be_written(tmp_path, nobody):
    (tmp_path / "config").write_text("a file")
    with pytest.raises(BadFile) as caught:
        store(tmp_path / "config", nobody).keep("hf_secret")
    assert caught.value.code == "file.unwritable"
    assert "hf_secret" not in str(caught.value)
