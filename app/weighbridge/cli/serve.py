"""`weighbridge serve`: the port without a window."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from weighbridge.base.errors import BadFile
from weighbridge.base.paths import default_paths
from weighbridge.base.stop_signals import StopSignals
from weighbridge.base.words import text

if TYPE_CHECKING:
    from concurrent.futures import Future

    from starlette.types import ASGIApp

    from weighbridge.base.locks import OwnerLock
    from weighbridge.cli.loading import Owned
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model
    from weighbridge.running.state import Running

FAILED = 1
_LOOK_S = 0.1


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    from weighbridge.cli.loading import add_load_options

    parser = subparsers.add_parser("serve", help=text("answer other programs on a local port"))
    parser.add_argument(
        "--model", metavar=text("MODEL"), help=text("load this model at once; others load when asked for")
    )
    parser.add_argument("--port", type=int, metavar="N", help=text("default: as in the settings"))
    parser.add_argument("--json", action="store_true", help=text("print one line of JSON once ready"))
    add_load_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C, then end every engine. A taken port is an error, and so is another owner."""
    from weighbridge.cli.diagnosis import refuse_what_will_not_fit, told_with_fixes
    from weighbridge.cli.loading import library_for, owner_of_engines, settings
    from weighbridge.cli.setting_options import listing
    from weighbridge.server.serving import Port

    if arguments.list_settings:
        print(listing(arguments.engines().values(), arguments.engine))
        return 0
    library = library_for(arguments.model)
    model = library.resolve(arguments.model) if arguments.model else None
    with StopSignals() as stop, _ownership() as lock, owner_of_engines(arguments, lock.mark, model) as owned:
        supervisor = owned.supervisor
        port = Port(_application(library, owned))
        url = port.start(settings().value.port if arguments.port is None else arguments.port)
        lock.tell("serve", url)
        try:
            if model is not None:
                load = supervisor.default_load(model)
                if refuse_what_will_not_fit(arguments, model, load):
                    return FAILED
                with told_with_fixes(arguments, model, load):
                    if not _loaded(supervisor.load(model, load), stop):
                        return 0
            _tell(url, library.models, as_json=arguments.json)
            stop.wait()
        finally:
            port.stop()
    return 0


def _application(library: Library, owned: Owned) -> ASGIApp:
    """What the port serves; endpoints that another process adds, changes or removes are as they are now."""
    from weighbridge.running.endpoints.current import Current
    from weighbridge.server.gateway import gateway
    from weighbridge.server.requests import RequestRecords

    endpoints = owned.endpoints
    if endpoints is None:
        return gateway(library, owned.supervisor, RequestRecords())
    library.use_elsewhere(endpoints.models)
    endpoints.subscribe(library.relist)
    return gateway(Current(library, endpoints), owned.supervisor, RequestRecords(), house=endpoints.house)


@contextmanager
def _ownership() -> Iterator[OwnerLock]:
    """The data folder is ours until the end; where it cannot be written to, there is nothing to own."""
    from weighbridge.base.locks import OwnerLock

    lock = OwnerLock(default_paths().data)
    with suppress(BadFile):
        lock.take("serve")
    try:
        yield lock
    finally:
        lock.release()


def _loaded(loading: Future[Running], stop: StopSignals) -> bool:
    """Wait for the load; False where it was cut short by a signal. Raises what the load raises."""
    while not stop.wait(_LOOK_S):
        if loading.done():
            loading.result()
            return True
    return False


def _tell(url: str, models: Sequence[Model], as_json: bool) -> None:
    leaving = [model.id for model in models if model.leaves]
    if as_json:
        print(json.dumps({"url": url, "models": [model.id for model in models], "leaving": leaving}), flush=True)
        return
    print(text("Serving on {url}. Ctrl-C ends it.", url=url), flush=True)
    print("\n".join(map(_line, models)) or text("There are no models yet."), file=sys.stderr)


def _line(model: Model) -> str:
    from weighbridge.choices.reach_words import reach_in_words

    told = "" if model.remote is None else f" ({reach_in_words(model.remote.reach)})"
    return f"  {model.id}{told}"
