"""`weighbridge serve` as a process of its own, over the echo engine."""

import argparse
import json
import signal
import socket
import subprocess
import sys
from contextlib import closing

import httpx2
import psutil
import pytest
from tests.processes import running

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.cli.at_endpoints import the_endpoints
from weighbridge.cli.loading import add_load_options, owner_of_engines
from weighbridge.formats.variant import Role
from weighbridge.library.marks import Marks
from weighbridge.library.model import Model
from weighbridge.running import launcher
from weighbridge.running.endpoints import table
from weighbridge.running.endpoints.endpoint import Listed, Reached
from weighbridge.running.readiness import free_port

COMMAND = [sys.executable, "-m", "weighbridge", "serve"]


@pytest.fixture
def models(home, known_devices):
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    (folder / "parrot.echo").write_text('{"tps": 0}')
    (folder / "slow.echo").write_text('{"load_s": 60}')
    return folder


def start(*options):
    return running([*COMMAND, *options], stderr=subprocess.PIPE)


def test_one_line_once_ready_and_sigterm_ends_all(models):
    port = free_port()
    with start("--model", "parrot", "--port", str(port), "--json") as process:
        told = json.loads(process.stdout.readline())
        assert told == {"url": f"http://127.0.0.1:{port}", "models": ["parrot", "slow"], "leaving": []}
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2  # launcher and engine; a look at the machine may run beside them
        body = {"messages": [{"role": "user", "content": "hello"}]}
        answer = httpx2.post(f"{told['url']}/v1/chat/completions", json=body, trust_env=False, timeout=20).json()
        assert answer["choices"][0]["message"]["content"] == "hello"
        with the_endpoints() as endpoints:
            endpoints.add("localhost:1", title="box")
            table.write_reached(endpoints._database, "box", Reached(1.0, models=(Listed("a"),)))
            assert ids_at(told["url"]) == ["a@box", "parrot", "slow"]
            endpoints.remove("box")
            assert ids_at(told["url"]) == ["parrot", "slow"]
            endpoints.add(told["url"], title="self")
            assert endpoints.reach("self").cause.code == "endpoint.self"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert not any(child.is_running() for child in children)


def ids_at(url):
    listed = httpx2.get(f"{url}/v1/models", trust_env=False, timeout=20).json()
    return sorted(model["id"] for model in listed["data"])


def test_the_port_is_that_of_the_settings_unless_told(models, home):
    port, other = free_port(), free_port()
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text(f"port = {port}\n")
    for options, expected in (((), port), (("--port", str(other)), other)):
        with start("--json", *options) as process:
            assert json.loads(process.stdout.readline())["url"] == f"http://127.0.0.1:{expected}"
            process.terminate()
            assert process.wait(10) == 0


def load_arguments():
    parser = argparse.ArgumentParser()
    add_load_options(parser)
    return parser.parse_args([], argparse.Namespace(engines=dict))


def test_context_and_idle_time_of_the_settings_hold_without_a_window(home):
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text("context = 2048\nidle_minutes = 3\n")
    arguments = load_arguments()
    with owner_of_engines(arguments) as owned:
        assert owned.supervisor._idle_s == 180
        assert owned.supervisor._defaults.context == 2048


def test_what_was_chosen_in_the_window_is_loaded_beside_a_model_without_one(home, tmp_path):
    (tmp_path / "mmproj.gguf").write_bytes(bytes(100))
    model = Model("m", "m", tmp_path / "m.gguf", (tmp_path / "m.gguf",), "gguf", "Q4_0", 1000)
    paths = default_paths()
    paths.database.parent.mkdir(parents=True)
    with closing(Database(paths.database)) as database:
        Marks(database).choose_part(model, Role.PROJECTOR, tmp_path / "mmproj.gguf")
    arguments = load_arguments()
    with owner_of_engines(arguments) as owned:
        assert owned.supervisor.default_load(model).projector == str(tmp_path / "mmproj.gguf")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the children of a process that is suspended")
def test_what_a_killed_owner_could_not_end_is_ended_by_the_next(models):
    with start("--model", "parrot", "--port", str(free_port()), "--json") as first:
        first.stdout.readline()
        [between] = [child for child in psutil.Process(first.pid).children() if launcher.__file__ in child.cmdline()]
        left = [between, *between.children()]
        between.suspend()  # so that it does not see its owner's end
        first.kill()
        first.wait(10)
        assert all(process.is_running() for process in left)
    with start("--port", str(free_port()), "--json") as second:
        assert "url" in json.loads(second.stdout.readline())
        _, alive = psutil.wait_procs(left, timeout=5)
        assert alive == []
        second.terminate()
        assert second.wait(10) == 0


def test_a_signal_while_the_model_loads(models):
    with start("--model", "slow", "--port", str(free_port())) as process:
        until_it_has_children(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stdout.read() == ""


def until_it_has_children(process):
    while not psutil.Process(process.pid).children():
        assert process.poll() is None


def test_a_taken_port_is_an_error(models):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with start("--port", str(port), "--json") as process:
            error = json.loads(process.stdout.read())["error"]
            assert process.wait(10) == 1
    assert (error["code"], error["port"]) == ("port.taken", port)


def test_an_unknown_model_is_an_error_before_the_port_opens(models):
    with start("--model", "nope") as process:
        assert process.wait(10) == 1
        assert "parrot" in process.stderr.read()


def test_a_second_one_says_where_the_first_is(models):
    port = free_port()
    with start("--port", str(port), "--json") as first:
        url = json.loads(first.stdout.readline())["url"]
        with start("--port", str(free_port()), "--json") as second:
            error = json.loads(second.stdout.read())["error"]
            assert second.wait(10) == 1
        assert (error["code"], error["pid"], error["url"]) == ("owner.other_with_port", first.pid, url)
        first.terminate()
        assert first.wait(10) == 0


def test_the_load_options_hold_for_models_that_load_when_asked_for(models):
    with start("--port", str(free_port()), "--json", "--context", "6") as process:
        url = json.loads(process.stdout.readline())["url"]
        body = {"model": "parrot", "messages": [{"role": "user", "content": "one two three four five six"}]}
        answer = httpx2.post(f"{url}/v1/chat/completions", json=body, trust_env=False, timeout=20)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert answer.status_code == 400
    assert "the context length is 6" in answer.json()["error"]["message"]
