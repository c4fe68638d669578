"""The live mapping: which build of each engine is in use."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.running.made_builds import APART, CARD, CARDS, LINUX, PROCESSOR, llama_server

from weighbridge.base.errors import NotFound, Refused
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind
from weighbridge.running.command import environment, worker_argv
from weighbridge.running.devices import EngineDevices, missing_build
from weighbridge.running.engines import Engines, live, offers_among
from weighbridge.running.installed import Note, python_of, write_note
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made environments are scripts of POSIX")
BARE = {"PATH": "/nowhere"}
CATALOGUE = {engine_id: catalogue()[engine_id] for engine_id in ("echo", "llama_server")}


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def engines(data, **changes):
    options = {"environment": BARE, "recipes": (APART, CARDS), "system": LINUX, **changes}
    return Engines(CATALOGUE, data, **options)


def put(data, build_id="echo-apart", number=1, **changes):
    """An environment as an installation leaves it."""
    folder = data / "engines" / build_id / str(number)
    python_of(folder).parent.mkdir(parents=True)
    python_of(folder).symlink_to(sys.executable)
    note = Note(build_id, "echo", "Apart", "1.5", (PROCESSOR, CARD), True, "2026-11-30")
    write_note(folder, replace(note, **changes))
    return folder


def in_use(one, engine_id="echo"):
    return [build.id for build in one.builds if build.in_use and build.engine_id == engine_id]


def test_without_builds_it_is_the_catalogue(data):
    one = engines(data)
    assert dict(one) == CATALOGUE
    assert (len(one), in_use(one), in_use(one, "llama_server")) == (2, ["echo"], ["llama_server"])
    assert not data.exists()
    assert [recipe.id for recipe in one.absent] == ["echo-apart", "echo-cuda"]


def test_an_environment_is_used_once_it_is_chosen(data):
    folder = put(data)
    one = engines(data)
    assert (in_use(one), one["echo"].build) == (["echo"], "")
    told = []
    leave = one.subscribe(lambda: told.append(one["echo"].build))
    one.use("echo-apart")
    assert (in_use(one), told) == (["echo-apart"], ["echo-apart"])
    leave()
    one.use("echo")
    assert told == ["echo-apart"]
    one.use("echo-apart")
    assert in_use(engines(data)) == ["echo-apart"]
    build = one.build("echo-apart")
    assert (build.place, build.version, build.token, build.installed_on) == (str(folder), "1.5", True, "2026-11-30")
    assert build.devices == (PROCESSOR, CARD)


def test_its_worker_has_the_engines_alone_on_its_path(data):
    folder = put(data)
    engine = engines(data).engine_of("echo-apart")
    assert worker_argv(engine, frozen=True) == [str(python_of(folder)), "-P", "-s", "-m", "weighbridge_engines.worker"]
    inherited = {"PYTHONPATH": "/ours", "PYTHONHOME": "/ours", "VIRTUAL_ENV": "/ours", "HOME": "/h", "HF_TOKEN": "t"}
    told = environment(engine, "k", inherited)
    assert told["PYTHONPATH"] == engine.host
    assert not {"PYTHONHOME", "VIRTUAL_ENV", "HF_TOKEN"} & set(told)
    assert (told["HOME"], told["WEIGHBRIDGE_ENGINE_KEY"]) == ("/h", "k")
    (package,) = Path(engine.host).iterdir()
    assert package.name == "weighbridge_engines"
    assert (package / "worker.py").is_file()
    assert engine.host.startswith(str(folder / "host"))


def test_ours_gets_nothing_taken_away():
    told = environment(catalogue()["echo"], "k", {"PYTHONPATH": "/ours", "LLAMA_ARG_HOST": "h"})
    assert (told["PYTHONPATH"], told["LLAMA_ARG_HOST"]) == ("/ours", "h")


def test_a_frozen_build_s_libraries_are_not_for_other_programs(data, monkeypatch):
    put(data)
    engine = engines(data).engine_of("echo-apart")
    inherited = {"LD_LIBRARY_PATH": "/ours", "LD_LIBRARY_PATH_ORIG": "/theirs"}
    assert environment(engine, "", inherited)["LD_LIBRARY_PATH"] == "/ours"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert environment(engine, "", inherited)["LD_LIBRARY_PATH"] == "/theirs"
    assert "LD_LIBRARY_PATH" not in environment(engine, "", {"LD_LIBRARY_PATH": "/ours"})


def test_the_newest_whole_environment_counts(data):
    put(data, number=1)
    put(data, number=2, version="1.6")
    half = put(data, number=10)
    (half / "build.json").unlink()
    assert engines(data).build("echo-apart").version == "1.6"


@pytest.mark.parametrize(
    "text",
    ["", "[", "5", "{}", '{"build_id": "echo-apart"}', '{"build_id": "other", "engine_id": "echo"}', "[" * 100_000],
)
def test_a_damaged_note_is_no_build(data, text):
    (put(data) / "build.json").write_text(text)
    assert [build.id for build in engines(data).builds] == ["echo", "llama_server"]


@pytest.mark.parametrize(
    "text", ["", "{", "5", '{"use": 5, "programs": []}', '{"use": {}, "programs": [{"path": "/x"}]}', "[" * 100_000]
)
def test_a_damaged_choice_is_no_choice(data, text):
    put(data)
    (data / "engines" / "chosen.json").write_text(text)
    assert in_use(engines(data)) == ["echo"]


def test_what_was_chosen_and_is_gone_gives_way_to_ours(data):
    put(data)
    engines(data).use("echo-apart")
    (data / "engines" / "echo-apart" / "1" / "build.json").unlink()
    assert in_use(engines(data)) == ["echo"]


def test_an_environment_without_its_python_says_so_and_is_not_put_to_use(data):
    folder = put(data)
    python_of(folder).unlink()
    one = engines(data)
    assert one.build("echo-apart").missing.code == "build.broken"
    with pytest.raises(Refused) as refusal:
        one.use("echo-apart")
    assert (refusal.value.code, refusal.value.values["build"]) == ("build.broken", "echo-apart")
    assert in_use(one) == ["echo"]


def test_where_ours_is_not_installed_another_one_is_used(data):
    put(data)
    absent = replace(catalogue()["echo"], missing=lambda: Cause("engine.not_installed"))
    one = Engines({"echo": absent}, data, BARE, (), LINUX)
    assert in_use(one) == ["echo-apart"]
    assert one["echo"].missing() is None


def test_a_change_made_by_another_process_is_seen_at_a_refresh(data):
    one = engines(data)
    told = []
    one.subscribe(lambda: told.append(1))
    one.refresh()
    assert told == []
    put(data)
    engines(data).use("echo-apart")
    one.refresh()
    assert (told, in_use(one)) == ([1], ["echo-apart"])


def test_a_program_is_added_used_and_forgotten(data, tmp_path):
    path = llama_server(tmp_path)
    one = engines(data)
    build = one.add(path)
    assert (build.version, build.place, build.in_use) == ("b9000", str(path), False)
    assert [device.id for device in build.devices] == ["CPU", "CUDA0"]
    one.use(str(path))
    again = engines(data)
    assert in_use(again, "llama_server") == [build.id]
    assert again["llama_server"].program == str(path)
    again.forget(build.id)
    assert in_use(again, "llama_server") == ["llama_server"]
    assert path.exists()


def test_a_program_on_the_path_is_seen_and_asked_only_once_it_is_used(data, tmp_path):
    path = llama_server(tmp_path)
    one = engines(data, environment={"PATH": str(tmp_path)})
    build = one.build(str(path))
    assert (build.version, build.devices, build.in_use) == (None, None, False)
    one.use(build.id)
    assert one.build(build.id).version == "b9000"
    assert in_use(one, "llama_server") == [build.id]


def test_a_program_that_is_another_by_now_is_asked_anew(data, tmp_path):
    path = llama_server(tmp_path)
    engines(data).add(path)
    llama_server(tmp_path, number=9001)
    os.utime(path, (1, 1))
    assert engines(data).build(str(path)).version == "b9001"


def test_a_program_that_is_gone_says_so(data, tmp_path):
    path = llama_server(tmp_path)
    one = engines(data)
    one.use(one.add(path).id)
    path.unlink()
    one = engines(data)
    assert one["llama_server"].missing().code == "build.no_program"
    assert in_use(one, "llama_server") == [one.build(str(path)).id]


def test_what_is_not_known_is_told(data):
    one = engines(data)
    with pytest.raises(NotFound) as unknown:
        one.use("nothing")
    assert (unknown.value.code, unknown.value.values["known"]) == ("build.not_here", "llama_server")
    with pytest.raises(NotFound) as unknown:
        one.recipe("nothing")
    assert unknown.value.values["known"] == "echo-apart, echo-cuda"


def test_a_card_that_nobody_uses_names_the_build_that_would(data, tmp_path):
    card = Device("c", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 << 30, None))
    machine = Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None), (card,))
    cuda = replace(CARDS, id="llama_server-cuda", engine_id="llama_server")
    one = engines(data, recipes=(cuda,))
    told = EngineDevices(one, data).told(machine)
    cause = missing_build(card, told)
    assert (cause.code, cause.values["build_id"]) == ("engine.build_not_installed", "llama_server-cuda")
    program = one.add(llama_server(tmp_path))
    cause = missing_build(card, EngineDevices(one, data).told(machine))
    assert (cause.code, cause.values["build_id"]) == ("engine.build_not_used", program.id)
    one.use(program.id)
    devices = EngineDevices(one, data)
    (said,) = devices.told(machine)
    assert [device.id for device in said.devices] == ["CPU", "CUDA0"]
    assert devices.builds == ("echo", program.id)


def test_answers_are_remembered_by_build(data, tmp_path):
    machine = Machine("Linux", Cpu(None, None, None, None), Memory(MemoryKind.SHARED, None, None))
    one = engines(data)
    EngineDevices(one, data).told(machine)
    one.use(one.add(llama_server(tmp_path)).id)
    EngineDevices(one, data).told(machine)
    assert set(json.loads((data / "devices.json").read_text())) == {"llama_server", one["llama_server"].build}


def test_a_plain_mapping_has_no_offers_and_can_be_made_live(data):
    assert offers_among(catalogue()) == ()
    made = live(catalogue(), data)
    assert live(made, data) is made
