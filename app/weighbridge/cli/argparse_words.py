"""argparse's own words ("usage:", "options:", its complaints) in the language in use.

argparse takes them from gettext's domain of the process, in the language that the environment names. So its words are
marked here, stand in our catalogue, and that catalogue and the language are named to gettext. What another version of
Python says otherwise stays English.
"""

from __future__ import annotations

import argparse
import gettext
import os
from typing import TYPE_CHECKING, Any

from weighbridge.base.words import DOMAIN, language, mark
from weighbridge_resources import path

if TYPE_CHECKING:
    _Action = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    _Action = argparse._SubParsersAction

WORDS = (
    mark("usage: "),
    mark("options"),
    mark("positional arguments"),
    mark("show this help message and exit"),
    mark("%(prog)s: error: %(message)s\n"),
    mark("argument %(argument_name)s: %(message)s"),
    mark("the following arguments are required: %s"),
    mark("unrecognized arguments: %s"),
    mark("expected one argument"),
    mark("invalid choice: %(value)r (choose from %(choices)s)"),
    mark("invalid %(type)s value: %(value)r"),
    mark("ambiguous option: %(option)s could match %(matches)s"),
    mark("ignored explicit argument %r"),
)


class Commands(_Action):
    """Commands whose own help begins with what the list of commands says of them."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        return super().add_parser(name, **{"description": options.get("help"), **options})


def translate_argparse() -> None:
    """Have argparse speak the language in use, for the rest of the process."""
    os.environ["LANGUAGE"] = language()
    gettext.bindtextdomain(DOMAIN, str(path("i18n")))
    gettext.textdomain(DOMAIN)
