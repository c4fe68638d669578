"""`weighbridge compare MODEL[:ENGINE] ...`: the same prompt through several models and engines, measured."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge import __version__
from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.base.paths import user_path
from weighbridge.base.task import Task
from weighbridge.base.words import text

if TYPE_CHECKING:
    from weighbridge.bench.plan import Entry, Plan
    from weighbridge.bench.result import Comparison
    from weighbridge.bench.workload import Workload
    from weighbridge.chat.client import ChatClient
    from weighbridge.cli.compare_entries import Wanted
    from weighbridge.cli.loading import Owned
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine, Load

FAILED, INTERRUPTED = 1, 130
TURNS = 3
_KINDS = (".md", ".json")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    from weighbridge.cli.loading import KV_TYPES, positive, whole

    parser = subparsers.add_parser("compare", help=text("measure models and engines with the same prompt"))
    parser.add_argument(
        "models",
        metavar=text("MODEL[:ENGINE]"),
        nargs="+",
        help=text("a name as ls shows it, a file or a folder; behind a colon, the engine that loads it"),
    )
    parser.add_argument(
        "--engines", dest="engine_ids", metavar="ID,ID", help=text("load each model by each of these engines")
    )
    _add_questions(parser)
    parser.add_argument("--turns", type=positive, default=TURNS, metavar="N", help=text("answers of each; default: 3"))
    parser.add_argument(
        "--warm-up",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=text("a short answer first, which is not measured"),
    )
    parser.add_argument(
        "--interleave",
        action="store_true",
        help=text("load all at once, where memory has room, and let them take turns"),
    )
    parser.add_argument("--seed", type=int, metavar="N", help=text("told to engines; answers are greedy in any case"))
    group = parser.add_argument_group(text("how they are loaded, without their presets"))
    group.add_argument("--context", type=positive, metavar="N", help=text("context length in tokens"))
    group.add_argument("--threads", type=positive, metavar="N", help=text("threads; default: all cores but one"))
    group.add_argument("--kv", choices=KV_TYPES, help=text("type of the KV cache; default: f16"))
    group.add_argument("--gpu-layers", type=whole, metavar="N", help=text("layers on cards; default: all that fit"))
    group.add_argument("--anyway", action="store_true", help=text("load also what will not fit"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.add_argument("--report", metavar=text("FILE"), help=text("write a report: .md or .json"))
    parser.set_defaults(run=run)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    from weighbridge.cli.loading import positive

    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--prompt", metavar=text("TEXT"), help=text("what is asked"))
    asked.add_argument("--prompt-file", metavar=text("FILE"), help=text("ask what stands in this file"))
    asked.add_argument(
        "--workload",
        metavar=text("NAME"),
        help=text("ask what comes with the program: question (the default), summary, code or story"),
    )
    parser.add_argument("--tokens", type=positive, metavar="N", help=text("end each answer after this many tokens"))


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, report. Ctrl-C keeps and prints what is done; what failed is a column that says why."""
    from weighbridge.chat.client import ChatClient
    from weighbridge.cli.compare_entries import engine_ids_in, models_of, wanted
    from weighbridge.cli.loading import owner_of_engines, scanned_library

    workload, report = _workload(arguments), _report_file(arguments.report)
    engines: Mapping[str, Engine] = arguments.engines()
    asked = wanted(arguments.models, engine_ids_in(arguments.engine_ids, engines), engines)
    models = models_of([one.name for one in asked], scanned_library, engines)
    client = ChatClient()
    try:
        with owner_of_engines(_as_loaded(arguments)) as owned:
            plan, too_large = _plan(arguments, _entries(arguments, asked, models, owned), workload)
            comparison = _measured(arguments, plan, too_large, owned, client)
            _tell(comparison, report, as_json=arguments.json)  # before engines are ended, which a second Ctrl-C cuts
    finally:
        client.close()
    if comparison.stopped:
        return INTERRUPTED
    return FAILED if any(column.error is not None for column in comparison.columns) else 0


