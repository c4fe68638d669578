"""`weighbridge doubles`: files that are here more than once, and hard links in the place of ours."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.explain import explain
from weighbridge.base.task import Task
from weighbridge.base.units import size
from weighbridge.base.words import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.cli.at_home import AtHome
    from weighbridge.library.doubles import Double


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("doubles", help=text("find models that are here more than once"))
    parser.add_argument(
        "--link", action="store_true", help=text("put hard links in the place of Weighbridge's own copies")
    )
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell which files are alike and what links would free; with --link, make them. Other programs' files stay."""
    from weighbridge.cli.at_home import at_home
    from weighbridge.cli.progress import Progress
    from weighbridge.library.doubles import find_doubles

    task = Task()
    with at_home() as home, Progress(task, shown=sys.stderr.isatty() and not arguments.json):
        found = find_doubles(home.library.all_models, home.own_folder, home.hashes, task)
        freed_bytes, refused = _linked(found, home, task) if arguments.link else (None, [])
    if arguments.json:
        print(json.dumps(_as_json(found, freed_bytes, refused), default=str))
        return 1 if refused else 0
    print("\n\n".join(_in_words(double) for double in found) or text("No file is here more than once."))
    for error in refused:
        print(explain(error), file=sys.stderr)
    if freed_bytes is not None:
        print(text("Freed: {size}", size=size(freed_bytes)))
    return 1 if refused else 0


def _linked(found: Sequence[Double], home: AtHome, task: Task) -> tuple[int, list[Refused]]:
    """What came free, and why some could not be linked."""
    from weighbridge.library.doubles import link

    freed_bytes, refused = 0, []
    for ours, other in (pair for double in found for pair in double.links):
        try:
            freed_bytes += link(ours, other, home.own_folder, home.hashes, task)
        except Refused as error:
            refused.append(error)
    return freed_bytes, refused


def _in_words(double: Double) -> str:
    lines = [text("{size} each:", size=size(double.size_bytes))]
    lines += [f"  {copy.path}" for copy in double.copies]
    if double.links:
        lines.append(text("  Links would free {size}.", size=size(double.freed_bytes)))
    else:
        lines.append(text("  No link can be made: none is Weighbridge's own, or they are on different volumes."))
    return "\n".join(lines)


def _as_json(found: Sequence[Double], freed_bytes: int | None, refused: Sequence[Refused]) -> dict[str, Any]:
    doubles = [
        {
            "sha256": double.sha256,
            "size_bytes": double.size_bytes,
            "files": [{"path": str(copy.path), "id": copy.model.id, "ours": copy.ours} for copy in double.copies],
            "links": [{"path": str(ours.path), "to": str(other.path)} for ours, other in double.links],
            "would_free_bytes": double.freed_bytes,
        }
        for double in found
    ]
    told = [{"code": error.code, "message": str(explain(error)), **error.values} for error in refused]
    return {"doubles": doubles, "freed_bytes": freed_bytes, "refused": told}
