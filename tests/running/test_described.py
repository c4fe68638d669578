"""Engines that the user has described, and programs of described engines."""

import json
import os
import sys

import pytest

from weighbridge.base.errors import EngineFailed, NotFound, Refused
from weighbridge.hardware.child import Answer
from weighbridge.running.described import Described
from weighbridge.running.engines import Engines
from weighbridge.running.programs import Program, engine_named, look_at
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made programs are scripts of POSIX")
SHIPPED = {engine_id: catalogue()[engine_id] for engine_id in ("echo", "llama_server", "vllm", "tabbyapi")}
ENTRY = """
[[program]]
id = "mine"
title = "Mine"
formats = ["gguf"]
program = "{program}"
argv = ["--model", "{{model}}", "--port", "{{port}}"]
"""
TOLD = {"version": "0.33.0", "missing": [], "devices": [{"id": "CUDA0", "name": "RTX 3090", "kind": "gpu"}]}


def script(path, head=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head or "#!/bin/sh\n")
    path.chmod(0o755)
    return path


def vllm(folder):
    """A console script, and the Python that it names."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return script(folder / "bin" / "vllm", f"#!{python}\n")


def answers(told=TOLD, exit_code=0, err=""):
    return lambda argv, limit_s, environment: Answer(json.dumps(told), err, exit_code)


def test_an_engine_of_the_user(tmp_path):
    path = tmp_path / "programs.toml"
    described = Described(path, SHIPPED)
    assert (described.engines(), described.problems) == ({}, ())
    path.write_text(ENTRY.format(program=script(tmp_path / "server")))
    engine = described.engines()["mine"]
    assert (engine.title, engine.yours, engine.missing()) == ("Mine", True, None)
    path.unlink()
    assert described.engines() == {}


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path):
    path = tmp_path / "programs.toml"
    path.write_text(ENTRY.format(program="x"))
    described = Described(path, SHIPPED)
    assert described.engines() is described.engines()


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (ENTRY.replace("mine", "vllm"), "vllm", 0),
        (ENTRY + "port = 1", "mine", 3),
        ("[[program]]\nid = mine", "programs.toml", 2),
    ],
)
def test_what_is_wrong_is_told_and_never_fatal(tmp_path, text, name, line):
    path = tmp_path / "programs.toml"
    path.write_text(text.format(program="x"))
    described = Described(path, SHIPPED)
    assert described.engines() == {}
    assert [(cause.values["name"], cause.values["line"]) for cause in described.problems] == [(name, line)]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_what_cannot_be_read(tmp_path, content):
    path = tmp_path / "programs.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    described = Described(path, SHIPPED)
    assert described.engines() == {}
    assert [cause.code for cause in described.problems] == ["program.bad_entry"]


def engines(tmp_path, **changes):
    options = {"environment": {"PATH": "/nowhere"}, "recipes": (), **changes}
    return Engines(SHIPPED, tmp_path / "data", own=tmp_path / "programs.toml", **options)


def test_the_live_mapping_has_it_beside_the_shipped_ones(tmp_path):
    one = engines(tmp_path)
    assert "mine" not in one
    (tmp_path / "programs.toml").write_text(ENTRY.format(program=script(tmp_path / "server")))
    one.refresh()
    assert one["mine"].command is not None
    assert [build.engine_title for build in one.builds if build.engine_id == "mine"] == ["Mine"]
    (tmp_path / "programs.toml").write_text("[[program")
    one.refresh()
    assert ("mine" in one, len(one.problems)) == (False, 1)


def test_a_program_of_a_described_engine_is_asked_through_its_python(tmp_path):
    path = vllm(tmp_path)
    told = look_at(path, {}, answers(), SHIPPED["vllm"])
    assert (told.engine_id, told.version, told.id[:13]) == ("vllm", "0.33.0", "vllm-program-")
    assert [device.id for device in told.devices] == ["CUDA0"]
    assert Program.from_json(told.as_json()) == told
    engine = told.engine(SHIPPED["vllm"])
    assert (engine.build, engine.version(), engine.program) == (told.id, "0.33.0", str(path))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answers({**TOLD, "missing": ["torch"]}), "program.no_module"),
        (answers({**TOLD, "version": None}), "program.no_module"),
        (answers("no table"), "build.program_failed"),
        (answers(exit_code=1, err="ImportError: libcudart.so.13"), "build.program_failed"),
        (answers(exit_code=None), "build.program_failed"),
    ],
)
def test_a_program_that_cannot_work_is_refused(tmp_path, answer, code):
    with pytest.raises((Refused, EngineFailed)) as refusal:
        look_at(vllm(tmp_path), {}, answer, SHIPPED["vllm"])
    assert refusal.value.code == code


def test_a_folder_without_an_environment_is_none(tmp_path):
    script(tmp_path / "main.py")
    with pytest.raises(NotFound) as refusal:
        look_at(tmp_path, {}, answers(), SHIPPED["tabbyapi"])
    assert refusal.value.code == "build.no_program"


def test_which_engine_a_program_is_of(tmp_path):
    script(tmp_path / "tabby" / "main.py")
    paths = (tmp_path / "vllm", tmp_path / "tabby", tmp_path / "llama-server", tmp_path / "other")
    named = [engine_named(path, SHIPPED.values()) for path in paths]
    assert named == ["vllm", "tabbyapi", "llama_server", "llama_server"]


def test_a_program_is_added_and_used(tmp_path):
    path = vllm(tmp_path)
    one = engines(tmp_path, ask_child=answers())
    build = one.add(path)
    assert (build.engine_id, build.version, build.in_use) == ("vllm", "0.33.0", True)
    assert one.build(str(path)).id == build.id
    assert one["vllm"].command is not None and one["vllm"].program == str(path)
    again = engines(tmp_path, ask_child=answers())
    assert again["vllm"].build == build.id
    again.forget(build.id)
    assert again["vllm"].build == ""


def test_a_program_on_the_path_is_offered_and_not_used(tmp_path):
    path = vllm(tmp_path)
    one = engines(tmp_path, environment={"PATH": str(path.parent)}, ask_child=answers())
    found = next(build for build in one.builds if build.place == str(path))
    assert (found.in_use, one["vllm"].build) == (False, "")
    one.use(found.id)
    assert one["vllm"].build == found.id


def test_an_engine_that_has_no_programs(tmp_path):
    with pytest.raises(Refused) as refusal:
        engines(tmp_path).add(tmp_path / "x", "echo")
    assert refusal.value.code == "program.not_known_as"
    assert refusal.value.values["known"] == "llama_server, vllm, tabbyapi"
