"""`weighbridge engines`, with a `uv` that installs nothing and a `llama-server` that only talks."""

import json
import os
import sys
from dataclasses import replace

import pytest
from tests.running.made_builds import APART, CARDS, LINUX, PROCESSOR, Answers, FakeUv, llama_server

from weighbridge.cli import engines_shown
from weighbridge.cli.main import run
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind
from weighbridge.running import engines as live_engines
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made programs are scripts of POSIX")
ECHO = catalogue()["echo"]
CARD = Device("c", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 << 30, None))
MACHINE = Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None), (CARD,))
TRIED = replace(ECHO, id="llama_server", title="llama.cpp", devices=lambda: [PROCESSOR], version=lambda: "1")
APART_HERE = replace(APART, id="llama_server-apart", engine_id="llama_server", download_bytes=3 << 20)
CUDA_HERE = replace(CARDS, id="llama_server-cuda", engine_id="llama_server", verified=False)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A machine with a card, two builds to install, and answers in place of workers."""
    monkeypatch.setattr("weighbridge.running.installation.python_for", lambda least: sys.executable)
    monkeypatch.setattr(live_engines, "recipes_here", lambda: (APART_HERE, CUDA_HERE))
    monkeypatch.setattr(live_engines, "this_system", lambda: LINUX)
    monkeypatch.setattr(engines_shown, "detect", lambda: MACHINE)
    answers = Answers(PROCESSOR)
    for module in ("devices", "installation"):
        monkeypatch.setattr(f"weighbridge.running.{module}.told_now", _told(answers))
    monkeypatch.setattr("weighbridge.running.installation.version_told", lambda *_: "1.5")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return FakeUv(tmp_path, monkeypatch)


def _told(answers):
    from weighbridge.running.devices import told_now

    return lambda engine, extensions="-", ask_child=None: told_now(
        engine, extensions, None if engine.program else answers
    )


def engines(*words):
    return run(["engines", *words], lambda: {"llama_server": TRIED})


def test_what_is_here_and_what_could_be(capsys):
    assert engines() == 0
    out = capsys.readouterr().out
    assert "llama_server" in out and "in use" in out and "with Weighbridge" in out
    assert "llama_server-apart" in out and "3.0" in out
    assert "CUDA (not tried by us)" in out
    assert "weighbridge engines install llama_server-cuda" in out


def test_as_json(capsys):
    assert engines("ls", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (build,) = told["builds"]
    assert (build["id"], build["in_use"], build["kind"], build["formats"]) == ("llama_server", True, "ours", ["echo"])
    assert [device["id"] for device in build["devices"]] == ["CPU"]
    assert [recipe["id"] for recipe in told["installable"]] == ["llama_server-apart", "llama_server-cuda"]
    (lacking,) = told["lacking"]
    assert (lacking["code"], lacking["values"]["build_id"]) == ("engine.build_not_installed", "llama_server-cuda")


def test_an_engine_that_is_not_installed_is_told_with_its_command(capsys):
    cause = Cause("engine.not_installed", {"package": "absent"})
    absent = replace(TRIED, missing=lambda: cause, title="Absent", install="pip install absent")
    assert run(["engines"], lambda: {"llama_server": absent}) == 0
    assert f"Absent is not installed. Install it: {sys.executable} -m pip install absent\n" in capsys.readouterr().out


def test_a_build_is_installed_and_removed(capsys, home):
    assert engines("install", "llama_server-apart") == 0
    out, err = capsys.readouterr()
    assert "It told its devices. No model was here to try it with." in out
    assert "llama.cpp is loaded as llama_server-apart from now on." in out
    assert "licence MIT" in err and "uv says pip install" in err
    assert engines("ls", "--json") == 0
    build = json.loads(capsys.readouterr().out)["builds"][1]
    assert (build["id"], build["in_use"], build["version"]) == ("llama_server-apart", True, "1.5")
    assert build["disk_bytes"] > 0
    assert engines("remove", "llama_server-apart", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"removed": "llama_server-apart", "in_use": "llama_server"}
    assert not (home / "data" / "engines" / "llama_server-apart").exists()


def test_it_is_tried_with_a_model_that_is_here(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("weighbridge.cli.engines_command._models", lambda: [_model(tmp_path / "parrot.echo")])
    tried = []
    monkeypatch.setattr(
        "weighbridge.running.installation.writes_a_token", lambda engine, model, *_: not tried.append(model.id)
    )
    assert engines("install", "llama_server-apart") == 0
    out, err = capsys.readouterr()
    assert (tried, "It will be tried with parrot." in err) == (["parrot"], True)
    assert "It told its devices and wrote a token." in out


def _model(path):
    from weighbridge.formats.architectures import Kind
    from weighbridge.formats.model import ModelInfo
    from weighbridge.library.model import Model

    info = ModelInfo(format="echo", kind=Kind.CHAT)
    return Model("parrot", "parrot", path, (path,), "echo", None, 10, info)


def test_a_build_that_sees_no_card_says_so(capsys):
    assert engines("install", "llama_server-cuda", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["build"]["in_use"], told["why_not_used"]["code"]) == (False, "build.sees_no_card")


def test_the_offline_setting_is_obeyed(capsys, monkeypatch, place):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert engines("install", "llama_server-apart", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "hub.offline"
    assert place.calls == []


def test_a_program_is_taken_in_and_chosen(capsys, tmp_path):
    path = llama_server(tmp_path)
    assert engines("add", str(path)) == 0
    out = capsys.readouterr().out
    assert "CUDA0 (NVIDIA GeForce RTX 3090)" in out
    assert "from now on" in out
    assert engines("use", "llama_server", "--json") == 0
    assert json.loads(capsys.readouterr().out)["build"]["in_use"] is True
    assert engines("ls") == 0
    assert "weighbridge engines use llama_server-program-" in capsys.readouterr().out
    assert engines("use", str(path)) == 0
    capsys.readouterr()
    assert engines("ls", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [build["in_use"] for build in told["builds"]] == [False, True]
    assert told["lacking"] == []
    assert engines("remove", str(path)) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("install", "nothing"), "build.unknown"),
        (("use", "nothing"), "build.not_here"),
        (("remove", "llama_server"), "build.not_removable"),
        (("add", "/nowhere/llama-server"), "build.no_program"),
        (("install", "llama_server-apart", "--wheels", "/nowhere"), "build.no_wheels"),
    ],
)
def test_what_cannot_be_is_refused(capsys, words, code):
    assert engines(*words, "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code


def test_other_commands_see_the_build_in_use(tmp_path, capsys):
    path = llama_server(tmp_path)
    assert engines("add", str(path)) == 0
    capsys.readouterr()
    assert run(["hardware", "--json"], lambda: {"llama_server": TRIED}) == 0
    (told,) = json.loads(capsys.readouterr().out)["engines"]
    assert (told["version"], [device["id"] for device in told["devices"]]) == ("b9000", ["CPU", "CUDA0"])
