"""The token: given on stdin or in a file, tested, kept, forgotten, and never shown."""

import io
import json
import os
import stat

import pytest
from tests.fake_hub import FakeHub

from weighbridge.cli.main import run

TOKEN = "hf_TESTTOKEN"


@pytest.fixture
def hub(monkeypatch):
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with FakeHub() as made:
        made.tokens[TOKEN] = "ada"
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        monkeypatch.setattr("weighbridge.hub.token.system_keyring", lambda: None)
        yield made


@pytest.fixture
def home_of_others(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf"


def typed(monkeypatch, token):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))


def test_a_good_token_is_kept_for_its_owner_alone(hub, home, home_of_others, monkeypatch, capsys):
    typed(monkeypatch, TOKEN)
    assert run(["login"], dict) == 0
    out, err = capsys.readouterr()
    assert "Signed in as ada" in out
    assert "127.0.0.1" in err
    assert TOKEN not in out + err
    kept = home / "config" / "hub-token"
    assert kept.read_text() == TOKEN
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_bad_token_is_not_kept(hub, home, home_of_others, monkeypatch, capsys):
    typed(monkeypatch, "hf_WRONG")
    assert run(["login"], dict) == 1
    out, err = capsys.readouterr()
    assert "does not take your token" in err
    assert "go on without a token" in err
    assert "hf_WRONG" not in out + err
    assert not (home / "config" / "hub-token").exists()


def test_what_cannot_be_a_token_is_not_sent(hub, home, home_of_others, monkeypatch, capsys):
    typed(monkeypatch, "hf two words")
    assert run(["login"], dict) == 1
    assert "two words" not in capsys.readouterr().err
    assert hub.requests == []


def test_from_a_file_and_out_again(hub, home, home_of_others, tmp_path, capsys):
    given = tmp_path / "given"
    given.write_text(f" {TOKEN}\n")
    assert run(["login", "--json", "--token-file", str(given)], dict) == 0
    assert json.loads(capsys.readouterr().out) == {"user": "ada", "kept": "file"}
    assert run(["logout", "--json"], dict) == 0
    assert json.loads(capsys.readouterr().out) == {"forgotten": True, "left": None}
    assert not (home / "config" / "hub-token").exists()
    assert run(["logout"], dict) == 0
    assert capsys.readouterr().out == "No token was kept here.\n"


def test_the_login_of_others_is_left_alone_and_told(hub, home_of_others, capsys):
    home_of_others.mkdir()
    (home_of_others / "token").write_text("hf_OTHER")
    assert run(["logout"], dict) == 0
    assert "The token of the login of other Hugging Face programs is used" in capsys.readouterr().out
    assert (home_of_others / "token").read_text() == "hf_OTHER"


def test_a_file_that_is_not_there(hub, home_of_others, tmp_path, capsys):
    assert run(["login", "--token-file", str(tmp_path / "none")], dict) == 1
    assert "No such file" in capsys.readouterr().err
