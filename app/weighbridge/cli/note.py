"""`weighbridge note`: write a note on a model."""

from __future__ import annotations

import argparse
import json

from weighbridge.base.words import text


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("note", help=text("write a note on a model, or show it"))
    parser.add_argument("model", metavar=text("MODEL"), help=text("its name, as ls shows it, or its path"))
    parser.add_argument("note", metavar=text("TEXT"), nargs="?", help=text("the note; empty: none any more"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the note in the place of an earlier one; without a text, show the one that is there."""
    from weighbridge.cli.at_home import at_home

    with at_home() as home:
        model = home.library.resolve(arguments.model)
        if arguments.note is not None:
            home.marks.write_note(model, arguments.note)
        note = home.marks.of(model).note
    if arguments.json:
        print(json.dumps({"id": model.id, "note": note}))
    elif arguments.note is None and note:
        print(note)
    return 0
