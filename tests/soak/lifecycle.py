"""Starts, stops and kills, many times, and nothing left behind. `python -m tests.soak.lifecycle [SEED]`.

Over the echo engine: 100 loads and stops in one process; 50 kills -9, of `serve` and of the window in turn, each at a
random moment of its first seconds; and ten models asked for by four clients where there is room for two. Prints what it
did; ends with an assertion where a process, thread, port or file stayed. It takes some minutes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil

from weighbridge.base.locks import OwnerLock
from weighbridge.library.index import Library
from weighbridge.running.choose import Defaults
from weighbridge.running.readiness import free_port
from weighbridge.running.scales import Scales
from weighbridge.running.supervisor import Supervisor
from weighbridge.server.sockets import take
from weighbridge.ui.single import name_of
from weighbridge_engines.catalogue import catalogue

CYCLES, KILLS, MODELS, CLIENTS, TURNS = 100, 50, 10, 4, 10
WAIT_S = 60.0
GONE_S = 5.0
KNOWN = frozenset(
    {
        "config/settings.toml",
        "data/devices.json",
        "data/downloads.lock",
        "data/in-use.lock",
        "data/weighbridge.log",
        "data/weighbridge.sqlite3",
    }
)
"""The files of a home where nothing runs."""


def main(seed: int) -> None:
    """Run all three parts."""
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        models = home / "data" / "models"
        models.mkdir(parents=True)
        for number in range(MODELS):
            script = {"tps": 0, "text": f"I am {number}", "load_s": random.random() / 5}
            (models / f"m{number}.echo").write_text(json.dumps(script), encoding="utf-8")
        cycles(models)
        many_models(models)
        kills(home)


def cycles(models: Path) -> None:
    """Load and stop, and count what this process holds before and after."""
    library = Library([models])
    library.scan()
    process = psutil.Process()
    supervisor = Supervisor(catalogue(), Defaults(cores=2))
    supervisor.lease(library.models[0]).result(WAIT_S).give_back()
    supervisor.stop(library.models[0].id).result(WAIT_S)
    before = process.num_fds(), threading.active_count()
    for number in range(CYCLES):
        model = library.models[number % MODELS]
        lease = supervisor.lease(model)
        if number % 3:
            lease.result(WAIT_S).give_back()
        else:
            time.sleep(random.random() / 3)  # stopped somewhere in its start
        supervisor.stop(model.id).result(WAIT_S)
        assert not process.children(recursive=True)
    after = process.num_fds(), threading.active_count()
    supervisor.close()
    assert after == before, (before, after)
    print(f"{CYCLES} loads and stops: no child, thread or file left", flush=True)


def many_models(models: Path) -> None:
    """Each client asks for each model in an order of its own; each answer is the right one."""
    library = Library([models])
    library.scan()
    scales = Scales(lambda: 2 - len(psutil.Process().children()), lambda model, load: 1)
    supervisor = Supervisor(catalogue(), Defaults(cores=2), scales)
    faults: list[str] = []
    answered: list[int] = []

    def client(name: int) -> None:
        order = random.Random(name)
        with httpx2.Client(trust_env=False, timeout=WAIT_S) as http:
            for _ in range(TURNS):
                number = order.randrange(MODELS)
                with supervisor.lease(library.resolve(f"m{number}")).result(WAIT_S) as lease:
                    body = {"messages": [{"role": "user", "content": "who?"}]}
                    reply = http.post(f"{lease.url}/v1/chat/completions", json=body, headers=lease.headers)
                    said = reply.json()["choices"][0]["message"]["content"]
                    answered.append(number)
                    if said != f"I am {number}":
                        faults.append(said)

    clients = [threading.Thread(target=client, args=(name,)) for name in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    supervisor.close()
    assert not faults and len(answered) == CLIENTS * TURNS, (faults, len(answered))
    print(f"{MODELS} models, {CLIENTS} clients, room for two: {len(answered)} answers, all right", flush=True)


def kills(home: Path) -> None:
    """Kill a program at a random moment, and look for what it started."""
    for number in range(KILLS):
        port = free_port()
        environment = {**os.environ, "WEIGHBRIDGE_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
        environment.pop("WEIGHBRIDGE_MODELS", None)
        (home / "config").mkdir(exist_ok=True)
        (home / "config" / "settings.toml").write_text(f"port_on = true\nport = {port}\n")
        serve = ["serve", "--model", "m0", "--port", str(port)] if number % 2 else []
        with subprocess.Popen(
            [sys.executable, "-m", "weighbridge", *serve],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as program:
            time.sleep(random.random() * 2.5)
            ask_without_waiting(port)
            time.sleep(random.random() / 3)
            os.kill(program.pid, signal.SIGKILL)
            program.wait()
        end = time.monotonic() + GONE_S
        while left := [process.pid for process in of_home(home)]:
            assert time.monotonic() < end, f"left after kill {number}: {left}"
            time.sleep(0.05)
        lock = OwnerLock(home / "data")
        lock.take("serve")
        lock.release()
        for one in take("127.0.0.1", port):
            one.close()
    ended_politely(home)
    left = sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and not known(path, home))
    assert not left, left
    sockets = list(Path(tempfile.gettempdir()).glob(f"{name_of(home / 'data')}*"))
    assert not sockets, sockets
    print(f"{KILLS} kills -9: no process, lock, port or file left", flush=True)


def ended_politely(home: Path) -> None:
    """One more window, which ends by itself: what a killed one could not take away is gone after the next."""
    environment = {**os.environ, "WEIGHBRIDGE_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen([sys.executable, "-m", "weighbridge"], env=environment, stderr=subprocess.DEVNULL) as window:
        time.sleep(4)
        window.terminate()
        assert window.wait(10) == 0


def known(path: Path, home: Path) -> bool:
    """Whether a file belongs to a home that is well."""
    folder, name = path.parent.relative_to(home), path.name
    return str(folder) in ("data/models", "data/glyphs") or f"{folder}/{name}" in KNOWN


def ask_without_waiting(port: int) -> None:
    """A request that has a model loaded, if the port is open yet."""
    body = {"model": "m1", "messages": [{"role": "user", "content": "x"}]}
    try:
        httpx2.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body, trust_env=False, timeout=0.2)
    except httpx2.HTTPError:
        return


def of_home(home: Path) -> Iterator[psutil.Process]:
    """Processes that were started for this home."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("WEIGHBRIDGE_HOME") == str(home):
                yield process
        except psutil.Error:
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else random.randrange(1 << 30))
