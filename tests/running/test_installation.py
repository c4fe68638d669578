"""Installing builds, with a `uv` that installs nothing: what it is told, what is tried, what is left."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.formats.made_gguf import gguf
from tests.running.made_builds import APART, CARD, CARDS, LINUX, PROCESSOR, Answers, FakeUv, llama_server

from weighbridge.base.errors import BadFile, Cancelled, EngineFailed, NotFound, Refused
from weighbridge.base.explain import explain
from weighbridge.base.locks import FileLock
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.hardware.child import Answer
from weighbridge.hub.network import CANCELLED, NetworkLog
from weighbridge.running.build_trial import trial_model
from weighbridge.running.engines import Engines
from weighbridge.running.installation import Installer, disk_bytes, user_of
from weighbridge.running.uv_run import from_indexes, from_wheels, reason_in
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the made uv is a script of POSIX")
CATALOGUE = {engine_id: catalogue()[engine_id] for engine_id in ("echo", "llama_server")}


class Place:
    """A data folder with an installer over it."""

    def __init__(self, tmp_path, answers, environment=None, offline=False):
        inherited = {name: os.environ[name] for name in ("PATH", "HOME")}
        told = {**inherited, "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": "/ours", **(environment or {})}
        self.answers = answers
        self.engines = Engines(CATALOGUE, tmp_path / "data", told, (APART, CARDS), LINUX, answers)
        self.log = NetworkLog()
        self.installer = Installer(self.engines, self.log, lambda: offline)
        self.folder = self.engines.folder

    def install(self, build_id="echo-apart", **options):
        return self.installer.install(build_id, Task(), **options)

    def in_use(self):
        return self.engines["echo"].build

    def left(self):
        """What lies below the folder, but for logs."""
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".log")


@pytest.fixture
def uv(tmp_path, monkeypatch):
    monkeypatch.setattr("weighbridge.running.installation.python_for", lambda least: sys.executable)
    return FakeUv(tmp_path, monkeypatch)


@pytest.fixture
def place(tmp_path, uv):
    return Place(tmp_path, Answers(PROCESSOR))


def test_a_build_is_installed_told_of_and_used(place, uv):
    lines = []
    outcome = place.install(on_line=lines.append)
    build = outcome.build
    assert (build.id, build.version, build.in_use, build.token) == ("echo-apart", "1.5", True, None)
    assert (build.devices, outcome.why_not, place.in_use()) == ((PROCESSOR,), None, "echo-apart")
    assert build.place == str(place.folder / "echo-apart" / "1")
    venv, install = uv.calls
    assert venv[:2] == ["venv", build.place]
    assert install[:4] == ["pip", "install", "--python", str(Path(build.place, "bin", "python"))]
    assert ("--only-binary" in install, "echo-wheel>=1" in install) == (True, True)
    assert not [told for told in uv.environments if "PYTHONPATH" in told]
    assert "uv says pip install" in lines
    assert "device: CPU A Processor" in place.installer.log_of("echo-apart").read_text()
    assert place.left() == ["chosen.json", "echo-apart"]
    assert sorted(path.name for path in Path(build.place).parent.iterdir()) == ["1"]
    assert disk_bytes(build) > 0
    assert disk_bytes(place.engines.build("echo")) is None


def test_what_is_asked_is_asked_of_the_new_python(place):
    place.install()
    python = str(place.folder / "echo-apart" / "1" / "bin" / "python")
    worker = [python, "-P", "-s", "-m", "weighbridge_engines.worker", "echo"]
    assert place.answers.argv == [[*worker, "--devices"], [*worker, "--version"]]


def test_a_token_is_written_with_a_model_before_the_build_is_used(place, echo):
    build = place.install(model=echo(text="hi")).build
    assert (build.token, build.in_use) == (True, True)


def test_a_model_that_cannot_be_read_says_nothing_of_a_build(place, echo):
    unreadable = replace(echo(), format="gguf")
    assert place.install(model=unreadable).build.token is None


def test_a_build_that_writes_no_token_is_removed_and_the_old_one_stays(place, echo):
    with pytest.raises(EngineFailed) as failure:
        place.install(model=echo(fail_at="load", fail_log=["it broke"]))
    assert failure.value.code == "build.no_token"
    assert place.left() == []
    assert place.in_use() == ""
    assert "it broke" in place.installer.log_of("echo-apart").read_text()
    assert str(place.installer.log_of("echo-apart")) in str(explain(failure.value))


def test_a_build_whose_load_shows_no_sign_of_going_on_is_given_up(place, echo, monkeypatch):
    monkeypatch.setattr("weighbridge.running.build_trial.LIMIT_S", 1.0)
    with pytest.raises(EngineFailed) as failure:
        place.install(model=echo(fail_at="load", fail_how="hang"))
    assert failure.value.code == "build.no_token"
    assert "showed no sign of going on for 1 seconds" in str(explain(failure.value))
    assert place.left() == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer("", "libcuda.so.1: cannot open\n", 1), "libcuda.so.1"),
        (Answer("", "", -4), "instruction"),
        (Answer('{"devices": []}', "", 0), "(-)"),
    ],
)
def test_a_build_that_tells_no_devices_is_removed(tmp_path, uv, answer, words):
    place = Place(tmp_path, Answers(failed=answer))
    with pytest.raises(EngineFailed) as failure:
        place.install()
    assert failure.value.code == "build.no_devices"
    assert words in str(explain(failure.value))
    assert place.left() == []


def test_uv_s_own_words_are_told_where_it_fails(place, uv):
    uv.does("if argv[0] == 'pip':\n    print('  × No solution found:\\n  ╰─▶ there is no echo-wheel')\n    sys.exit(1)")
    with pytest.raises(EngineFailed) as failure:
        place.install()
    assert failure.value.code == "build.install_failed"
    assert failure.value.values["reason"] == "No solution found: there is no echo-wheel"
    assert place.left() == []
    (request,) = place.log.requests
    assert request.error == "index.unreachable"


def test_a_full_disk_is_told_as_such(place, uv):
    told = "error: Failed to download\\n  cause: failed to write\\n  cause: No space left on device (os error 28)\\n"
    uv.does(f"if argv[0] == 'pip':\n    print('{told}  hint: x')\n    sys.exit(1)")
    with pytest.raises(BadFile) as failure:
        place.install()
    assert (failure.value.code, failure.value.values["reason"]) == ("build.unwritable", "No space left on device")
    assert place.left() == []


def test_a_build_for_cards_that_sees_none_is_kept_and_not_used(place):
    outcome = place.install("echo-cuda")
    assert (outcome.why_not.code, outcome.build.in_use, place.in_use()) == ("build.sees_no_card", False, "")


def test_a_build_for_cards_that_sees_one_is_used(tmp_path, uv):
    place = Place(tmp_path, Answers(PROCESSOR, CARD))
    outcome = place.install("echo-cuda")
    assert (outcome.why_not, outcome.build.in_use) == (None, True)


def test_it_is_not_used_where_that_was_not_wanted(place):
    assert not place.install(use=False).build.in_use


def test_the_project_s_index_comes_before_the_user_s(tmp_path, uv):
    mine = {"UV_DEFAULT_INDEX": "https://mirror.example/simple", "UV_INDEX": "https://more.example/simple"}
    place = Place(tmp_path, Answers(PROCESSOR, CARD), mine)
    place.install("echo-cuda")
    told = uv.environments[-1]
    assert told["UV_INDEX"] == "https://wheels.example/cu https://more.example/simple"
    assert (told["UV_DEFAULT_INDEX"], told["UV_INDEX_STRATEGY"]) == ("https://mirror.example/simple", "first-index")
    hosts = ["wheels.example", "more.example", "mirror.example"]
    assert [(line.host, line.purpose, line.error) for line in place.log.requests] == [
        (host, "package index", None) for host in hosts
    ]
    assert all(line.seconds is not None for line in place.log.requests)


def test_pytorch_comes_from_its_own_index_in_the_builds_that_are_wanted(tmp_path, uv):
    place = Place(tmp_path, Answers(PROCESSOR))
    place.engines.recipes = (replace(APART, torch="cpu"),)
    place.install()
    venv, install = uv.calls
    assert ("--torch-backend" in venv, install[install.index("--torch-backend") + 1]) == (False, "cpu")
    assert place.log.requests[0].host == "download.pytorch.org"


def test_wheels_that_lie_here_are_enough_where_pytorch_would_come_from_its_own_index(tmp_path, uv):
    place = Place(tmp_path, Answers(PROCESSOR), offline=True)
    place.engines.recipes = (replace(APART, torch="cpu"),)
    (tmp_path / "torch-2-py3-none-any.whl").write_bytes(b"")
    place.install(wheels=tmp_path)
    assert "--torch-backend" not in uv.calls[-1]
    assert place.log.requests == ()


def test_a_newer_version_is_asked_for_of_the_indexes_and_that_is_noted(place, uv):
    place.install()
    uv.does('print(\'[{"name": "echo-wheel", "version": "1.5", "latest_version": "1.6"}]\')')
    assert place.installer.newer("echo-apart", Task()) == "1.6"
    *_, asked = uv.calls
    assert asked[:3] == ["pip", "list", "--outdated"]
    assert asked[asked.index("--python") + 1] == str(place.folder / "echo-apart" / "1" / "bin" / "python")
    assert [line.purpose for line in place.log.requests] == ["package index"] * 2
    uv.does("print('[]')")
    assert place.installer.newer("echo-apart", Task()) is None


def test_offline_and_without_an_answer_nothing_is_said_of_newer_versions(tmp_path, place, uv):
    place.install()
    with pytest.raises(Refused) as refusal:
        Place(tmp_path, Answers(PROCESSOR), offline=True).installer.newer("echo-apart", Task())
    assert refusal.value.code == "hub.offline"
    uv.does("sys.exit('error: Failed to fetch')")
    with pytest.raises(EngineFailed) as failure:
        place.installer.newer("echo-apart", Task())
    assert (failure.value.code, failure.value.values["reason"]) == ("build.newer_failed", "error: Failed to fetch")
    assert place.log.requests[-1].error == "index.unreachable"


def test_pip_s_settings_are_told_to_uv():
    source = from_indexes({"PIP_INDEX_URL": "https://u:p@mirror.example/simple", "PIP_CONFIG_FILE": os.devnull}, None)
    assert source.environment["UV_DEFAULT_INDEX"] == "https://u:p@mirror.example/simple"
    assert source.hosts == ("mirror.example",)


def test_wheels_are_installed_without_asking_anybody(tmp_path, uv):
    place = Place(tmp_path, Answers(PROCESSOR), {"UV_INDEX": "https://more.example"}, offline=True)
    wheel = tmp_path / "wheels" / "echo_wheel-1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"")
    place.install(wheels=wheel.parent)
    venv, install = uv.calls
    assert "--no-python-downloads" in venv
    where = install.index("--find-links")
    assert ("--no-index" in install, install[where + 1], "echo-wheel>=1" in install) == (True, str(wheel.parent), True)
    assert not [told for told in uv.environments if "UV_INDEX" in told or told["UV_OFFLINE"] != "1"]
    place.install(wheels=wheel)
    assert str(wheel) in uv.calls[-1]
    assert place.log.requests == ()


def test_a_constraint_of_the_user_does_not_reach_wheels_that_he_names():
    inherited = {"UV_CONSTRAINT": "/c.txt", "UV_TORCH_BACKEND": "cu130", "HOME": "h"}
    assert set(from_wheels(inherited, Path("/w")).environment) == {"HOME", "UV_OFFLINE"}


@pytest.mark.parametrize("name", ["nothing", "x.txt"])
def test_what_is_no_wheel_is_refused(place, tmp_path, name):
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(BadFile) as refusal:
        place.install(wheels=tmp_path / name)
    assert refusal.value.code == "build.no_wheels"
    assert not place.folder.exists()


def test_nothing_is_asked_offline(tmp_path, uv):
    place = Place(tmp_path, Answers(PROCESSOR), offline=True)
    with pytest.raises(Refused) as refusal:
        place.install()
    assert (refusal.value.code, uv.calls, place.log.requests) == ("hub.offline", [], ())


def test_what_there_is_not_is_refused(place):
    with pytest.raises(NotFound) as unknown:
        place.install("nothing")
    assert unknown.value.code == "build.unknown"
    place.engines.recipes = (replace(APART, systems=("windows-amd64",)),)
    with pytest.raises(Refused) as refusal:
        place.install()
    assert refusal.value.code == "build.not_for_system"


def test_a_cancel_ends_uv_and_leaves_nothing(place, uv):
    uv.does("if argv[0] == 'pip':\n    time.sleep(60)")
    task, asleep = Task(), threading.Event()
    stop = threading.Thread(target=lambda: (asleep.wait(10), task.cancel()))
    stop.start()
    with pytest.raises(Cancelled):
        place.installer.install("echo-apart", task, on_line=lambda line: asleep.set() if "pip" in line else None)
    stop.join()
    assert place.left() == []
    assert user_of(place.folder) is None


def test_an_installation_that_was_given_up_is_no_fault_of_the_index(place, uv):
    uv.does("if argv[0] == 'pip':\n    time.sleep(60)")
    task = Task()
    with pytest.raises(Cancelled):
        place.installer.install("echo-cuda", task, on_line=lambda line: task.cancel() if "pip" in line else None)
    assert {request.error for request in place.log.requests} == {CANCELLED}


def test_a_cancel_while_a_sick_driver_holds_the_new_engine_is_heard_at_once(place, uv):
    place.engines.ask_child = None
    uv.does("open(argv[1] + '/bin/python', 'w').write('#!/bin/sh\\nexec sleep 60\\n') if argv[0] == 'venv' else None")
    task = Task()
    stop = threading.Timer(0.5, task.cancel)
    stop.start()
    with pytest.raises(Cancelled):
        place.installer.install("echo-apart", task)
    stop.join()
    assert (place.left(), place.in_use(), user_of(place.folder)) == ([], "", None)


def test_a_cancel_while_a_model_loads_leaves_nothing(place, echo):
    task = Task()
    stop = threading.Timer(0.5, task.cancel)
    stop.start()
    with pytest.raises(Cancelled):
        place.installer.install("echo-apart", task, model=echo(load_s=30))
    stop.join()
    assert (place.left(), place.in_use()) == ([], "")


def test_another_process_that_installs_is_waited_for_by_the_user(place):
    place.folder.mkdir(parents=True)
    lock = FileLock(place.folder / "echo-apart.lock")
    assert lock.take()
    try:
        with pytest.raises(Refused) as refusal:
            place.install()
    finally:
        lock.release()
    assert refusal.value.code == "build.busy"
    assert place.install().build.in_use


def test_installing_anew_takes_the_place_of_the_old_one_only_once_it_works(place, uv):
    place.install()
    uv.does("if argv[0] == 'pip':\n    sys.exit(1)")
    with pytest.raises(EngineFailed):
        place.install()
    assert place.in_use() == "echo-apart"
    assert place.engines.build("echo-apart").place.endswith("/1")
    uv.does("")
    assert place.install().build.place.endswith("/2")
    assert [path.name for path in (place.folder / "echo-apart").iterdir()] == ["2"]


def test_a_build_is_removed_and_ours_is_used_again(place):
    place.install()
    place.installer.remove("echo-apart")
    assert (place.in_use(), place.left()) == ("", ["chosen.json"])
    assert not place.installer.log_of("echo-apart").exists()
    with pytest.raises(NotFound):
        place.installer.remove("echo-apart")
    with pytest.raises(Refused) as refusal:
        place.installer.remove("echo")
    assert refusal.value.code == "build.not_removable"


def test_a_build_that_runs_is_not_removed(place):
    build = place.install().build
    inside = Path(build.place, "bin", "sleeper")
    inside.symlink_to("/bin/sleep")
    with subprocess.Popen([str(inside), "60"]) as process:
        with pytest.raises(Refused) as refusal:
            place.installer.remove("echo-apart")
        process.kill()
    assert (refusal.value.code, refusal.value.values["pid"]) == ("build.in_use_now", process.pid)
    assert Path(build.place, "build.json").exists()


def test_interrupted_installations_are_cleaned_and_whole_ones_stay(place):
    place.install()
    build = place.folder / "echo-apart"
    older = build / "1" / "host" / "0.0.1-abc"
    for left in (build / "2" / "bin", build / "scratch" / "cache", place.folder / "echo-cuda" / "1", older):
        left.mkdir(parents=True)
    place.installer.clean()
    assert [path.name for path in build.iterdir()] == ["1"]
    assert place.left() == ["chosen.json", "echo-apart"]
    assert place.in_use() == "echo-apart"
    assert [str(host) for host in older.parent.iterdir()] == [place.engines["echo"].host]


def test_what_is_being_installed_is_not_cleaned(place):
    half = place.folder / "echo-apart" / "1"
    half.mkdir(parents=True)
    lock = FileLock(place.folder / "echo-apart.lock")
    assert lock.take()
    place.installer.clean()
    assert half.exists()
    lock.release()
    place.installer.clean()
    assert not half.exists()


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path, uv):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(BadFile) as refusal:
        Place(tmp_path, Answers(PROCESSOR)).install()
    assert refusal.value.code == "build.unwritable"


def test_a_program_is_tried_before_it_is_used(tmp_path, place, echo):
    path = llama_server(tmp_path)
    place.engines.ask_child = None
    file = tmp_path / "m.gguf"
    file.write_bytes(gguf({"general.architecture": "llama"}))
    model = replace(echo(), format="gguf", path=file, parts=(file,))
    with pytest.raises(EngineFailed) as failure:
        place.installer.add(path, Task(), model=model)
    assert failure.value.code == "build.program_no_token"
    build = place.engines.build(str(path))
    assert not build.in_use
    assert place.installer.add(path, Task()).in_use
    place.installer.remove(str(path))
    assert path.exists()
    assert place.engines["llama_server"].program is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["Resolved", "error: Failed to fetch: `https://x/`", "  Caused by: dns error"],
            "error: Failed to fetch: `https://x/` Caused by: dns error",
        ),
        (["  × No solution", "  ╰─▶ Because"], "No solution Because"),
        (["a", "b", "c", "d", "e"], "b c d e"),
        ([], "uv: 2"),
    ],
)
def test_the_reason_is_what_uv_said_last(lines, said):
    assert reason_in(lines, 2) == said


def test_passwords_in_addresses_are_not_logged(place, uv):
    uv.does("print('error at https://user:secret@mirror.example/simple')")
    place.install()
    written = place.installer.log_of("echo-apart").read_text()
    assert "secret" not in written
    assert "https://mirror.example/simple" in written


def test_the_smallest_model_that_chats_is_tried(echo):
    small, large = echo("small"), replace(echo("large"), size_bytes=20)
    info = _info(Kind.CHAT)
    models = [
        replace(large, info=info),
        replace(small, info=info),
        replace(small, info=_info(Kind.EMBEDDING), size_bytes=1),
    ]
    engine = CATALOGUE["echo"]
    assert trial_model(models, engine).id == "small"
    assert trial_model([replace(model, problem=NotFound("x")) for model in models], engine) is None
    assert trial_model(models, CATALOGUE["llama_server"]) is None
    assert trial_model([replace(models[0], size_bytes=1 << 40)], engine) is None


def test_a_model_that_the_engine_cannot_run_is_not_tried(echo):
    known = [replace(echo(name), info=_info(Kind.CHAT)) for name in ("a", "b")]
    odd = replace(known[0], info=replace(known[0].info, architecture="odd"), size_bytes=1)
    picky = replace(
        CATALOGUE["echo"], suits=lambda facts: Cause("openvino.architecture") if facts.architecture == "odd" else None
    )
    assert trial_model([odd, known[1]], picky).id == "b"
    assert trial_model([odd], picky) is None


def test_a_load_that_fails_for_its_model_says_nothing_of_the_build(tmp_path, uv, echo):
    picky = replace(CATALOGUE["echo"], diagnose=lambda log, code: Cause("engine.unknown_architecture"))
    place = Place(tmp_path, Answers(PROCESSOR))
    place.engines.catalogue = {**place.engines.catalogue, "echo": picky}
    build = place.install(model=echo(fail_at="load", fail_log=["who knows it"])).build
    assert (build.token, build.in_use) == (None, True)


def _info(kind):
    return ModelInfo(format="echo", kind=kind)


def test_the_note_holds_what_was_found(place):
    build = place.install().build
    note = json.loads(Path(build.place, "build.json").read_text())
    assert (note["build_id"], note["engine_id"], note["title"], note["version"]) == (
        "echo-apart",
        "echo",
        "Apart",
        "1.5",
    )