def _workload(arguments: argparse.Namespace) -> Workload:
    from weighbridge.bench.workload import DEFAULT, named, of_file, of_text

    if arguments.prompt is not None:
        return of_text(arguments.prompt, arguments.tokens)
    if arguments.prompt_file is not None:
        return of_file(user_path(arguments.prompt_file), arguments.tokens)
    workload = named(arguments.workload or DEFAULT)
    return replace(workload, tokens=arguments.tokens or workload.tokens)


def _report_file(told: str | None) -> Path | None:
    """Where the report goes, looked at before anything is measured."""
    if told is None:
        return None
    path = user_path(told)
    if path.suffix.lower() not in _KINDS:
        raise Refused("compare.report_kind", name=path.name)
    if not path.parent.is_dir():
        raise Refused("compare.report_folder", path=str(path.parent))
    return path


def _as_loaded(arguments: argparse.Namespace) -> argparse.Namespace:
    """All options of a load; those that `compare` does not have are left to what suits the model."""
    left: dict[str, object] = {
        "slots": None,
        "cpu_experts": None,
        "engine": None,
        "in_process": False,
        "preset": None,
        "set": [],
    }
    return argparse.Namespace(**vars(arguments), **left)


def _entries(
    arguments: argparse.Namespace, asked: Sequence[Wanted], models: Mapping[str, Model], owned: Owned
) -> tuple[Entry, ...]:
    from weighbridge.cli.compare_entries import entries_of
    from weighbridge.cli.diagnosis import unmet

    engines = arguments.engines()

    def hindered(model: Model, load: Load) -> WeighbridgeError | None:
        finding = None if arguments.anyway else unmet(model, load, engines)
        return None if finding is None else Refused(finding.code, **finding.values)

    return entries_of(asked, models, engines, owned.supervisor.plain_load, hindered)


def _plan(arguments: argparse.Namespace, entries: tuple[Entry, ...], workload: Workload) -> tuple[Plan, bool]:
    """What is to be done; and whether all at once was wished for and has no room."""
    from weighbridge.bench.plan import Plan

    fits = not arguments.interleave or _fit_together(arguments, entries)
    plan = Plan(
        entries, workload, arguments.turns, arguments.warm_up, arguments.interleave and fits, seed=arguments.seed
    )
    return plan, not fits


def _fit_together(arguments: argparse.Namespace, entries: Sequence[Entry]) -> bool:
    from weighbridge.bench.plan import fit_together
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.cli.compare_entries import needs_bytes
    from weighbridge.running.scales import machine_scales

    scales = machine_scales(Blueprints().of, arguments.engines())
    return fit_together(needs_bytes(entries, scales.need_bytes), scales.available_bytes())


def _measured(
    arguments: argparse.Namespace, plan: Plan, too_large: bool, owned: Owned, client: ChatClient
) -> Comparison:
    """Carry `plan` out, as far as the user lets it."""
    from weighbridge.bench.result import Comparison
    from weighbridge.bench.run import Around, Bench
    from weighbridge.cli import surroundings as looked_at
    from weighbridge.cli.compare_words import no_step, tell_reach, tell_step

    tell_reach(plan)
    told = no_step if arguments.json else partial(tell_step, plan)
    machine = looked_at.surroundings(arguments.engines()).machine  # engines are asked now, not while one answers
    begun_at = time.time()
    bench = Bench(owned.supervisor, client, plan, Around(owned.attend, told))
    stopped = False
    try:
        bench.run(Task())
    except KeyboardInterrupt:
        stopped = True
    return Comparison(
        workload=plan.workload,
        columns=bench.columns,
        turns=plan.turns,
        warm_up=plan.warm_up,
        interleaved=plan.interleaved,
        fresh=plan.fresh,
        machine=machine,
        begun_at=begun_at,
        version=__version__,
        seed=plan.seed,
        not_interleaved=too_large,
        stopped=stopped,
    )


def _tell(comparison: Comparison, report: Path | None, *, as_json: bool) -> None:
    from weighbridge.base.printable import encodable
    from weighbridge.bench.report import as_markdown, json_text
    from weighbridge.cli.compare_words import shown

    print(json_text(comparison) if as_json else shown(comparison), flush=True)
    if report is not None:
        said = as_markdown(comparison) if report.suffix.lower() == ".md" else json_text(comparison)
        report.write_text(encodable(said), encoding="utf-8")
