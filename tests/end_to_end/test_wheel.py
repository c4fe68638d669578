"""The wheel in a fresh environment, with a real model: what someone gets who installs it and points a client at it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import openai
import psutil
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("weighbridge", "weighbridge_engines", "weighbridge_resources")
START_S, END_S, ORPHANS_S = 60, 15, 5.0

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment that holds the wheel and what it requires, and nothing else."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    check([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place), str(ROOT)])
    check([sys.executable, "-m", "venv", "--without-pip", str(place / "environment")])
    (wheel,) = place.glob("*.whl")
    check([*pip, "--python", str(place / "environment"), "install", "--no-compile", str(wheel)])
    return place / "environment"


@pytest.fixture
def serving(environment, smollm2, tmp_path):
    """`weighbridge serve` with the model loaded: the process and what it told when ready."""
    command = [str(environment / "bin" / "weighbridge"), "serve", "--model", smollm2.stem, "--port", "0", "--json"]
    with (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=tmp_path,
            env={**os.environ, "WEIGHBRIDGE_MODELS": str(smollm2.parent)},
        )
    watch = threading.Timer(START_S, process.kill)
    watch.start()
    line = process.stdout.readline()
    watch.cancel()
    watch.join()
    assert line, (tmp_path / "errors").read_text("utf-8")
    yield process, json.loads(line)
    process.kill()
    process.wait()
    process.stdout.close()


def check(command):
    """Run `command`; where it fails, fail with its words."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.anchor, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def family(process):
    """All processes below `process`."""
    return psutil.Process(process.pid).children(recursive=True)


def test_the_packages_come_from_the_wheel(environment):
    names = "".join(f"import {name}; print({name}.__file__); " for name in PACKAGES)
    files = check([str(environment / "bin" / "python"), "-P", "-c", names]).split()
    assert len(files) == len(PACKAGES)
    assert all(Path(file).is_relative_to(environment) for file in files)


def test_the_client_gets_a_plain_and_a_streamed_answer_and_sigterm_ends_all(serving, smollm2):
    process, told = serving
    assert told["models"] == [smollm2.stem]
    question = {
        "model": smollm2.stem,
        "messages": [{"role": "user", "content": "Name three ships."}],
        "max_tokens": 24,
        "temperature": 0,
    }
    with openai.OpenAI(base_url=f"{told['url']}/v1", api_key="unused", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == [smollm2.stem]
        plain = client.chat.completions.create(**question)
        chunks = list(client.chat.completions.create(**question, stream=True, stream_options={"include_usage": True}))
    assert plain.model == smollm2.stem
    assert plain.choices[0].message.content
    assert plain.usage.completion_tokens > 0
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == plain.choices[0].message.content
    assert len([piece for piece in pieces if piece]) > 1
    assert chunks[-1].usage.completion_tokens == plain.usage.completion_tokens

    children = family(process)
    assert children
    process.terminate()
    assert process.wait(END_S) == 0
    assert not [child for child in children if child.is_running()]


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_kill_of_the_program_leaves_no_engine(serving):
    process, _ = serving
    children = family(process)
    assert children
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, ORPHANS_S)
    assert not alive
