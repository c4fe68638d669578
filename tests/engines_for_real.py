"""By hand: a build of llama.cpp from the user's package index, and a program that is here, tried for real.

    python -m tests.engines_for_real MODEL.gguf [--program LLAMA_SERVER] [--build ID] [--wheels PATH]

In a data folder of its own, which is removed: the build is installed, tells its devices, writes a token, is used, asked
for an answer, and removed; then the program is taken in, loads the model with half of its layers offloaded, tells its
table, and answers. Each step prints what it found and how long it took. That nothing of ours is on the path of the
worker is looked up in the worker itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from weighbridge.base.task import Task
from weighbridge.hub.network import NetworkLog
from weighbridge.library.model import Model
from weighbridge.running.build_trial import LIMIT_S
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.engines import Engines
from weighbridge.running.installation import Installer, disk_bytes
from weighbridge.running.sizing import Sizing, Table
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

ENGINE = "llama_server"
MIB = 1 << 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--build", default="llama_server-plain")
    parser.add_argument("--wheels", type=Path)
    asked = parser.parse_args()
    path = asked.model.absolute()
    model = Model(path.stem, path.stem, path, (path,), "gguf", None, path.stat().st_size)
    with tempfile.TemporaryDirectory(prefix="engines-") as place:
        engines = Engines(catalogue(), Path(place))
        installer = Installer(engines, NetworkLog(), lambda: False)
        try_build(asked, engines, installer, model)
        if asked.program is not None:
            try_program(asked.program, engines, model, Path(place))
    return 0


def try_build(asked, engines, installer, model):
    with step(f"install {asked.build}"):
        outcome = installer.install(asked.build, Task(), model=model, wheels=asked.wheels, on_line=print)
    build = outcome.build
    print(f"  {build.version}, token {build.token}, {disk_bytes(build) / MIB:.0f} MiB, devices:")
    for device in build.devices or ():
        print(f"    {device}")
    engines.use(build.id)
    answer(engines, model, Load(str(model.path), alias=model.id, context=2048, threads=1))
    with step(f"remove {build.id}"):
        installer.remove(build.id)
    print(
        f"  left: {sorted(path.name for path in engines.folder.iterdir())}, in use: {engines[ENGINE].build or 'ours'}"
    )


def try_program(path, engines, model, place):
    with step(f"take in {path}"):
        build = engines.add(path)
        engines.use(build.id)
    print(f"  {build.version}, devices: {[device.id for device in build.devices or ()]}")
    half = Load(str(model.path), alias=model.id, context=2048, threads=1, batch=256, gpu_layers=12)
    with step("its table"):
        table = Sizing(engines, place / "sizing", lambda: None).table(ENGINE, [model.path], half)
    for row in table.rows if isinstance(table, Table) else [table]:
        print(f"    {row}")
    answer(engines, model, half)


def answer(engines, model, load):
    """Load, ask, and look at the process that answers."""
    with closing(Supervisor(engines, machine_defaults(2048))) as supervisor:
        with step("load"):
            running = supervisor.load(model, load).result(LIMIT_S)
        for setting in running.settings:
            print(f"    {setting.name}: asked {setting.requested}, is {setting.effective}")
        for device, sums in running.held.items():
            print(f"    {device}: { ({name: round(amount / MIB, 1) for name, amount in sums.items()}) }")
        look_at_process(running.pid)
        lease = supervisor.lease(model).result(LIMIT_S)
        body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 24}
        head = {"Authorization": f"Bearer {lease.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{lease.url}/v1/chat/completions", json.dumps(body).encode(), head)
        with step("answer"), urllib.request.urlopen(request, timeout=LIMIT_S) as response:
            told = json.load(response)
        print(f"    {told['choices'][0]['message']['content']!r}")
        print(f"    {told.get('timings', {}).get('predicted_per_second', 0):.1f} tok/s")
        lease.give_back()


def look_at_process(launcher):
    """The engine's own process: no key in its arguments, nothing of this Python's packages in its memory or path."""
    (process,) = psutil.Process(launcher).children()
    keys = [value for name, value in process.environ().items() if "KEY" in name and value]
    assert not any(key in word for key in keys for word in process.cmdline()), "a key stands on the command line"
    ours = [path for path in sys.path if "site-packages" in path]
    files = [mapped.path for mapped in process.memory_maps()]
    theirs = process.cmdline()[0]
    if not theirs.startswith(sys.prefix):
        assert not [file for file in files for path in ours if file.startswith(path)], "our packages are in its memory"
        assert not [path for path in ours if path in process.environ().get("PYTHONPATH", "")], "ours is on its path"
    print(f"    {theirs}, PYTHONPATH={process.environ().get('PYTHONPATH')}")


@contextmanager
def step(name):
    began = time.monotonic()
    print(f"{name} ...", flush=True)
    yield
    print(f"  {time.monotonic() - began:.2f} s")


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main())
