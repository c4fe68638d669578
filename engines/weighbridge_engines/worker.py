"""The process that hosts one library engine: `python -m weighbridge_engines.worker ENGINE --port N --load JSON`.

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

from weighbridge_engines.api import KEY_VARIABLE, Load
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.hosting import host

PARENT_POLL_S = 1.0


def main(argv: list[str]) -> int:
    """Serve until ended. Returns 2 where the engine is unknown or is not hosted here."""
    arguments = _arguments(argv)
    engine = catalogue().get(arguments.engine)
    if engine is None:
        sys.stderr.write(f"worker: no engine {arguments.engine!r}\n")
        return 2
    load = Load.from_json(json.loads(arguments.load))
    key = os.environ.pop(KEY_VARIABLE, "")
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
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
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--load", required=True)
    return parser.parse_args(argv)


def _end_with_parent(parent: int) -> None:
    """Where the system has no death signal (macOS), the end of the launcher is seen by the change of our parent."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
