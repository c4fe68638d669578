"""`weighbridge ls`: the models that are here."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.choices.choice import Choice
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("ls", help=text("list the models that are here"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the models of the models folder and of the folders in the settings."""
    from weighbridge.cli.loading import open_library

    library = open_library()
    models = library.scan()
    choices = _weighed(models, arguments.engines()) if models else []
    if arguments.json:
        skipped = [{"code": error.code, **error.values} for error in library.skipped]
        print(json.dumps({"models": [_as_json(choice) for choice in choices], "skipped": skipped}))
        return 0
    print(_as_table(choices) if choices else _empty(library))
    for problem in [*(model.problem for model in models if model.problem), *library.skipped]:
        print(explain(problem), file=sys.stderr)
    return 0


def _weighed(models: Sequence[Model], engines: Mapping[str, Engine]) -> list[Choice]:
    """Each as it would be loaded by default, in what is free now."""
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.choices.choice import weigh
    from weighbridge.cli.loading import settings
    from weighbridge.cli.surroundings import surroundings
    from weighbridge.running.choose import default_load
    from weighbridge.running.defaults import machine_defaults
    from weighbridge.running.whole import cards_of

    around, blueprints = surroundings(engines), Blueprints()
    on_cards = cards_of(lambda: around.machine, engines, blueprints.of)
    defaults = machine_defaults(settings().value.context, on_cards)
    return [weigh(model, blueprints.of(model), default_load(model, defaults), around) for model in models]


def _as_json(choice: Choice) -> dict[str, Any]:
    from weighbridge.cli.fit_json import estimate_as_json, model_as_json

    fit, problem = choice.fit, choice.model.problem
    return {
        **model_as_json(choice.model),
        "verdict": fit.verdict if fit else "unknown",
        "left_bytes": fit.left_bytes if fit else None,
        "context": choice.load.context,
        "memory": estimate_as_json(fit.estimate) if fit else None,
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
        text("trained for"),
        text("memory"),
        text("at context"),
        text("fit"),
    ]
    return table(head, [_row(choice) for choice in choices], right=(4, 5, 6, 7))


def _row(choice: Choice) -> list[str]:
    from weighbridge.choices.words import total_in_words, verdict_in_words

    model, fit = choice.model, choice.fit
    trained = model.info.context_length if model.info else None
    return [
        model.id,
        model.format,
        text("damaged") if model.problem else model.kind.value,
        model.quant or "-",
        size(model.size_bytes),
        number(trained) if trained else text("unknown"),
        total_in_words(fit.estimate) if fit else "-",
        number(fit.plan.context) if fit else "-",
        verdict_in_words(fit) if fit else "-",
    ]


def _empty(library: Library) -> str:
    folders = ", ".join(str(folder) for folder in library.folders)
    return text("No models in {folders}. Get a first one with: weighbridge starter", folders=folders)
