"""A `uv` that installs nothing, a build that is made of echo, and a `llama-server` that only talks."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from weighbridge.hardware.child import Answer
from weighbridge.running.builds import Recipe, System
from weighbridge_engines.api import Device
from weighbridge_engines.llama_command import ROWS

LINUX = System("linux-x86_64", "2.36")
APART = Recipe(
    id="echo-apart",
    engine_id="echo",
    title="Apart",
    api="cpu",
    vendors=(),
    systems=("linux-x86_64",),
    requirements=("echo-wheel>=1",),
    index=None,
    least_python="3.11",
    licence="MIT",
    verified=True,
    source="here",
)
CARDS = replace(APART, id="echo-cuda", title="CUDA", api="cuda", vendors=("nvidia",), index="https://wheels.example/cu")
PROCESSOR = Device("CPU", "A Processor", "cpu")
CARD = Device("CUDA0", "NVIDIA GeForce RTX 3090", "gpu", 24 << 30)

_UV = """#!{python}
import json, os, sys, time
argv = sys.argv[1:]
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([argv, dict(os.environ), os.getcwd()]) + "\\n")
print("uv says", *argv[:2], flush=True)
if argv[0] == "venv":
    place = os.path.join(argv[1], "bin")
    os.makedirs(place)
    with open(os.path.join(place, "python"), "w") as file:
        file.write('#!/bin/sh\\nexec "{python}" "$@"\\n')
    os.chmod(os.path.join(place, "python"), 0o755)
{then}
"""


class FakeUv:
    """Stands in for uv: `then` is Python that it runs after making an environment, `calls` what it was asked."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self._log = folder / "uv-calls"
        self.path = folder / "uv"
        self.does("")
        monkeypatch.setattr("uv.find_uv_bin", lambda: str(self.path))

    def does(self, then: str) -> None:
        """What it does from now on."""
        self.path.write_text(_UV.format(python=sys.executable, calls=str(self._log), then=then))
        self.path.chmod(0o755)

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call."""
        return [call[0] for call in self._read()]

    @property
    def environments(self) -> list[dict[str, str]]:
        """The environment of each call."""
        return [call[1] for call in self._read()]

    def _read(self):
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


class Answers:
    """Answers in place of a worker, by the last argument; `argv` keeps the questions."""

    def __init__(self, *devices: Device, version: str | None = "1.5", failed: Answer | None = None) -> None:
        self.devices, self.version, self.failed = devices, version, failed
        self.argv: list[list[str]] = []

    def __call__(self, argv, limit_s, environment):
        self.argv.append(list(argv))
        if self.failed is not None:
            return self.failed
        if argv[-1] == "--version":
            return Answer(json.dumps({"version": self.version}), "", 0)
        return Answer(json.dumps({"devices": [device.__dict__ for device in self.devices]}), "", 0)


_SERVER = """#!{python}
import sys
answers = {answers!r}
word = sys.argv[1] if len(sys.argv) > 1 else ""
sys.stdout.write(answers.get(word, ""))
sys.exit(0 if word in answers else 1)
"""


def llama_server(folder: Path, name: str = "llama-server", without: tuple[str, ...] = (), number: int = 9000) -> Path:
    """A program that answers as llama-server does, less the options `without`."""
    options = {option for row in ROWS for way in row.ways for option in way.options} - set(without)
    helps = "".join(f"{option} X     words\n" for option in sorted(options))
    listing = "Available devices:\n  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23000 MiB free)\n"
    answers = {
        "--help": helps,
        "--version": f"version: {number} (abc1234)\nbuilt with cc\n",
        "--list-devices": listing,
    }
    path = folder / name
    path.write_text(_SERVER.format(python=sys.executable, answers=answers))
    path.chmod(0o755)
    return path
