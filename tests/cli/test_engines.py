"""`weighbridge engines`, with a `uv` that installs nothing and a `llama-server` that only talks."""

import json
import os
import sys
from dataclasses import replace

import pytest
from tests.running.made_builds import APART, CARDS, LINUX, PROCESSOR, Answers, FakeUv, llama_server

from weighbridge.base.paths import default_paths
from weighbridge.cli import engines_shown
from weighbridge.cli.main import run
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind
from weighbridge.running import engines as live_engines
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made programs are scripts of POSIX")
ECHO = catalogue()["echo"]
CARD = Device("c", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 << 30, None), driver="580.1")
MACHINE = Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None), (CARD,))
TRIED = replace(ECHO, id="llama_server", title="llama.cpp", devices=lambda: [PROCESSOR], version=lambda: "1")
APART_HERE = replace(APART, id="llama_server-apart", engine_id="llama_server", download_bytes=3 << 20)
NEEDY = replace(CARDS, id="mlx-cuda", engine_id="mlx", needs=("compiler",))
OLD_DRIVER = replace(CARDS, id="vllm-cuda", engine_id="vllm", least_driver="900")
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
    (engine,) = told["engines"]
    assert (engine["id"], engine["title"], engine["standing"]) == ("llama_server", "llama.cpp", "here")
    assert "score" in engine["cannot"] and "chat" in engine["can"]
    assert (engine["notes"], engine["archived"], told["problems"]) == ([], False, [])
    assert [device["id"] for device in build["devices"]] == ["CPU"]
    assert [recipe["id"] for recipe in told["installable"]] == ["llama_server-apart", "llama_server-cuda"]
    (lacking,) = told["lacking"]
    assert (lacking["code"], lacking["values"]["build_id"]) == ("engine.build_not_installed", "llama_server-cuda")


def test_an_engine_that_is_not_installed_is_told_with_its_command_where_it_comes_as_no_build(capsys, monkeypatch):
    cause = Cause("engine.not_installed", {"package": "absent"})
    absent = replace(TRIED, missing=lambda: cause, title="Absent", install="pip install absent")
    assert run(["engines"], lambda: {"llama_server": absent}) == 0
    assert "Absent is not installed" not in capsys.readouterr().out
    monkeypatch.setattr(live_engines, "recipes_here", tuple)
    assert run(["engines"], lambda: {"llama_server": absent}) == 0
    assert f"Absent is not installed. Install it: {sys.executable} -m pip install absent\n" in capsys.readouterr().out


def test_what_is_here_comes_first_then_what_suits_the_machine_then_the_rest(capsys, monkeypatch):
    monkeypatch.setattr(live_engines, "recipes_here", lambda: (OLD_DRIVER, NEEDY, APART_HERE))
    absent = replace(TRIED, missing=lambda: Cause("engine.not_installed", {}), version=lambda: None)
    catalogue = {"vllm": replace(absent, id="vllm", title="vLLM"), "mlx": replace(absent, id="mlx", title="MLX")}
    assert run(["engines"], lambda: {**catalogue, "llama_server": TRIED}) == 0
    here, suited, others, *_ = capsys.readouterr().out.split("\n\n")
    assert [line.split()[0] for line in here.splitlines()] == ["build", "llama_server"]
    assert [line.split()[0] for line in suited.splitlines()[2:]] == ["llama_server-apart", "mlx-cuda"]
    assert "It needs driver 900 or newer" in others and "vllm-cuda" in others


def test_a_program_of_the_user_shows_what_it_will_run_and_what_is_wrong_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIGHBRIDGE_HOME", str(tmp_path))
    described = default_paths().described_programs
    described.parent.mkdir(parents=True)
    entry = '[[program]]\nid = "mine"\ntitle = "Mine"\nformats = ["gguf"]\nprogram = "/opt/serve"\n'
    described.write_text(f'{entry}argv = ["-m", "{{model}}", "-p", "{{port}}"]\n[[program]]\nid = "other"\n')
    assert run(["engines", "show", "mine"], lambda: {"llama_server": TRIED}) == 0
    assert "It is started as: /opt/serve -m MODEL -p 8000" in capsys.readouterr().out.splitlines()
    assert run(["engines"], lambda: {"llama_server": TRIED}) == 0
    assert "The entry other of programs.toml (line 8) cannot be used: title: is missing" in capsys.readouterr().out


def test_one_engine_is_told_whole(capsys, monkeypatch):
    monkeypatch.setattr(live_engines, "recipes_here", lambda: (NEEDY, APART_HERE))
    engine = replace(TRIED, id="mlx", title="MLX", formats=frozenset({"mlx"}), notes=("Slow on Mondays.",))
    assert run(["engines", "show", "mlx"], lambda: {"mlx": engine}) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["MLX", "It reads MLX."]
    assert "Slow on Mondays." in lines
    assert any(line.startswith("mlx-cuda: It compiles its kernels") for line in lines)
    assert run(["engines", "show", "mlx", "--json"], lambda: {"mlx": engine}) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == ["Slow on Mondays."]
    assert run(["engines", "show", "none", "--json"], lambda: {"mlx": engine}) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "engine.unknown"


def test_an_engine_s_name_installs_the_first_of_its_builds_that_suits_the_machine(capsys, monkeypatch):
    monkeypatch.setattr(live_engines, "recipes_here", lambda: (replace(CUDA_HERE, vendors=("amd",)), APART_HERE))
    monkeypatch.setattr("weighbridge.hardware.detect.detect", lambda: MACHINE)
    assert engines("install", "llama_server", "--json") == 0
    assert json.loads(capsys.readouterr().out)["build"]["id"] == "llama_server-apart"


def test_a_newer_version_is_looked_for_where_the_user_asks(capsys, place):
    assert engines("install", "llama_server-apart") == 0
    place.does("""print('[{"name": "echo-wheel", "version": "1.5", "latest_version": "1.6"}]')""")
    capsys.readouterr()
    assert engines("newer", "llama_server-apart") == 0
    out = capsys.readouterr().out
    assert out == "1.6 can be had; here is 1.5: weighbridge engines install llama_server-apart\n"
    place.does("print('[]')")
    assert engines("newer", "llama_server-apart") == 0
    assert capsys.readouterr().out == "The package index has no newer llama_server-apart than 1.5.\n"
    assert engines("newer", "llama_server-apart", "--json") == 0
    assert json.loads(capsys.readouterr().out)["newer"] is None


def test_a_build_is_installed_and_removed(capsys, home):
    assert engines("install", "llama_server-apart") == 0
    out, err = capsys.readouterr()
    assert "It told its devices; no model was here that it could be tried with." in out
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
