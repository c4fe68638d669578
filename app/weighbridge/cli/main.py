"""Reading the command line, running one command, and telling what went wrong."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TextIO

from weighbridge import __version__
from weighbridge.base.errors import Cancelled, EngineFailed, WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.paths import default_paths
from weighbridge.base.printable import printable
from weighbridge.base.settings import language_choice
from weighbridge.base.words import LANGUAGES, text, use_language
from weighbridge.cli import (
    add,
    advise,
    compare,
    doctor,
    doubles,
    endpoints_command,
    engines_command,
    fit,
    hardware,
    login,
    ls,
    note,
    presets_command,
    pull,
    rm,
    run_command,
    search,
    serve,
    starter,
    verify,
)
from weighbridge.cli.argparse_words import Commands, translate_argparse
from weighbridge.cli.failed import Told
from weighbridge_engines.api import Engine

COMMANDS = (
    hardware,
    ls,
    fit,
    search,
    starter,
    pull,
    login,
    run_command,
    serve,
    compare,
    engines_command,
    endpoints_command,
    advise,
    doctor,
    *(add, note, verify, doubles, rm, presets_command),
)
"""One module a command (login and logout share one); each registers itself with `add(subparsers)` and sets `run`, which
is called with the arguments."""

FAILED, INTERRUPTED = 1, 130
SHOWN_LINES = 12


def run(argv: Sequence[str], engines: Callable[[], Mapping[str, Engine]]) -> int:
    """Run one command, over the engines that `engines()` gives.

    Returns the exit code: 0; 1 after an error that was told; 2 for a command that makes no sense; 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        _print_anything(stream)
    use_language(_told_language(argv) or language_choice(default_paths().settings))
    translate_argparse()
    try:
        arguments = _parsed(argv, argparse.Namespace(engines=cache(partial(_builds_of, engines))))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    try:
        code: int = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except (Told, WeighbridgeError) as error:
        if isinstance(error, WeighbridgeError):
            tell_error(error, as_json=getattr(arguments, "json", False))
        return FAILED
    except (Cancelled, KeyboardInterrupt):
        print(text("Stopped."), file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return FAILED
    except OSError as error:
        _forget_stdout()
        tell_error(WeighbridgeError("system", reason=str(error)), as_json=False)
        return FAILED


def _parsed(argv: Sequence[str], arguments: argparse.Namespace) -> argparse.Namespace:
    """Before 3.12.8, argparse takes a prompt that comes after options for an argument too many."""
    parser = build_parser()
    arguments, rest = parser.parse_known_args(argv, arguments)
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(arguments, "prompt", "") is None:
        arguments.prompt = rest.pop()
    if rest:
        parser.parse_args(argv)
    return arguments


def _builds_of(engines: Callable[[], Mapping[str, Engine]]) -> Mapping[str, Engine]:
    """The engines as the builds that this user has in use."""
    from weighbridge.running.engines import live

    return live(engines(), default_paths().data, default_paths().described_programs)


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    parser = argparse.ArgumentParser(prog="weighbridge", description=text("Weigh, run and serve language models."))
    parser.add_argument(
        "--version", action="version", version=f"weighbridge {__version__}", help=text("show the version and exit")
    )
    parser.add_argument(
        "--language", choices=LANGUAGES, help=text("the language of texts; default: as set in the window")
    )
    subparsers = parser.add_subparsers(action=Commands, required=True, metavar=text("COMMAND"))
    for command in COMMANDS:
        command.add(subparsers)
    return parser


def tell_error(error: WeighbridgeError, as_json: bool) -> None:
    """An error in words on stderr, with the engine's last lines where it has some, or as one JSON object on stdout."""
    explanation = explain(error)
    log = error.log if isinstance(error, EngineFailed) else ()
    if as_json:
        shown = {**error.values, "code": error.code, "message": str(explanation), **({"log": log} if log else {})}
        print(json.dumps({"error": shown}, default=str))
        return
    print(explanation, file=sys.stderr)
    for line in log[-SHOWN_LINES:]:
        print(f"  {printable(line)}", file=sys.stderr)


def _told_language(argv: Sequence[str]) -> str | None:
    """Known before the parser is built, because its help is in that language."""
    early = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    early.add_argument("--language")
    try:
        return str(early.parse_known_args(list(argv))[0].language or "") or None
    except (argparse.ArgumentError, SystemExit):
        return None


def _print_anything(stream: TextIO) -> None:
    """A file name or a thin space that the terminal's encoding lacks is no reason to fail."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def _forget_stdout() -> None:
    """The reader went away (`weighbridge ls | head`) or its disk is full: nothing more is written, not even by the
    interpreter's end.
    """
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
