"""`weighbridge add`: files and folders for the library, where they lie; or what was taken off the list."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound
from weighbridge.base.explain import explain
from weighbridge.base.paths import user_path
from weighbridge.base.task import Task
from weighbridge.base.words import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.library.adding import Additions
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("add", help=text("add files or folders to the library, where they lie"))
    parser.add_argument(
        "paths",
        metavar=text("PATH"),
        nargs="+",
        help=text("a model's file, a folder with models, or the name of a model that was taken off the list"),
    )
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Add them, and tell what was added and what not. The exit code is 1 where something was not."""
    from weighbridge.cli.at_home import at_home
    from weighbridge.cli.loading import settings
    from weighbridge.library.adding import look_at

    with at_home() as home:
        named = {name: _off_list(home.library, name) for name in arguments.paths}
        paths = [user_path(name) for name, model in named.items() if model is None]
        found = look_at(paths, home.library, Path.home(), Task())
        back = [*(model for model in named.values() if model is not None), *found.back]
        for model in back:
            home.marks.put_back(model)
        found.apply(settings())
    if arguments.json:
        print(json.dumps(_as_json(found, back), default=str))
    else:
        _tell(found, back)
    return 1 if found.refused else 0


def _off_list(library: Library, name: str) -> Model | None:
    """The model off the list that is called so; what is the name of a file is a path."""
    if user_path(name).exists():
        return None
    try:
        return library.resolve(name, off_list=True)
    except NotFound:
        return None


def _tell(found: Additions, back: Sequence[Model]) -> None:
    for path in (*found.folders, *found.files):
        print(text("Added: {path}", path=path))
    for model in back:
        print(text("On the list again: {model}", model=model.id))
    for error in found.refused:
        print(explain(error), file=sys.stderr)


def _as_json(found: Additions, back: Sequence[Model]) -> dict[str, object]:
    return {
        "folders": list(found.folders),
        "files": list(found.files),
        "back": [model.id for model in back],
        "refused": [{"code": error.code, "message": str(explain(error)), **error.values} for error in found.refused],
    }
