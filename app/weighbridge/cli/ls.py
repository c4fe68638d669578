"""`weighbridge ls`: the models that are here."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import plural, text
from weighbridge.cli.described import add_machine_options, for_which_in_words, is_described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.choices.choice import Choice, Surroundings
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model, Remote

SORTS = ("name", "fit", "speed", "size", "used")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("ls", help=text("list the models that are here"))
    parser.add_argument("--sort", choices=SORTS, default="name", help=text("in which order; default: name"))
    parser.add_argument(
        "--source",
        type=_source,
        metavar="ID",
        help=text("only models that are: own, added, or of a program (ollama ...)"),
    )
    parser.add_argument("--all", action="store_true", help=text("also those that were taken off the list"))
    add_machine_options(parser)
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the models that are here, or those of one source."""
    from weighbridge.cli.loading import scanned_library

    library = scanned_library()
    listed = _read(library, off_list=arguments.all)
    models = [model for model in listed if arguments.source in (None, model.source)]
    around, choices = _weighed(models, arguments)
    choices = _sorted(choices, arguments.sort, library)
    if arguments.json:
        skipped = [{"code": error.code, **error.values} for error in library.skipped]
        kept = _kept(models, library)
        rows = [{**_as_json(choice, around), **kept[choice.model.id]} for choice in choices]
        print(json.dumps({"models": rows, "skipped": skipped}))
        return 0
    if is_described(arguments):
        print(for_which_in_words(around.machine))
    print(_as_table(choices) if choices else _empty(library))
    off = [model.id for model in models if library.mark_of(model).off_list]
    if off:
        print(text("Off the list: {models}. Back on it: weighbridge add NAME", models=", ".join(off)))
    for problem in [*(model.problem for model in models if model.problem), *library.skipped]:
        print(explain(problem), file=sys.stderr)
    return 0


def _read(library: Library, *, off_list: bool) -> tuple[Model, ...]:
    """All models; the whole header of those whose speed the start of it leaves open. `off_list`: those too."""
    from weighbridge.base.errors import BadFile
    from weighbridge.choices.speeds import needs_whole_header

    for model in library.models:
        if needs_whole_header(model):
            with suppress(BadFile):  # it is the row's problem then
                library.read_full(model)
    return library.all_models if off_list else library.models


def _kept(models: Sequence[Model], library: Library) -> dict[str, dict[str, Any]]:
    """By id, what a model's header does not tell: the room it takes, and what is written on it."""
    from weighbridge.base.task import Task
    from weighbridge.library.disk import disk_use

    taken = disk_use(models, (), Task()).of_model
    marks = {model.id: library.mark_of(model) for model in models}
    return {
        name: {"disk_bytes": taken.get(name), "note": mark.note, "used_s": mark.used_s, "off_list": mark.off_list}
        for name, mark in marks.items()
    }


def _weighed(models: Sequence[Model], arguments: argparse.Namespace) -> tuple[Surroundings, list[Choice]]:
    """Each as it would be loaded by default, in what is free now, with its speeds."""
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.choices.choice import weigh
    from weighbridge.choices.speeds import Speedometer
    from weighbridge.cli.described import surroundings_asked
    from weighbridge.cli.loading import settings
    from weighbridge.cli.outlook import past_speeds
    from weighbridge.cli.surroundings import surroundings
    from weighbridge.running.choose import default_load
    from weighbridge.running.defaults import machine_defaults
    from weighbridge.running.paces import speed_tables
    from weighbridge.running.whole import cards_of

    tables, blueprints = speed_tables(), Blueprints()
    around = surroundings_asked(arguments, surroundings(arguments.engines()), tables.cards)
    on_cards = cards_of(lambda: around.machine, around.engines, blueprints.of)
    defaults = machine_defaults(settings().value.context, on_cards)
    defaults = replace(defaults, cores=around.machine.cpu.usable_cores or defaults.cores)
    speedometer = Speedometer(around, tables, () if is_described(arguments) else past_speeds())
    weighed = [weigh(model, blueprints.of(model), default_load(model, defaults), around) for model in models]
    return around, [replace(choice, speeds=speedometer.of(choice)) for choice in weighed]


