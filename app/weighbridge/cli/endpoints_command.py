"""`weighbridge endpoints`: servers that someone else runs, whose models are listed beside those that are here."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge.base.words import text
from weighbridge.cli.argparse_words import Commands
from weighbridge.cli.json_words import cause_as_json, word_with_json

if TYPE_CHECKING:
    from weighbridge.running.endpoints.endpoint import Endpoint, Reached
    from weighbridge.running.endpoints.endpoints import Endpoints
    from weighbridge.running.endpoints.presets import Preset

UNREACHABLE = 1


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command and what it does with endpoints; without a word more it lists them."""
    parser = subparsers.add_parser("endpoints", help=text("servers that someone else runs, and their models"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=_ls)
    words = parser.add_subparsers(action=Commands, metavar=text("WHAT"))
    word_with_json(words, "ls", _ls, text("list them (also without a word)"))
    word_with_json(words, "presets", _presets, text("the kinds of servers that are known"))
    _add_options(word_with_json(words, "add", _add, text("add one, and ask it for its models")))
    for name, act, told in (
        ("change", _change, text("give one another address, kind or name, and ask it for its models")),
        ("rm", _rm, text("forget one, its models and its key")),
        ("test", _test, text("ask one for its models")),
        ("key", _key, text("keep a key for one")),
    ):
        word = word_with_json(words, name, act, told)
        word.add_argument("endpoint", metavar=text("NAME"), help=text("its name, as ls shows it"))
        if name == "change":
            word.add_argument(
                "--address", metavar=text("ADDRESS"), help=text("where it is now; another host loses the key")
            )
            _place_options(word, text("what kind of server it is"))
        if name == "key":
            word.add_argument("--forget", action="store_true", help=text("keep none any more"))
            _key_options(word)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar=text("ADDRESS"), help=text("http://127.0.0.1:11434, https://api.groq.com"))
    _place_options(parser, text("what kind of server it is; default: by its address"))
    _key_options(parser)


def _place_options(parser: argparse.ArgumentParser, kind: str) -> None:
    parser.add_argument("--preset", metavar="ID", help=kind)
    parser.add_argument("--name", default="", metavar=text("NAME"), help=text("how to call it"))
    parser.add_argument("--base-path", metavar=text("PATH"), help=text("what stands before /models, such as /v1"))


def _key_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key-stdin", action="store_true", help=text("read its key from standard input"))
    agreed = text("send the key also where others can read it, over http to the internet")
    parser.add_argument("--key-in-the-open", action="store_true", help=agreed)


def _ls(arguments: argparse.Namespace) -> int:
    """What is known of each; nobody is asked."""
    from weighbridge.choices.reach_words import reach_in_words, reached_in_words, warnings
    from weighbridge.cli.at_endpoints import the_endpoints
    from weighbridge.cli.table import table

    with the_endpoints() as endpoints:
        known = [(each, endpoints.reached(each.id)) for each in endpoints.all]
        if arguments.json:
            print(json.dumps({"endpoints": [_as_json(endpoints, each) for each, _ in known]}))
            return 0
    if not known:
        print(text("There are no endpoints. To add one: weighbridge endpoints add ADDRESS"))
        return 0
    head = [text("name"), text("title"), text("address"), text("key"), text("what you ask"), text("last seen")]
    rows = [
        [
            each.id,
            each.title,
            each.address,
            text("yes") if each.keyed else text("no"),
            reach_in_words(each.reach),
            reached_in_words(reached),
        ]
        for each, reached in known
    ]
    print(table(head, rows))
    for line in [line for each, _ in known for line in warnings(each)]:
        print(line, file=sys.stderr)
    return 0


def _presets(arguments: argparse.Namespace) -> int:
    from weighbridge.choices.reach_words import key_in_words, known_by_in_words
    from weighbridge.cli.table import table
    from weighbridge.running.endpoints.presets import presets

    known = presets().values()
    if arguments.json:
        print(json.dumps({"presets": [_preset_as_json(each) for each in known]}))
        return 0
    head = [text("preset"), text("server"), text("usual address"), text("key"), text("does not know"), text("known")]
    rows = [
        [
            each.id,
            each.title,
            f"{each.address}{each.base_path}" if each.address else "-",
            key_in_words(each.key),
            ", ".join(each.lacks) or "-",
            known_by_in_words(each.known_by),
        ]
        for each in known
    ]
    print(table(head, rows))
    return 0


