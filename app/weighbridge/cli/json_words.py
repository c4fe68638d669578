"""JSON as several commands print it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weighbridge.base.explain import explain_code
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge_engines.api import Cause


def word_with_json(
    words: Any, name: str, act: Callable[[argparse.Namespace], int], told: str
) -> argparse.ArgumentParser:
    """A further word of a command, which `act` carries out, and which can print JSON as the command itself can."""
    parser: argparse.ArgumentParser = words.add_parser(name, help=told)
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=text("print JSON"))
    parser.set_defaults(run=act)
    return parser


def cause_as_json(cause: Cause) -> dict[str, Any]:
    """Its code, its sentences and the values in them."""
    return {"code": cause.code, "message": str(explain_code(cause.code, cause.values)), "values": dict(cause.values)}