def _sorted(choices: Sequence[Choice], by: str, library: Library) -> list[Choice]:
    """What fits best, is fastest, largest or was used last first; what is unknown comes last."""
    from weighbridge.estimates.fit import Verdict

    def fit(choice: Choice) -> tuple[int, int]:
        verdict = choice.fit.verdict if choice.fit else Verdict.UNKNOWN
        return list(Verdict).index(verdict), -((choice.fit.left_bytes if choice.fit else None) or 0)

    def slowness(choice: Choice) -> float:
        writing = choice.speeds.decode if choice.speeds else None
        return 0.0 if writing is None else -writing.mid_tps

    if by == "used":
        return sorted(choices, key=lambda choice: -(library.mark_of(choice.model).used_s or 0.0))
    if by == "fit":
        return sorted(choices, key=fit)
    if by == "speed":
        return sorted(choices, key=slowness)
    return sorted(choices, key=lambda choice: -choice.model.size_bytes) if by == "size" else list(choices)


def _as_json(choice: Choice, around: Surroundings) -> dict[str, Any]:
    from weighbridge.cli.fit_json import estimate_as_json, model_as_json
    from weighbridge.cli.speed_json import speeds_as_json
    from weighbridge.estimates.speed.speeds import PROMPT, Speeds

    fit, problem = choice.fit, choice.model.problem
    return {
        **model_as_json(choice.model),
        "verdict": fit.verdict if fit else "unknown",
        "left_bytes": fit.left_bytes if fit else None,
        "context": choice.load.context,
        "memory": estimate_as_json(fit.estimate) if fit else None,
        **speeds_as_json(choice.speeds or Speeds(), around.machine, PROMPT),
        "runner": choice.runner.engine_id if choice.runner and choice.runner.installed else None,
        "problem": {"code": problem.code, "message": str(explain(problem)), **problem.values} if problem else None,
    }


def _as_table(choices: Sequence[Choice]) -> str:
    from weighbridge.cli.table import table

    head = [
        text("name"),
        text("format"),
        text("kind"),
        text("quant"),
        text("size"),
        text("source"),
        text("trained for"),
        text("memory"),
        text("at context"),
        text("speed"),
        text("fit"),
    ]
    return table(head, [_row(choice) for choice in choices], right=(4, 6, 7, 8, 9))


def _row(choice: Choice) -> list[str]:
    from weighbridge.choices.words import lacking_in_words, total_in_words, verdict_in_words
    from weighbridge.library.shelves.known import source_in_words

    model, fit = choice.model, choice.fit
    if model.remote is not None:
        return _row_elsewhere(model, model.remote)
    trained = model.info.context_length if model.info else None
    return [
        model.id,
        model.format,
        text("damaged") if model.problem else model.kind.value,
        model.quant or "-",
        size(model.size_bytes),
        source_in_words(model.source),
        number(trained) if trained else text("unknown"),
        total_in_words(fit.estimate) if fit else "-",
        number(fit.plan.context) if fit else "-",
        _speed(choice),
        lacking_in_words(choice.runner) or (verdict_in_words(fit) if fit else "-"),
    ]


def _row_elsewhere(model: Model, remote: Remote) -> list[str]:
    """Of what an endpoint serves: nothing of it is known that could be weighed."""
    from weighbridge.choices.reach_words import reach_in_words

    context = number(remote.context) if remote.context else text("unknown")
    kind = model.kind.value
    return [
        model.id,
        model.format,
        kind,
        "-",
        "-",
        remote.endpoint,
        context,
        "-",
        "-",
        "-",
        reach_in_words(remote.reach),
    ]


def _speed(choice: Choice) -> str:
    """Of writing; "-" where there is no speed to know."""
    from weighbridge.choices.speed_words import speed_in_words
    from weighbridge.estimates.fit import Verdict

    if choice.fit is None or choice.fit.verdict is Verdict.NO:
        return "-"
    return speed_in_words(choice.speeds.decode if choice.speeds else None)


def _source(value: str) -> str:
    """One of the sources that models can have, for argparse."""
    from weighbridge.library.shelves.known import SOURCES

    if value not in SOURCES:
        known = ", ".join(SOURCES)
        raise argparse.ArgumentTypeError(text("{value} is no source; there are: {known}", value=value, known=known))
    return value


def _empty(library: Library) -> str:
    if library.models:
        return text("No models of that source. All others: weighbridge ls")
    if off := len(library.off_list):
        return plural(
            "No models: {count} was taken off the list. To see it: weighbridge ls --all",
            "No models: {count} were taken off the list. To see them: weighbridge ls --all",
            off,
            count=number(off),
        )
    folders = ", ".join(str(folder) for folder in library.folders)
    return text("No models in {folders}. Get a first one with: weighbridge starter", folders=folders)