def _add(arguments: argparse.Namespace) -> int:
    """Keep it, then ask it: one that cannot be reached now stays, and the exit code is 1."""
    from weighbridge.cli.at_endpoints import the_endpoints

    key = _read_key() if arguments.key_stdin else None
    with the_endpoints() as endpoints:
        made = endpoints.add(
            arguments.address,
            preset=arguments.preset,
            title=arguments.name,
            base_path=arguments.base_path,
            key=key,
            plain_key=arguments.key_in_the_open,
        )
        return _asked(endpoints, made, arguments.json)


def _change(arguments: argparse.Namespace) -> int:
    from weighbridge.cli.at_endpoints import the_endpoints

    with the_endpoints() as endpoints:
        changed = endpoints.change(
            arguments.endpoint,
            title=arguments.name or None,
            address=arguments.address,
            preset=arguments.preset,
            base_path=arguments.base_path,
        )
        return _asked(endpoints, changed, arguments.json)


def _rm(arguments: argparse.Namespace) -> int:
    from weighbridge.cli.at_endpoints import the_endpoints

    with the_endpoints() as endpoints:
        gone = endpoints.remove(arguments.endpoint)
    told = json.dumps({"removed": gone.id}) if arguments.json else text("{name} is forgotten.", name=gone.id)
    print(told)
    return 0


def _test(arguments: argparse.Namespace) -> int:
    from weighbridge.cli.at_endpoints import the_endpoints

    with the_endpoints() as endpoints:
        return _asked(endpoints, endpoints.get(arguments.endpoint), arguments.json)


def _key(arguments: argparse.Namespace) -> int:
    from weighbridge.cli.at_endpoints import the_endpoints

    with the_endpoints() as endpoints:
        endpoint = endpoints.get(arguments.endpoint)
        key = None if arguments.forget else _read_key()
        kept = endpoints.use_key(endpoint.id, key, plain_key=arguments.key_in_the_open)
    if arguments.json:
        print(json.dumps({"endpoint": kept.id, "keyed": kept.keyed}))
    else:
        print(text("The key is kept.") if kept.keyed else text("No key is kept."))
    return 0


def _asked(endpoints: Endpoints, endpoint: Endpoint, as_json: bool) -> int:
    """Ask it for its models, and tell what came of it."""
    from weighbridge.choices.reach_words import reach_in_words, reached_in_words, warnings

    reached = endpoints.reach(endpoint.id)
    if as_json:
        print(json.dumps({"endpoint": _as_json(endpoints, endpoint)}))
    else:
        for line in warnings(endpoint):
            print(line, file=sys.stderr)
        print(f"{endpoint.id}: {endpoint.address}, {reach_in_words(endpoint.reach)}")
        print(reached_in_words(reached))
        for model in endpoints.models_at(endpoint.id) if reached.reachable else ():
            print(f"  {model.id}")
    return 0 if reached.reachable else UNREACHABLE


def _read_key() -> str:
    """Never as an argument, which other programs can see, and not shown while it is typed."""
    return getpass.getpass(text("Key: ")) if sys.stdin.isatty() else sys.stdin.readline()


def _as_json(endpoints: Endpoints, endpoint: Endpoint) -> dict[str, Any]:
    """All that is known of it, but for the key."""
    return {
        "id": endpoint.id,
        "title": endpoint.title,
        "address": endpoint.address,
        "preset": endpoint.preset_id,
        "keyed": endpoint.keyed,
        "reach": endpoint.reach,
        "leaves_computer": endpoint.leaves,
        "encrypted": endpoint.origin.startswith("https:"),
        "reached": _reached_as_json(endpoints.reached(endpoint.id)),
        "models": [
            {
                "id": model.id,
                "name": model.remote.name,
                "context": model.remote.context,
                "sees": model.remote.sees,
            }
            for model in endpoints.models_at(endpoint.id)
            if model.remote is not None
        ],
    }


def _reached_as_json(reached: Reached | None) -> Mapping[str, Any] | None:
    if reached is None:
        return None
    cause = reached.cause
    return {
        "at_s": reached.at_s,
        "ms": reached.ms,
        "left_out": reached.left_out,
        "beyond": reached.beyond,
        "found_path": reached.found_path,
        "cause": None if cause is None else cause_as_json(cause),
    }


def _preset_as_json(preset: Preset) -> dict[str, Any]:
    return {
        "id": preset.id,
        "title": preset.title,
        "known_by": preset.known_by,
        "address": preset.address,
        "base_path": preset.base_path,
        "local": preset.local,
        "key": preset.key,
        "ready": preset.ready,
        "fields": None if preset.fields is None else sorted(preset.fields),
        "lacks": list(preset.lacks),
    }
