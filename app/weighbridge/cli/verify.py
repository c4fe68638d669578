"""`weighbridge verify`: read a model again, and compare it with what it must be."""

from __future__ import annotations

import argparse
import json
import sys

from weighbridge.base.explain import explain, explain_code
from weighbridge.base.task import Task
from weighbridge.base.words import text

WRONG = 1


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("verify", help=text("read a model again, and compare it with its known hashes"))
    parser.add_argument("model", metavar=text("MODEL"), help=text("its name, as ls shows it, or its path"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Say whether it is as it must be, and how that is known. The exit code is 1 where it is not."""
    from weighbridge.cli.at_home import at_home
    from weighbridge.cli.progress import Progress

    task = Task()
    with at_home() as home:
        model = home.library.resolve(arguments.model)
        with Progress(task, shown=sys.stderr.isatty() and not arguments.json):
            found = home.library.verify(model, task)
    if arguments.json:
        fault = found.fault
        told = {"code": found.told.code, **found.told.values}
        wrong = None if fault is None else {"code": fault.code, "message": str(explain(fault)), **fault.values}
        print(json.dumps({"id": model.id, "sound": found.sound, "told": told, "fault": wrong}, default=str))
    elif found.fault is not None:
        print(explain(found.fault))
    else:
        print(explain_code(found.told.code, found.told.values))
    return 0 if found.sound else WRONG
