"""`weighbridge search`: look for models on the Hub."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from weighbridge.base.errors import Refused
from weighbridge.base.words import text
from weighbridge.cli.loading import positive
from weighbridge.hub.hits import FORMATS, Query, Sort

if TYPE_CHECKING:
    from weighbridge.base.settings import Settings
    from weighbridge.hub.client import Hub
    from weighbridge.hub.hits import Hit
    from weighbridge.hub.reference import Reference

SORTS = {
    "trending": Sort.TRENDING,
    "downloads": Sort.DOWNLOADS,
    "likes": Sort.LIKES,
    "changed": Sort.CHANGED,
    "new": Sort.MADE,
}
USUAL = 30
FEW_CALLS = 50
"""From here on it is said how many calls the Hub still allows."""

_SHOWN = 12
_COUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KMBT]?)", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("search", help=text("look for models on the Hub"))
    parser.add_argument(
        "words",
        nargs="*",
        metavar=text("WORDS"),
        help=text("words of a name; or owner/name, or the address of a model's page or file"),
    )
    parser.add_argument("--format", choices=FORMATS, help=text("only of this format"))
    parser.add_argument("--task", metavar=text("TASK"), help=text('only for this, as "text-generation"'))
    parser.add_argument("--author", metavar=text("OWNER"), help=text("only of this owner"))
    parser.add_argument("--license", metavar=text("LICENCE"), help=text('only under this licence, as "apache-2.0"'))
    parser.add_argument("--base", metavar=text("REPOSITORY"), help=text("only quantisations of this model"))
    parser.add_argument(
        "--parameters", type=parameters, metavar=text("MIN:MAX"), help=text("only of so many parameters, as 6B:14B")
    )
    parser.add_argument("--sort", choices=SORTS, default="downloads", help=text("in which order; default: downloads"))
    parser.add_argument(
        "--limit",
        type=positive,
        default=USUAL,
        metavar="N",
        help=text("so many at most; default: {count}", count=USUAL),
    )
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show what the Hub lists for the words, by model; for what names one repository, that one."""
    from weighbridge.cli.at_hub import asked, the_hub

    with the_hub() as (first, kept):
        reference = _reference(arguments.words, kept)
        query = _query(arguments)
        if reference is not None and _narrows(query):
            told = text(
                "{repo_id} is one repository: what would narrow a search is not used.", repo_id=reference.repo_id
            )
            print(told, file=sys.stderr)
        hub, hits = asked(first, lambda hub: _found(hub, query, reference, arguments.limit))
        with closing(hub):
            if arguments.json:
                _tell_json(hub, hits)
            else:
                _tell(hub, hits, reference, arguments.limit)
    return 0


def parameters(value: str) -> tuple[int | None, int | None]:
    """ "6B:14B", "500M:" and ":3B" as the least and the most, for argparse."""
    first, colon, second = value.partition(":")
    least, most = _count(first), _count(second)
    upside_down = least is not None and most is not None and least > most
    if not colon or upside_down or (least is None and most is None):
        raise argparse.ArgumentTypeError(text("{value} is not a range as 6B:14B", value=value))
    return least, most


def _count(told: str) -> int | None:
    if not told.strip():
        return None
    found = _COUNT.fullmatch(told.strip())
    if found is None:
        raise argparse.ArgumentTypeError(text("{value} is not a number", value=told))
    return int(Decimal(found.group(1)) * _UNITS[found.group(2).upper()])


def _reference(words: Sequence[str], kept: Settings) -> Reference | None:
    """The one repository that is meant, where the words name one; addresses may be of the mirror that is set."""
    from weighbridge.hub.access import endpoint
    from weighbridge.hub.pasted import pasted
    from weighbridge.hub.reference import HOSTS

    line = words[0] if len(words) == 1 else shlex.join(words)
    return pasted(line, HOSTS | {urlsplit(endpoint(kept, os.environ)).hostname or ""})


def _query(arguments: argparse.Namespace) -> Query:
    least, most = arguments.parameters or (None, None)
    return Query(
        words=" ".join(arguments.words),
        format=arguments.format,
        task=arguments.task,
        author=arguments.author,
        license=arguments.license,
        base=arguments.base,
        least_parameters=least,
        most_parameters=most,
        sort=SORTS[arguments.sort],
    )


def _narrows(query: Query) -> bool:
    return replace(query, words="", sort=Sort.DOWNLOADS) != Query()


def _found(hub: Hub, query: Query, reference: Reference | None, most: int) -> tuple[Hit, ...]:
    if reference is None:
        return hub.search(query, most)
    hit = hub.hit(reference.repo_id, reference.revision or "main")
    if reference.file is not None and hit.files and not _holds(hit, reference.file):
        there = ", ".join(hit.files[:_SHOWN]) + (", ..." if len(hit.files) > _SHOWN else "")
        raise Refused("hub.no_file_there", repo_id=hit.id, file=reference.file, there=there)
    return (hit,)


def _holds(hit: Hit, path: str) -> bool:
    """Whether there is such a file, or a folder of that name."""
    return any(name == path or name.startswith(f"{path}/") for name in hit.files)


def _tell(hub: Hub, hits: Sequence[Hit], reference: Reference | None, limit: int) -> None:
    from weighbridge.cli.search_words import (
        allowance_in_words,
        hits_in_words,
        next_step_in_words,
        nothing_in_words,
    )

    print(hits_in_words(hits) if hits else nothing_in_words())
    if reference is not None:
        print(next_step_in_words(hits[0], reference))
    elif len(hits) >= limit:
        print(text("There may be more: --limit {count}", count=2 * limit))
    allowance = hub.allowances.of()
    if allowance is not None and allowance.remaining < FEW_CALLS:
        print(allowance_in_words(allowance, hub.allowances.left_s()), file=sys.stderr)


def _tell_json(hub: Hub, hits: Sequence[Hit]) -> None:
    from weighbridge.cli.search_json import allowance_as_json, groups_as_json

    allowance = hub.allowances.of()
    told = allowance_as_json(allowance, hub.allowances.left_s()) if allowance else None
    print(json.dumps({"groups": groups_as_json(hits), "allowance": told}))
