"""The command `endpoints`, and what other commands say of models that are served elsewhere."""

import io
import json
import sys

import pytest
from tests.chat.standin import DONE, chunk, event
from tests.endpoint_server import EndpointServer, listing, saying, streaming

from weighbridge.cli import main
from weighbridge_engines.endpoint import ENGINE

USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
ANSWER = streaming(chunk(content="Hel"), chunk(content="lo"), chunk("stop"), USAGE, DONE)


@pytest.fixture
def server():
    with EndpointServer({"/v1/models": listing("a", max_model_len=512), "/v1/chat/completions": ANSWER}) as made:
        yield made


@pytest.fixture
def told(home, capsys, monkeypatch):
    """Runs a command: its exit code, its standard output, its standard error."""
    monkeypatch.setattr("weighbridge.base.kept_secret.system_keyring", lambda: None)
    monkeypatch.setattr("weighbridge.running.endpoints.keys.system_keyring", lambda: None)

    def run(*argv):
        code = main.run([*argv], lambda: {"endpoint": ENGINE})
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_one_is_added_and_asked_and_its_models_are_listed(told, server):
    code, out, _ = told("endpoints", "add", server.url, "--name", "Box")
    assert code == 0
    assert "stays on this computer" in out and "a@box" in out and "1 model" in out
    assert "a@box" in told("ls")[1]
    (row,) = json.loads(told("ls", "--json")[1])["models"]
    assert (row["leaves_computer"], row["endpoint"]["reach"], row["endpoint"]["name"]) == (False, "here", "a")
    assert (row["size_bytes"], row["context_length"], row["memory"], row["runner"]) == (None, 512, None, "endpoint")
    assert json.loads(told("ls", "--json", "--source", "own")[1])["models"] == []
    assert json.loads(told("ls", "--json", "--source", "endpoint")[1])["models"] != []


def test_listing_asks_nobody(told, server):
    told("endpoints", "add", server.url)
    count = len(server.asked)
    for argv in (("endpoints",), ("endpoints", "ls", "--json"), ("endpoints", "presets"), ("ls",)):
        assert told(*argv)[0] == 0
    assert len(server.asked) == count


def test_one_is_changed(told, server):
    server.answers["/v3/models"] = listing("b")
    told("endpoints", "add", f"{server.url}/v9", "--name", "Box")
    code, out, _ = told("endpoints", "change", "box", "--base-path", "/v3", "--preset", "ovms", "--json")
    changed = json.loads(out)["endpoint"]
    assert (code, changed["address"], changed["preset"]) == (0, f"{server.url}/v3", "ovms")
    assert [model["id"] for model in changed["models"]] == ["b@box"]


def test_one_that_cannot_be_reached_stays_and_is_told(told, server):
    server.answers["/v1/models"] = saying({}, 500)
    code, out, _ = told("endpoints", "add", server.url, "--name", "Box")
    assert code == 1 and "HTTP 500" in out
    assert "HTTP 500" in told("endpoints")[1]
    server.answers["/v1/models"] = listing("b")
    code, out, _ = told("endpoints", "test", "box", "--json")
    assert (code, json.loads(out)["endpoint"]["models"]) == (
        0,
        [{"id": "b@box", "name": "b", "context": None, "sees": None}],
    )


def test_a_wrong_base_path_names_the_right_one(told):
    with EndpointServer({"/v3/models": listing("a")}) as server:
        code, out, _ = told("endpoints", "add", server.url)
        assert code == 1 and "/v3" in out
        assert told("endpoints", "rm", "127-0-0-1")[0] == 0
        assert told("endpoints", "add", f"{server.url}/v3")[0] == 0


def test_a_key_comes_by_standard_input_and_shows_nowhere(told, server, monkeypatch, home):
    monkeypatch.setattr(sys, "stdin", io.StringIO("SECRET\n"))
    shown = [told("endpoints", "add", server.url, "--name", "Box", "--key-stdin", "--json")]
    assert server.asked[0].headers["authorization"] == "Bearer SECRET"
    shown += [told("endpoints", "--json"), told("ls", "--json"), told("endpoints")]
    assert all("SECRET" not in text for _, *texts in shown for text in texts)
    assert json.loads(shown[1][1])["endpoints"][0]["keyed"] is True
    assert json.loads(told("endpoints", "key", "box", "--forget", "--json")[1]) == {"endpoint": "box", "keyed": False}
    told("endpoints", "test", "box")
    assert "authorization" not in server.asked[-1].headers


def test_a_key_over_http_to_the_internet_needs_a_word(told, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("SECRET\n"))
    code, _, err = told("endpoints", "add", "http://api.example.com", "--key-stdin")
    assert code == 1 and "--key-in-the-open" in err
    assert told("endpoints", "--json")[1].strip() == '{"endpoints": []}'


def test_one_is_asked_and_what_was_counted_here_is_marked(told, server):
    told("endpoints", "add", server.url, "--name", "Box")
    code, out, err = told("run", "a@box", "hi", "--top-k", "3")
    assert (code, out) == (0, "Hello\n")
    assert "top_k" in err and "2 tokens" in err
    assert "leaves" not in err
    code, out, _ = told("run", "a@box", "hi", "--json")
    assert (json.loads(out)["source"], json.loads(out)["leaves_computer"]) == ("counted", False)


def test_what_leaves_is_said_and_not_done_offline(told, server, monkeypatch):
    server.answers["/v1/models"] = {"data": [{"id": "a", "leaves_computer": True}]}
    told("endpoints", "add", server.url, "--name", "Box")
    assert "leaves this computer: Box answers" in told("run", "a@box", "hi")[2]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    told("endpoints", "add", "https://api.example.com", "--name", "Far")
    assert "offline" in told("endpoints", "test", "far")[2]


def test_what_is_said_of_a_load_is_refused(told, server):
    told("endpoints", "add", server.url, "--name", "Box")
    for option in (("--context", "100"), ("--set", "batch=5"), ("--preset", "x")):
        code, _, err = told("run", "a@box", "hi", *option)
        assert code == 1 and "Box" in err


def test_a_model_there_is_neither_removed_nor_verified(told, server):
    told("endpoints", "add", server.url, "--name", "Box")
    for command in (("rm", "a@box", "--yes"), ("verify", "a@box")):
        code, _, err = told(*command)
        assert code == 1 and "weighbridge endpoints rm box" in err
    assert told("endpoints", "rm", "box")[0] == 0
    assert json.loads(told("ls", "--json")[1])["models"] == []


def test_there_is_nothing_to_weigh(told, server):
    told("endpoints", "add", server.url, "--name", "Box")
    code, out, err = told("fit", "a@box")
    assert (code, out) == (1, "") and "Box serves it" in err


def test_faults_are_told_without_advice_about_loads(told, server):
    told("endpoints", "add", server.url, "--name", "Box")
    server.answers["/v1/chat/completions"] = saying({"error": {"message": "slow"}}, 429, Retry_After="7")
    code, _, err = told("run", "a@box", "hi")
    assert code == 1 and "7 s" in err and "What can be done" not in err
