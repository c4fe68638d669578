"""`weighbridge login` and `weighbridge logout`: the token for the Hugging Face Hub."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.paths import default_paths, user_path
from weighbridge.base.small_files import read_small
from weighbridge.base.words import text


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register both commands."""
    login = subparsers.add_parser("login", help=text("keep a token for the Hugging Face Hub"))
    login.add_argument(
        "--token-file", metavar=text("FILE"), help=text("read the token from a file; default: asked for")
    )
    login.add_argument("--json", action="store_true", help=text("print JSON"))
    login.set_defaults(run=run)
    logout = subparsers.add_parser("logout", help=text("forget the token for the Hugging Face Hub"))
    logout.add_argument("--json", action="store_true", help=text("print JSON"))
    logout.set_defaults(run=run_logout)


def run(arguments: argparse.Namespace) -> int:
    """Keep a token, once the Hub has said whose it is."""
    from weighbridge.base.settings import SettingsStore
    from weighbridge.base.task import Task
    from weighbridge.hub.access import ENDPOINT, access_of
    from weighbridge.hub.network import NetworkLog
    from weighbridge.hub.signing_in import WHERE, sign_in
    from weighbridge.hub.token import TokenStore

    paths = default_paths()
    settings = SettingsStore(paths.settings).value
    access = access_of(lambda: settings, lambda: None, os.environ)
    if access.endpoint() != ENDPOINT:
        print(text("The token will be given to {host}.", host=access.origin().host), file=sys.stderr)
    tokens = TokenStore(paths.config, os.environ)
    made = sign_in(_read(arguments.token_file), access, NetworkLog(), tokens, Task())
    if arguments.json:
        print(json.dumps({"user": made.user, "kept": made.token.origin}))
    else:
        where = text(WHERE[made.token.origin])
        print(text("Signed in as {user}. The token is kept in {where}.", user=made.user, where=where))
    return 0


def run_logout(arguments: argparse.Namespace) -> int:
    """Forget our token; another program's stays, and is used."""
    from weighbridge.hub.signing_in import WHERE
    from weighbridge.hub.token import TokenStore

    store = TokenStore(default_paths().config, os.environ)
    had, left = store.forget(), store.token()
    if arguments.json:
        print(json.dumps({"forgotten": had, "left": left.origin if left else None}))
        return 0
    print(text("Signed out.") if had else text("No token was kept here."))
    if left is not None:
        print(text("The token of {where} is used from now on.", where=text(WHERE[left.origin])))
    return 0


def _read(token_file: str | None) -> str:
    """The token as given: never as an argument, which other programs can see, and not shown while it is typed."""
    if token_file is None:
        if sys.stdin.isatty():
            return getpass.getpass(text("Token (from https://huggingface.co/settings/tokens): "))
        return sys.stdin.readline()
    path: Path = user_path(token_file)
    try:
        return read_small(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise BadFile("file.unreadable", name=str(path), reason=reason) from error
