"""`weighbridge fit`: what a model needs here, term by term and device by device, and whether it fits."""

from __future__ import annotations

import argparse
import math
import os
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from weighbridge.base.errors import NotFound, Refused
from weighbridge.base.paths import user_path
from weighbridge.base.words import text
from weighbridge.cli.described import add_machine_options, is_described
from weighbridge.cli.loading import KV_TYPES, positive, whole

if TYPE_CHECKING:
    from weighbridge.cli.fit_ground import Ground
    from weighbridge.estimates.beside import Beside
    from weighbridge.hub.reference import Reference
    from weighbridge.library.model import Model

_ENDINGS = (".echo", ".gguf", ".safetensors")
ROLES = ("projector", "draft", "adapter")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("fit", help=text("show what a model needs here, and whether it fits"))
    parser.add_argument(
        "target",
        metavar=text("TARGET"),
        help=text("a model's file or folder, its name in the library, or owner/name[:QUANT|:FILE] on the Hub"),
    )
    parser.add_argument(
        "--revision", metavar=text("BRANCH"), help=text("of a model on the Hub: a branch, tag or commit; default: main")
    )
    parser.add_argument(
        "--engine", metavar="ID", help=text("weigh for this engine; default: the one that would run it")
    )
    parser.add_argument("--preset", metavar=text("NAME"), help=text("weigh as this preset of the model says"))
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar=text("NAME=VALUE"),
        help=text("weigh with this setting of the load; may be given several times"),
    )
    parser.add_argument("--context", type=positive, metavar="N", help=text("context length in tokens"))
    parser.add_argument("--kv", choices=KV_TYPES, help=text("type of the KV cache; default: f16"))
    parser.add_argument("--slots", type=positive, metavar="N", help=text("answers at the same time; default: 1"))
    parser.add_argument("--gpu-layers", type=whole, metavar="N", help=text("layers on cards; default: all that fit"))
    parser.add_argument("--cpu-experts", type=whole, metavar="N", help=text("first layers whose experts stay in RAM"))
    parser.add_argument("--batch", type=positive, metavar="N", help=text("tokens of a prompt computed at a time"))
    parser.add_argument(
        "--with",
        dest="beside",
        action="append",
        choices=ROLES,
        default=[],
        help=text("with the projector, draft model or adapter that lies beside it"),
    )
    parser.add_argument("--threads", type=positive, metavar="N", help=text("threads; default: all cores but one"))
    parser.add_argument("--depth", type=whole, metavar="N", help=text("speed with so many tokens in the cache"))
    parser.add_argument("--prompt", type=positive, metavar="N", help=text("first token of a prompt of so many tokens"))
    parser.add_argument(
        "--want", type=_tps, metavar="TPS", help=text("what to change to write so many tokens a second")
    )
    add_machine_options(parser)
    parser.add_argument("--exact", action="store_true", help=text("ask llama.cpp itself for its own figure"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Weigh the target and print it."""
    from weighbridge.cli.fit_ground import Ground
    from weighbridge.cli.fit_hub import fit_at_hub
    from weighbridge.cli.fit_report import Report, report
    from weighbridge.hub.reference import Reference

    if is_described(arguments) and arguments.exact:
        raise Refused("options.not_together", one="--exact", other="--gpu / --ram / --machine")
    target = _target(arguments)
    if isinstance(target, Reference):
        if arguments.preset is not None:
            raise NotFound("preset.unknown", preset=arguments.preset, model=arguments.target, known="-")
        return fit_at_hub(arguments, target, Ground(arguments))
    if target.remote is not None:
        raise Refused("endpoint.not_weighed", model=target.id, endpoint=target.remote.endpoint)
    ground = Ground(arguments, target)
    report(arguments, ground, Report(target, _beside(target, arguments.beside, ground)))
    return 0


def _beside(model: Model, roles: list[str], ground: Ground) -> Beside:
    """The files that lie beside the model, of `roles`, and those that its load names. Raises NotFound where there is
    none of a role.
    """
    from weighbridge.estimates.beside import Beside
    from weighbridge.library.recognise_path import recognise_path
    from weighbridge.running.parts import Parts, beside, named

    near = beside(named(model, roles), lambda draft: ground.blueprints.of(recognise_path(draft.path)))
    told = Parts().beside(ground.load(model))
    return Beside(
        near.projector_bytes or told.projector_bytes, near.adapter_bytes or told.adapter_bytes, near.draft or told.draft
    )


def _tps(value: str) -> float:
    """A speed above 0, for argparse."""
    try:
        tps = float(value)
    except ValueError:
        tps = 0.0
    if not 0 < tps < math.inf:
        raise argparse.ArgumentTypeError(text("{value} is not a number above 0", value=value))
    return tps


def _target(arguments: argparse.Namespace) -> Model | Reference:
    """The file or folder of that name; else the model of the library that is called so; else one on the Hub."""
    from weighbridge.cli.loading import scanned_library
    from weighbridge.library.recognise_path import recognise_path

    name = arguments.target
    if arguments.revision is not None:
        return _reference(name, arguments.revision)
    path = user_path(name)
    if path.exists():
        return recognise_path(path)
    try:
        library = scanned_library()
        model = library.resolve(name)
        return replace(model, info=library.read_full(model))
    except NotFound as unknown:
        if unknown.code == "model.ambiguous" or _is_path(name):
            raise
        try:
            reference = _reference(name, None)
        except Refused:
            if "://" in name:  # an address is meant, and leads to no model
                raise
            raise unknown from None
        if reference.repo_id == name and name.lower().endswith(_ENDINGS):
            raise  # a file that is not here, rather than a repository of such a name
        return reference


def _is_path(name: str) -> bool:
    """Whether who types this means a place on this machine: nothing is asked of the Hub then."""
    return PurePath(name).is_absolute() or name.startswith(("./", "../", "~"))


def _reference(name: str, revision: str | None) -> Reference:
    """What is meant on the Hub; addresses may be of it, or of the mirror that is set."""
    from weighbridge.cli.loading import settings
    from weighbridge.hub.access import endpoint
    from weighbridge.hub.reference import HOSTS, is_revision, parse

    reference = parse(name, HOSTS | {urlsplit(endpoint(settings().value, os.environ)).hostname or ""})
    if revision is None:
        return reference
    if not is_revision(revision):
        raise Refused("hub.bad_name", name=revision[:200])
    return replace(reference, revision=revision)
