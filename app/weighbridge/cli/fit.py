"""`weighbridge fit`: what a model needs here, term by term and device by device, and whether it fits."""

from __future__ import annotations

import argparse
import json
import math
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound, Refused
from weighbridge.base.paths import default_paths, user_path
from weighbridge.base.words import text
from weighbridge.cli.described import add_machine_options, is_described
from weighbridge.cli.loading import positive
from weighbridge_engines.api import Cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.choices.choice import Choice, Surroundings
    from weighbridge.cli.outlook import Outlook
    from weighbridge.estimates.beside import Beside
    from weighbridge.estimates.blueprint import Blueprint
    from weighbridge.library.model import Model
    from weighbridge.running.observations import Observation
    from weighbridge.running.paces import SpeedTables
    from weighbridge.running.sizing import Table
    from weighbridge_engines.api import Load

ROLES = ("projector", "draft", "adapter")
KV_TYPES = ("f16", "bf16", "f32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("fit", help=text("show what a model needs here, and whether it fits"))
    parser.add_argument(
        "target", metavar=text("TARGET"), help=text("a model's file or folder, or its name in the library")
    )
    parser.add_argument(
        "--engine", metavar="ID", help=text("weigh for this engine; default: the one that would run it")
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
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.choices.choice import weigh
    from weighbridge.cli.described import for_which_in_words, surroundings_asked
    from weighbridge.cli.fit_json import as_json
    from weighbridge.cli.fit_words import in_words
    from weighbridge.cli.surroundings import surroundings
    from weighbridge.running.paces import speed_tables

    elsewhere, tables = is_described(arguments), speed_tables()
    if elsewhere and arguments.exact:
        raise Refused("options.not_together", one="--exact", other="--gpu / --ram / --machine")
    model = _target(arguments.target)
    around = surroundings_asked(arguments, surroundings(arguments.engines()), tables.cards)
    blueprints = Blueprints()
    load = _load(arguments, model, around, blueprints)
    helpers = _beside(model, arguments.beside, blueprints)
    choice = weigh(
        model, blueprints.of(model), load, around, engine_id=arguments.engine, beside=helpers, with_remedy=True
    )
    choice, beside, problem = _put_right(choice, around, ask_engine=arguments.exact)
    view = _outlook(arguments, choice, around, tables, blueprints)
    if arguments.json:
        print(json.dumps(as_json(choice, beside, problem, view)))
    else:
        head = [for_which_in_words(around.machine)] if elsewhere else []
        print(in_words(choice, beside, problem, view, head))
    return 0


def _beside(model: Model, roles: Sequence[str], blueprints: Blueprints) -> Beside:
    """The files that lie beside the model. Raises NotFound where there is none of a role."""
    from weighbridge.estimates.beside import Beside
    from weighbridge.formats.variant import Role
    from weighbridge.library.recognise_path import recognise_path

    found = {role: model.companion(Role(role)) for role in roles}
    missing = next((role for role, helper in found.items() if helper is None), None)
    if missing is not None:
        raise NotFound("model.no_companion", model=model.title, role=missing)
    sizes = {role: helper.size_bytes or 0 for role, helper in found.items() if helper is not None}
    draft = found.get("draft")
    return Beside(
        projector_bytes=sizes.get("projector", 0),
        adapter_bytes=sizes.get("adapter", 0),
        draft=None if draft is None else blueprints.of(recognise_path(draft.path)),
    )


def whole(value: str) -> int:
    """A whole number from 0 up, for argparse."""
    return 0 if value == "0" else positive(value)


def _tps(value: str) -> float:
    """A speed above 0, for argparse."""
    try:
        tps = float(value)
    except ValueError:
        tps = 0.0
    if not 0 < tps < math.inf:
        raise argparse.ArgumentTypeError(text("{value} is not a number above 0", value=value))
    return tps


def _target(name: str) -> Model:
    """The file or folder of that name; else the model of the library that is called so."""
    from weighbridge.cli.loading import open_library
    from weighbridge.library.recognise_path import recognise_path

    path = user_path(name)
    if path.exists():
        return recognise_path(path)
    library = open_library()
    library.scan()
    return recognise_path(library.resolve(name).path)


def _load(arguments: argparse.Namespace, model: Model, around: Surroundings, blueprints: Blueprints) -> Load:
    """The load that `run` and `serve` would make, with what was asked for here."""
    from weighbridge.cli.loading import settings
    from weighbridge.running.choose import Asked, batch_for, default_load
    from weighbridge.running.defaults import machine_defaults
    from weighbridge.running.whole import cards_of

    asked = Asked(context=arguments.context, threads=arguments.threads, slots=arguments.slots)
    on_cards = cards_of(lambda: around.machine, around.engines, blueprints.of)
    defaults = machine_defaults(settings().value.context, on_cards)
    defaults = replace(defaults, cores=around.machine.cpu.usable_cores or defaults.cores, asked=asked)
    load = replace(
        default_load(model, defaults),
        key_type=arguments.kv,
        value_type=arguments.kv,
        gpu_layers=arguments.gpu_layers,
        cpu_experts=arguments.cpu_experts,
    )
    return replace(load, batch=arguments.batch or batch_for(model, load, defaults))


def _outlook(
    arguments: argparse.Namespace, choice: Choice, around: Surroundings, tables: SpeedTables, blueprints: Blueprints
) -> Outlook:
    """Its speed, and changes where it needs some. Runs here tell nothing of another machine."""
    from weighbridge.choices.family import siblings
    from weighbridge.cli.loading import open_library
    from weighbridge.cli.outlook import Question, outlook, past_speeds
    from weighbridge.estimates.speed.speeds import PROMPT
    from weighbridge.library.recognise_path import recognise_path

    def smaller() -> list[tuple[Model, Blueprint | None]]:
        found = (recognise_path(one.path) for one in siblings(choice.model, open_library().scan()))
        return [(one, blueprints.of(one)) for one in found]

    past = () if is_described(arguments) else past_speeds()
    question = Question(arguments.depth, arguments.prompt or PROMPT, arguments.want)
    return outlook(choice, around, tables, past, question, smaller)


def _put_right(choice: Choice, around: Surroundings, *, ask_engine: bool) -> tuple[Choice, Table | None, Cause | None]:
    """The choice after what earlier loads took, or with the engine's own figures; a table that is only a check beside
    the formula; and why the engine did not tell.
    """
    from weighbridge.choices.corrections import after_loads, after_table
    from weighbridge.running.sizing import Table

    if not ask_engine:
        return after_loads(choice, around, _past()), None, None
    table = _table(choice, around)
    if not isinstance(table, Table):
        return choice, None, table
    exact = after_table(choice, around, table)
    return (choice, table, None) if exact is None else (exact, None, None)


def _past() -> tuple[Observation, ...]:
    """What earlier loads took; nothing where there is no database yet, and none is made for asking."""
    from weighbridge.base.database import Database
    from weighbridge.running.observations import Observations

    path = default_paths().database
    if not path.exists():
        return ()
    with closing(Database(path)) as database:
        return Observations(database).all()


def _table(choice: Choice, around: Surroundings) -> Table | Cause:
    """The engine's own table for the load that was weighed, or why there is none."""
    from weighbridge.choices.corrections import planned_load
    from weighbridge.hardware.memory import detect_memory
    from weighbridge.running.sizing import Sizing

    runner, model = choice.runner, choice.model
    if runner is None or runner.engine_id not in around.engines or choice.fit is None:
        return Cause("sizing.no_engine", {"format": model.format})
    sizing = Sizing(around.engines, default_paths().data / "sizing", lambda: detect_memory().available_bytes)
    return sizing.table(runner.engine_id, model.parts, planned_load(choice))
