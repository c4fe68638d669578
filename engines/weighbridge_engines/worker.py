"""The process that hosts one library engine: `python -m weighbridge_engines.worker ENGINE --port N --load JSON`.

With `--devices` in place of the rest it prints what the engine can compute on, or why it can on nothing, as one line of
JSON, and ends; with `--bandwidth` how fast it read the memory of each; with `--version` the library's version. With
`--size BYTES` in place of the port it prints what the load would take, and may itself take so much memory for that
(Linux; other systems do not hold a process to such a limit).

The key comes by environment. An engine with `serve` brings its own server; one with `open` is hosted behind `hosting`.
Nothing of SIGTERM is caught: the default action ends a process even while a library is deep in its own code.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from dataclasses import asdict

from weighbridge_engines.api import KEY_VARIABLE, Engine, Load, Unsupported
from weighbridge_engines.catalogue import engine_called
from weighbridge_engines.hosting import host

PARENT_POLL_S = 1.0


def main(argv: list[str]) -> int:
    """Serve until ended. Returns 2 where the engine is unknown or is not hosted here."""
    arguments = _arguments(argv)
    engine = engine_called(arguments.engine)
    if engine is None:
        sys.stderr.write(f"worker: no engine {arguments.engine!r}\n")
        return 2
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    if arguments.devices or arguments.bandwidth or arguments.version:
        return _tell(engine, arguments)
    load = Load.from_json(json.loads(arguments.load))
    key = os.environ.pop(KEY_VARIABLE, "")
    if arguments.size is not None:
        return _size(engine, load, arguments.size)
    if engine.serve is not None:
        engine.serve(load, arguments.port, key)
    elif engine.open is not None:
        host(engine, load, arguments.port, key)
    else:
        sys.stderr.write(f"worker: {engine.id} is not a library\n")
        return 2
    return 0


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="weighbridge-worker")
    parser.add_argument("engine")
    parser.add_argument("--devices", action="store_true")
    parser.add_argument("--bandwidth", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--size", type=int)
    parser.add_argument("--port", type=int)
    parser.add_argument("--load")
    arguments = parser.parse_args(argv)
    asked = arguments.devices or arguments.bandwidth or arguments.version
    if not asked and (arguments.load is None or (arguments.port is None) == (arguments.size is None)):
        parser.error("--load and either --port or --size are needed, or --devices, --bandwidth, or --version")
    return arguments


def _tell(engine: Engine, asked: argparse.Namespace) -> int:
    """An exception of the library ends the process: its last line on stderr is the reason."""
    name: str
    told: object
    if asked.devices:
        return _tell_devices(engine)
    if asked.bandwidth:
        name, told = "bandwidth", {} if engine.bandwidth is None else dict(engine.bandwidth())
    else:
        name, told = "version", engine.version()
    sys.stdout.write(json.dumps({name: told}) + "\n")
    return 0


def _tell_devices(engine: Engine) -> int:
    """Or why it has none that it can use, as `problem`: a code and its values."""
    told: dict[str, object]
    try:
        told = {"devices": [asdict(device) for device in engine.devices()]}
    except Unsupported as refusal:
        told = {"problem": {"code": refusal.cause.code, "values": dict(refusal.cause.values)}}
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _size(engine: Engine, load: Load, most_bytes: int) -> int:
    """The limit is one of data, not of addresses: drivers of graphics cards reserve those by the hundred gigabytes."""
    if engine.size is None:
        sys.stderr.write(f"worker: {engine.id} has no table\n")
        return 2
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    engine.size(load)
    return 0


def _end_with_parent(parent: int) -> None:
    """Where the system has no death signal (macOS), the end of the launcher is seen by the change of our parent."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
