"""By hand: two engines that could not share a Python, side by side, from a wheel of Weighbridge and not the checkout.

    python -m tests.side_by_side --engine BUILD WHEELS MODEL --engine BUILD WHEELS MODEL

WHEELS is a folder of wheels, or "-" for the user's package index; MODEL a file or folder that this engine alone runs of
the two. In a folder of its own, which is removed: the wheel is built and installed, both builds are installed by it,
what clashes between their environments is shown, one server answers with both models, and each engine's processes are
looked at while both are loaded. That nothing of ours is on their path is what their own Python says.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LIMIT_S = 600.0
PROMPT = "What is the capital of France? Answer in one sentence."
_DISTRIBUTIONS = """
import importlib.metadata as metadata, json
told = {one.metadata["Name"]: [one.version, one.requires or []] for one in metadata.distributions()}
print(json.dumps(told))
"""
_PATH = "import json, sys; print(json.dumps(sys.path))"


@dataclass(frozen=True)
class Asked:
    """One engine's build, where its wheels are (None: in the index), and what it loads."""

    build: str
    wheels: str | None
    model: Path


def main() -> int:
    """Do all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs=3, action="append", required=True, metavar=("BUILD", "WHEELS", "MODEL"))
    told = parser.parse_args().engine
    asked = [Asked(build, None if at == "-" else at, Path(model).absolute()) for build, at, model in told]
    with tempfile.TemporaryDirectory(prefix="side-by-side-") as place:
        program = installed(Path(place))
        environment = own_environment(Path(place), asked)
        builds = [installed_build(program, environment, one) for one in asked]
        show_versions({"Weighbridge": program.with_name("python"), **{b["id"]: python_of(b) for b in builds}})
        serve(program, environment, asked, builds)
    return 0


def installed(place: Path) -> Path:
    """The `weighbridge` of a fresh environment, into which a wheel of the checkout was installed."""
    quiet = ["--disable-pip-version-check", "-q"]
    with step("build the wheel"):
        run([sys.executable, "-m", "pip", "wheel", *quiet, "--no-deps", "-w", str(place), str(ROOT)], cwd=place)
    (wheel,) = place.glob("weighbridge-*.whl")
    with step(f"install {wheel.name}"):
        run([sys.executable, "-m", "venv", str(place / "venv")])
        python = place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        run([str(python), "-m", "pip", "install", *quiet, str(wheel)], cwd=place)
    found = run([str(python), "-I", "-c", "import weighbridge; print(weighbridge.__file__)"], cwd=place)
    assert found.startswith(str(place / "venv")), found
    return python.with_name("weighbridge")


def own_environment(place: Path, asked: Sequence[Asked]) -> dict[str, str]:
    """A home of its own whose library holds the models."""
    models = place / "home" / "data" / "models"
    models.mkdir(parents=True)
    for one in asked:
        (models / one.model.name).symlink_to(one.model)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, "WEIGHBRIDGE_HOME": str(place / "home"), "HOME": str(place / "home")}


def installed_build(program: Path, environment: Mapping[str, str], asked: Asked) -> dict[str, Any]:
    """Install one, and show what it found."""
    words = [] if asked.wheels is None else ["--wheels", asked.wheels]
    with step(f"install {asked.build}"):
        told = run([str(program), "engines", "install", asked.build, *words, "--json"], environment, program.parent)
    build: dict[str, Any] = json.loads(told)["build"]
    devices = ", ".join(device["id"] for device in build["devices"])
    print(f"  version {build['version']}, token {build['token']}, {devices}, {build['disk_bytes'] / 2**20:.0f} MiB")
    return build


def python_of(build: Mapping[str, Any]) -> Path:
    """The Python of its environment."""
    return Path(build["place"], "Scripts" if os.name == "nt" else "bin", "python")


def show_versions(pythons: Mapping[str, Path]) -> None:
    """What several of them have in different versions, and which of these could not stand in for one another."""
    found = {name: distributions(python) for name, python in pythons.items()}
    shared = sorted({one for told in found.values() for one in told})
    print(f"{'package':24}" + "".join(f"{name:>20}" for name in found))
    for package in shared:
        versions = [told[package][0] for told in found.values() if package in told]
        if len(set(versions)) > 1:
            row = (told.get(package, ["-"])[0] for told in found.values())
            print(f"{package:24}" + "".join(f"{version:>20}" for version in row))
    clashes = [words for name, told in found.items() for words in clashes_of(name, told, found)]
    print("\n".join(clashes))
    assert clashes, "these two could share one Python: choose others"


def distributions(python: Path) -> dict[str, tuple[str, list[str]]]:
    """Version and requirements of each package, as its own Python tells them."""
    told = json.loads(run([str(python), "-I", "-c", _DISTRIBUTIONS]))
    return {canonicalize_name(name): (version, requires) for name, (version, requires) in told.items()}


def clashes_of(
    name: str, told: Mapping[str, tuple[str, list[str]]], found: Mapping[str, Mapping[str, tuple[str, list[str]]]]
) -> Iterator[str]:
    """Each requirement within `name` that the version in another one does not meet."""
    here = {**default_environment(), "extra": ""}
    for package, (version, requires) in sorted(told.items()):
        for wanted in map(Requirement, requires):
            if wanted.marker is not None and not wanted.marker.evaluate(here):
                continue
            for other, theirs in found.items():
                has = theirs.get(canonicalize_name(wanted.name))
                if has is not None and not wanted.specifier.contains(has[0], prereleases=True):
                    yield f"  {package} {version} ({name}) wants {wanted}; {other} has {has[0]}"


def serve(
    program: Path, environment: Mapping[str, str], asked: Sequence[Asked], builds: Sequence[Mapping[str, Any]]
) -> None:
    """One server, one answer of each, and while both are loaded a look at all their processes."""
    words = [str(program), "serve", "--port", "0", "--context", "1024", "--json"]
    with subprocess.Popen(words, env=environment, cwd=program.parent, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["url"]
            for one in asked:
                answer(address, one.model.stem if one.model.is_file() else one.model.name)
            for build in builds:
                look_at(server.pid, build, str(program.parents[1]))
        finally:
            server.terminate()


def answer(address: str, model: str) -> None:
    """Ask one thing."""
    body = {"model": model, "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 24, "temperature": 0}
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", json.dumps(body).encode(), head)
    with step(f"load and ask {model}"), urllib.request.urlopen(request, timeout=LIMIT_S) as response:
        told = json.load(response)
    print(f"  {told['choices'][0]['message']['content']!r}")


def look_at(server: int, build: Mapping[str, Any], ours: str) -> None:
    """The processes of one engine: nothing of our environment, nor of the checkout, is in their path or memory."""
    place = build["place"]
    mine = [one for one in psutil.Process(server).children(recursive=True) if one.cmdline()[0].startswith(place)]
    assert mine, f"no process runs in {place}"
    for process in mine:
        path = json.loads(run([process.cmdline()[0], *_flags(process), "-c", _PATH], process.environ(), process.cwd()))
        files = [mapped.path for mapped in process.memory_maps()]
        foreign = [one for one in (*path, *files) if one.startswith((ours, str(ROOT), sys.prefix)) and one]
        assert not foreign, foreign
        print(f"  {build['id']}, process {process.pid}: {len(files)} files in memory; its path:")
        print("".join(f"    {one}\n" for one in path), end="")


def _flags(process: psutil.Process) -> list[str]:
    """What its Python was started with: "-P" keeps the folder that it is started in off the path."""
    return [word for word in process.cmdline()[1:3] if word in ("-P", "-s", "-I")]


def run(words: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | str | None = None) -> str:
    """What it prints. An end with an error is one here, with its last lines."""
    done = subprocess.run(words, env=environment, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}")
    return done.stdout


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    print(f"{name} ...", flush=True)
    began = time.monotonic()
    yield
    print(f"  {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
