"""What `run`, `serve` and `doctor` tell of a load that failed or will not fit: what can be done, with its command."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.paths import default_paths
from weighbridge.base.printable import printable
from weighbridge.base.words import text
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.family import siblings
from weighbridge.choices.finding import Finding, Ground, before_load, of_failure
from weighbridge.choices.finding_report import here, report
from weighbridge.choices.finding_words import (
    command_of,
    figures_in_words,
    fix_in_words,
    numbers_in_words,
    told,
)
from weighbridge.cli import surroundings as looked_at
from weighbridge.cli.failed import Told
from weighbridge.cli.loading import scanned_library
from weighbridge.cli.outlook import past_speeds
from weighbridge.hardware.detect import detect
from weighbridge.library.model import Model
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.paces import speed_tables
from weighbridge_engines.api import Engine, Load

SHOWN_LINES = 12


def unmet(model: Model, load: Load, engines: Mapping[str, Engine]) -> Finding | None:
    """What to choose between where `load` will not fit here; None where it may, or where nobody can tell."""
    try:
        around = looked_at.surroundings(engines)
        choice = weigh(model, Blueprints().of(model), load, around, engine_id=load.engine or None)
    except (WeighbridgeError, OSError):  # a look ahead stands in nobody's way
        return None
    if choice.fit is None or before_load(choice, _ground(around)) is None:
        return None
    return before_load(choice, _ground(around, _smaller(model)))


def failed(error: WeighbridgeError, model: Model, load: Load, engines: Mapping[str, Engine]) -> Finding:
    """What happened to `load`, and what can be done."""
    around = looked_at.surroundings(engines)
    try:
        choice = weigh(model, Blueprints().of(model), load, around, engine_id=load.engine or None)
    except WeighbridgeError:
        choice = Choice(model, None, None, None, load)
    return of_failure(error, choice, _ground(around, _smaller(model)))


def report_of(finding: Finding, log: tuple[str, ...], engines: Mapping[str, Engine]) -> str:
    """A text to pass on."""
    runner = finding.asked.runner if finding.asked else None
    engine = engines.get(runner.engine_id) if runner else None
    return report(finding, detect(), engine, log, here())


def tell(finding: Finding, as_json: bool, log: tuple[str, ...] = ()) -> None:
    """On standard error, or as one JSON object on standard output."""
    if as_json:
        print(json.dumps({"error": finding_as_json(finding) | ({"log": log} if log else {})}, default=str))
        return
    print("\n".join(in_words(finding)), file=sys.stderr)
    said = finding.values.get("line")
    for line in [said] if isinstance(said, str) else log[-SHOWN_LINES:]:
        print(f"  {printable(line)}", file=sys.stderr)


def in_words(finding: Finding) -> list[str]:
    """What happened, the numbers, and a line for each thing that can be done from here."""
    lines = [str(told(finding)), *numbers_in_words(finding)]
    pairs = [(fix, command_of(fix, finding)) for fix in finding.fixes]
    fixes = [
        f"  {' · '.join(filter(None, (fix_in_words(fix, finding), figures_in_words(fix, finding))))}\n    {command}"
        for fix, command in pairs
        if command is not None
    ]
    return [*lines, text("What can be done:"), *fixes] if fixes else lines


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """The finding with its fixes, each with its command."""
    fixes = [
        {
            "kind": fix.kind,
            "words": fix_in_words(fix, finding),
            "figures": figures_in_words(fix, finding),
            "command": command_of(fix, finding),
        }
        for fix in finding.fixes
    ]
    return {**finding.values, "code": finding.code, "message": str(told(finding)), "fixes": fixes}


def refuse_what_will_not_fit(arguments: argparse.Namespace, model: Model, load: Load) -> bool:
    """Whether `load` will not fit: then the choice is told, unless `--anyway` was said.

    What is elsewhere takes no room here.
    """
    if arguments.anyway or model.remote is not None:
        return False
    finding = unmet(model, load, arguments.engines())
    if finding is None:
        return False
    tell(finding, arguments.json)
    if not arguments.json:
        print(text("To load it as it is nonetheless, add --anyway."), file=sys.stderr)
    return True


@contextmanager
def told_with_fixes(arguments: argparse.Namespace, model: Model, load: Load) -> Iterator[None]:
    """Where the load fails within, what can be done about it is told first, and the error raised is told already."""
    try:
        yield
    except EngineFailed as error:
        if model.remote is not None:
            raise
        tell(failed(error, model, load, arguments.engines()), arguments.json, error.log)
        raise Told from error


def _ground(around: Surroundings, smaller: tuple[Model, ...] = ()) -> Ground:
    blueprints = Blueprints()
    pairs = tuple((one, blueprints.of(one)) for one in smaller)
    return Ground(around, speed_tables(), past_speeds(), pairs, default_paths().models)


def _smaller(model: Model) -> tuple[Model, ...]:
    return tuple(recognise_path(one.path) for one in siblings(model, scanned_library().models))
