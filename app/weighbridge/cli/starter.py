"""`weighbridge starter`: get a small model to begin with."""

from __future__ import annotations

import argparse
import json
import os
import sys

from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.cli.progress import Progress


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("starter", help=text("get the starter model (98 MB)"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fetch the starter model into the models folder and print where it is."""
    from weighbridge.base.paths import default_paths
    from weighbridge.base.settings import SettingsStore
    from weighbridge.cli.loading import open_library
    from weighbridge.hub.access import access_of
    from weighbridge.hub.network import NetworkLog
    from weighbridge.library.starter import SHA256, fetch

    task, paths = Task(), default_paths()
    settings = SettingsStore(paths.settings).value
    access = access_of(lambda: settings, lambda: None, os.environ)
    with Progress(task, shown=sys.stderr.isatty() and not arguments.json):
        path = fetch(paths.models, task, access, NetworkLog(), os.environ)
    with open_library() as library:
        library.came(path, SHA256)
    if arguments.json:
        print(json.dumps({"path": str(path), "id": path.stem}))
    else:
        print(text("The starter model is here: {path}", path=path))
    return 0
