"""`weighbridge doctor`: whether all that a load needs is in order; with a model, a trial load of it."""

from __future__ import annotations

import argparse
import json
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.explain import explain_code
from weighbridge.base.paths import default_paths
from weighbridge.base.printable import printable
from weighbridge.base.units import seconds, size
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.choices.finding import Finding
    from weighbridge.library.model import Model
    from weighbridge.running.doctor import Checked
    from weighbridge.running.state import Running
    from weighbridge_engines.api import Cause

WRONG = 1


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    from weighbridge.cli.loading import add_load_options

    parser = subparsers.add_parser("doctor", help=text("look whether engines, folders and port are in order"))
    parser.add_argument(
        "model", metavar=text("MODEL"), nargs="?", help=text("load this model to see whether it can be")
    )
    parser.add_argument("--report", action="store_true", help=text("print a text to pass on where the load fails"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    add_load_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Look at all of it, then load the model that is named. The exit code is 1 where something is wrong."""
    from weighbridge.running.doctor import is_well

    checked = list(_looked(arguments))
    if not arguments.json:
        print("\n".join(_line(one) for one in checked), flush=True)
    tried = _trial(arguments) if arguments.model else None
    if arguments.json:
        print(
            json.dumps(
                {"checks": [_as_json(one) for one in checked], **(tried.as_json() if tried else {})}, default=str
            )
        )
    elif tried is not None:
        print(tried.in_words(report=arguments.report))
    return 0 if is_well(checked) and (tried is None or tried.finding is None) else WRONG


def _looked(arguments: argparse.Namespace) -> Iterator[Checked]:
    from weighbridge.base.database import Database
    from weighbridge.cli.loading import settings
    from weighbridge.hardware.detect import detect
    from weighbridge.library.places import library_roots
    from weighbridge.library.shelves.program import this_computer
    from weighbridge.running.devices import EngineDevices, with_engines_here
    from weighbridge.running.doctor import Area, cards_checked, engines_checked, folder_checked, tried

    paths, engines = default_paths(), arguments.engines()
    machine, told = with_engines_here(detect(), EngineDevices(engines, paths.data))
    yield from engines_checked(engines, told)
    yield from cards_checked(machine, told)
    yield folder_checked(paths.data, to_write=True)
    store = settings()
    for root in library_roots(paths, store.value, this_computer()):
        if root.path == paths.models or root.path.exists():
            yield folder_checked(root.path, to_write=root.path == paths.models)
    yield from tried(Area.SETTINGS, str(paths.settings), lambda: store.notices)

    def opened() -> Iterable[Cause]:
        if not paths.database.exists():
            return []
        with closing(Database(paths.database)) as database:
            return [_cause(database.notice)] if database.notice else []

    yield from tried(Area.DATABASE, str(paths.database), opened)
    yield _port(store.value.port)


def _port(port: int) -> Checked:
    """Whether the port of the settings is free; that another Weighbridge has it is as it should be."""
    from weighbridge.base.locks import OwnerLock
    from weighbridge.running.doctor import Area, Checked, State

    owner = OwnerLock(default_paths().data).owner()
    if owner is not None and owner.url is not None and owner.url.endswith(f":{port}"):
        return Checked(Area.PORT, str(port), detail=(owner.url,))
    with socket.socket() as probe:
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            from weighbridge_engines.api import Cause

            reason = error.strerror or str(error)
            return Checked(Area.PORT, str(port), State.NOTE, Cause("port.not_free", {"port": port, "reason": reason}))
    return Checked(Area.PORT, str(port))


class _Tried:
    """A trial load: how it went."""

    def __init__(
        self, model: Model, ready: Running | None, took_s: float, finding: Finding | None, report: str
    ) -> None:
        self._model, self._ready, self._took_s, self._report = model, ready, took_s, report
        self.finding = finding

    def as_json(self) -> dict[str, Any]:
        """What is printed with the checks."""
        from weighbridge.cli.diagnosis import finding_as_json

        memory_bytes = self._ready.memory_bytes if self._ready else None
        told = {"model": self._model.id, "loaded": self._ready is not None, "memory_bytes": memory_bytes}
        finding = finding_as_json(self.finding) if self.finding else None
        return {"trial": {**told, "took_s": self._took_s, "finding": finding, "report": self._report}}

    def in_words(self, *, report: bool) -> str:
        """The same for a person."""
        from weighbridge.cli.diagnosis import in_words

        if self.finding is None and self._ready is not None:
            return text(
                "{model} loads in {time} and answers; its engine holds {size}.",
                model=self._model.id,
                time=seconds(self._took_s * 1000),
                size=size(self._ready.memory_bytes) if self._ready.memory_bytes is not None else "?",
            )
        lines = in_words(self.finding) if self.finding else []
        return "\n".join([*lines, *(["", self._report] if report else [])])


def _trial(arguments: argparse.Namespace) -> _Tried:
    """Load the model as `run` would, and end it again."""
    from weighbridge.cli.diagnosis import failed, report_of, unmet
    from weighbridge.cli.loading import library_for, owner_of_engines

    model = library_for(arguments.model).resolve(arguments.model)
    with owner_of_engines(arguments, model=model) as owned:
        load, start_s = owned.supervisor.default_load(model), time.monotonic()
        finding = None if arguments.anyway else unmet(model, load, arguments.engines())
        if finding is not None:
            return _Tried(model, None, 0.0, finding, report_of(finding, (), arguments.engines()))
        try:
            ready = owned.supervisor.load(model, load).result()
        except WeighbridgeError as error:
            log = error.log if isinstance(error, EngineFailed) else ()
            finding = failed(error, model, load, arguments.engines())
            report = report_of(finding, log, arguments.engines())
            return _Tried(model, None, time.monotonic() - start_s, finding, report)
        return _Tried(model, ready, time.monotonic() - start_s, None, "")


def _line(one: Checked) -> str:
    from weighbridge.running.doctor import Area, State

    words = {
        Area.ENGINE: text("Engine"),
        Area.CARD: text("Card"),
        Area.MACHINE: text("Machine"),
        Area.FOLDER: text("Folder"),
        Area.DATABASE: text("Database"),
        Area.SETTINGS: text("Settings"),
        Area.PORT: text("Port"),
        Area.MODEL: text("Model"),
    }
    states = {State.WELL: text("well"), State.NOTE: text("note"), State.WRONG: text("wrong")}
    head = printable(" ".join(filter(None, (words[one.area], one.subject))))
    said = str(explain_code(one.cause.code, one.cause.values)) if one.cause else ", ".join(one.detail)
    return f"{states[one.state]:>6}  {head}" + (f": {said}" if said else "")


def _as_json(one: Checked) -> dict[str, Any]:
    cause = None
    if one.cause is not None:
        message = str(explain_code(one.cause.code, one.cause.values))
        cause = {**one.cause.values, "code": one.cause.code, "message": message}
    return {"area": one.area, "subject": one.subject, "state": one.state, "cause": cause, "detail": one.detail}


def _cause(error: WeighbridgeError) -> Cause:
    from weighbridge_engines.api import Cause

    return Cause(error.code, error.values)
