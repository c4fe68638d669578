"""`weighbridge rm`: remove a model of ours, or take another one off the list."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.paths import user_path
from weighbridge.base.units import size
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.cli.at_home import AtHome
    from weighbridge.library.removal import Removal, Staying

DECLINED = 1


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "rm", help=text("remove a model: into the bin, or off the list where it is another program's")
    )
    parser.add_argument("model", metavar=text("MODEL"), help=text("its name, as ls shows it, or its path"))
    parser.add_argument("--yes", action="store_true", help=text("remove without a question"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Say what goes and what that frees, ask, and do it."""
    from weighbridge.cli.at_home import at_home
    from weighbridge.library.removal import plan

    with at_home() as home:
        model = home.library.resolve(arguments.model)
        removal = plan(model, home.library.all_models, home.own_folder)
        _require_meant(arguments.model, removal)
        _require_free(removal, home)
        if not arguments.json:
            print(_in_words(removal))
        if not arguments.yes and not _agreed(arguments):
            return DECLINED
        _do(removal, home)
        if arguments.json:
            print(json.dumps(_as_json(removal)))
        else:
            print(text("Taken off the list.") if removal.only_off_list else text("Removed."))
    return 0


def _require_meant(typed: str, removal: Removal) -> None:
    """Raise Refused where a path was typed that is another way to the same bytes, and is none of ours."""
    path, going = user_path(typed).absolute(), [each.path for each in removal.going]
    if removal.only_off_list or not path.exists() or any(each.is_relative_to(path) for each in going):
        return
    raise Refused("removal.other_path", path=str(path), ours=[str(each) for each in going])


def _require_free(removal: Removal, home: AtHome) -> None:
    """Raise Refused where it is loaded or being fetched."""
    from weighbridge.library.removal import refusal
    from weighbridge.running.holding import engines_hold

    held = [each.path for each in removal.going if not each.is_link]
    loaded = [removal.model.id] if engines_hold(held) else []
    refused = refusal(removal, loaded, home.jobs.all())
    if refused is not None:
        raise refused


def _agreed(arguments: argparse.Namespace) -> bool:
    if arguments.json or not sys.stdin.isatty():
        raise Refused("removal.needs_yes")
    try:
        answer = input(text("Go on? [y/N] "))
    except EOFError:
        return False
    return answer.strip().casefold().startswith(text("y"))


def _do(removal: Removal, home: AtHome) -> None:
    from weighbridge.library.removal import into_bin, remove

    if removal.only_off_list:
        home.marks.take_off(removal.model)
    else:
        remove(removal, into_bin)


def _in_words(removal: Removal) -> str:
    if removal.only_off_list:
        return text(
            "{model} is not in Weighbridge's own folder. It is taken off the list; its files stay where they are.",
            model=removal.model.id,
        )
    files = [each.path for each in removal.going if not each.is_link]
    lines = [text("Into the bin: {path}", path=path) for path in files]
    lines += [text("Only the link: {path}", path=each.path) for each in removal.going if each.is_link]
    lines += [_staying_in_words(each) for each in removal.staying]
    lines.append(text("Freed once the bin is emptied: {size}", size=size(removal.freed_bytes)))
    return "\n".join(lines)


def _staying_in_words(one: Staying) -> str:
    if one.models:
        return text("Stays, for {models} has it too: {path}", models=", ".join(one.models), path=one.path)
    return text("Stays, for it lies elsewhere: {path}", path=one.path)


def _as_json(removal: Removal) -> dict[str, Any]:
    return {
        "id": removal.model.id,
        "off_list": removal.only_off_list,
        "gone": [
            {"path": str(each.path), "link": each.is_link, "freed_bytes": each.freed_bytes} for each in removal.going
        ],
        "staying": [{"path": str(each.path), "why": each.why, "models": list(each.models)} for each in removal.staying],
        "freed_bytes": removal.freed_bytes,
    }
