"""How near the calculated memory comes to what llama.cpp allocates, over a folder of headers with the engine's figures.

    python -m tests.benchmarks.fit_accuracy DIR [--formula-only]

DIR holds `cases.json` and the headers it names. Printed for each case and setting: KV cache with state, compute buffer
and their sum, calculated against told, in MiB; and whether the engine that is here tells the same of the header alone.
Exits with 1 where the formula misses a limit. A model that is not understood gets a range, which must hold the truth.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.estimates.estimate import HOST, Estimate, Place, PlaceKind, Term
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.plan import Plan
from weighbridge.formats.gguf import read_header
from weighbridge.formats.head import Head
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import BytesSource
from weighbridge.running.sizing import Limits, Table, sized
from weighbridge_engines.api import Cause, Load
from weighbridge_engines.catalogue import catalogue

MIB = 1 << 20
BATCH = 2048
PLACES = (Place(HOST, "", PlaceKind.HOST),)
CACHE_SHARE, CACHE_MIB = 0.01, 1.0
COMPUTE_MEAN, COMPUTE_SHARE = 0.10, 0.25
TOTAL_SHARE, TOTAL_MIB = 0.05, 16.0
_SETTING = re.compile(r"ctx(\d+)/ub(\d+)/(\w+)/seq(\d+)")


@dataclass(frozen=True)
class Case:
    """One model under one setting, and the rows of the engine's table for it, in MiB."""

    name: str
    setting: str
    head: Head
    told: Mapping[str, Mapping[str, int]]

    @property
    def plan(self) -> Plan:
        """The setting, which stands as ctxN/ubM/KVTYPE/seqS, as a plan."""
        context, micro_batch, kind, slots = _parts(self.setting)
        return Plan(
            context=context,
            slots=slots,
            unified=False,
            key_type=kind,
            value_type=kind,
            batch=BATCH,
            micro_batch=micro_batch,
        )

    @property
    def load(self) -> Load:
        """The same for the engine."""
        plan = self.plan
        return Load(
            "",
            context=plan.context,
            slots=plan.slots,
            unified=False,
            key_type=plan.key_type,
            value_type=plan.value_type,
            batch=BATCH,
            micro_batch=plan.micro_batch,
        )

    def told_mib(self, column: str) -> int:
        """The sum of a column of the engine's table."""
        return sum(row[column] for row in self.told.values())


@dataclass(frozen=True)
class Pair:
    """A calculated figure and the engine's, in MiB."""

    calculated: float
    told: float

    @property
    def error(self) -> float:
        """How far off, as a share of what was told."""
        return (self.calculated - self.told) / max(self.told, 1.0)

    @property
    def off_mib(self) -> float:
        """How far apart they are."""
        return abs(self.calculated - self.told)

    def within(self, share: float, mib: float = 0.0) -> bool:
        """Whether it is off by no more than the larger of the two; an unknown figure is off."""
        return self.off_mib <= max(share * self.told, mib)


@dataclass(frozen=True)
class Result:
    """A case, calculated. `low_mib` is the lower end of a range for the sum, None where the figure is exact."""

    case: Case
    cache: Pair
    compute: Pair
    low_mib: float | None = None

    @property
    def total(self) -> Pair:
        """All but the weights."""
        return Pair(self.cache.calculated + self.compute.calculated, self.cache.told + self.compute.told)

    @property
    def held(self) -> bool:
        """Whether the case keeps its limits; the mean over all is another."""
        if self.low_mib is not None:
            return self.low_mib <= self.total.told <= self.total.calculated
        return (
            self.cache.within(CACHE_SHARE, CACHE_MIB)
            and self.compute.within(COMPUTE_SHARE)
            and self.total.within(TOTAL_SHARE, TOTAL_MIB)
        )


def cases(folder: Path) -> Iterator[Case]:
    """All cases of a folder."""
    for model in json.loads((folder / "cases.json").read_text(encoding="utf-8"))["cases"]:
        head = Head((folder / model["header"]).read_bytes(), model["file_bytes"])
        for setting, told in model["engine_mib"].items():
            yield Case(model["name"], setting, head, told)


def info(case: Case) -> ModelInfo:
    """What a case's header says."""
    source = BytesSource.start_of(case.head.content, case.head.size_bytes)
    return model_info(read_header(source, full=True), case.name)


def digest(case: Case) -> Blueprint:
    """The digest of a case's model."""
    return blueprint(info(case), case.head.size_bytes)


def calculated(case: Case) -> Result:
    """The formula's figures for a case. Unknown terms are a miss."""
    figure = estimate(digest(case), case.plan, PLACES)
    cache, compute = _mib(figure, Term.KV, Term.STATE), _mib(figure, Term.COMPUTE)
    low = None
    if figure.least_bytes is not None and figure.total_bytes is not None and figure.least_bytes < figure.total_bytes:
        low = cache + compute - (figure.total_bytes - figure.least_bytes) / MIB
    return Result(case, Pair(cache, case.told_mib("context")), Pair(compute, case.told_mib("compute")), low)


def mean_compute_error(results: Sequence[Result]) -> float:
    """Over the cases with an exact figure."""
    return statistics.mean([abs(result.compute.error) for result in results if result.low_mib is None] or [0.0])


def all_held(results: Sequence[Result]) -> bool:
    """Whether every limit is kept."""
    return all(result.held for result in results) and mean_compute_error(results) <= COMPUTE_MEAN


def by_engine(case: Case, folder: Path) -> Table | Cause:
    """What the engine that is here tells of the header alone."""
    return sized(catalogue()["llama_server"], [case.head], case.load, folder, Limits())


def _parts(setting: str) -> tuple[int, int, str, int]:
    found = _SETTING.fullmatch(setting)
    if found is None:
        raise SystemExit(f"a setting that is not understood: {setting}")
    return int(found[1]), int(found[2]), found[3], int(found[4])


def _mib(figure: Estimate, *terms: Term) -> float:
    amounts = [figure.term(term) for term in terms]
    return float("nan") if None in amounts else sum(amount or 0 for amount in amounts) / MIB


def _same(case: Case, answer: Table | Cause) -> str:
    """Whether the engine tells what it told of the whole file."""
    if isinstance(answer, Cause):
        return f"{answer.code} {dict(answer.values)}"
    told = {
        row.device: (row.model_bytes // MIB, row.context_bytes // MIB, row.compute_bytes // MIB) for row in answer.rows
    }
    known = {name: (row["model"], row["context"], row["compute"]) for name, row in case.told.items()}
    if told == known:
        return "equal"
    without_weights = sum(context + compute for _, context, compute in told.values())
    return f"other: {without_weights} MiB without weights"


def _shown(pair: Pair) -> str:
    return f"{pair.calculated:9.1f} {pair.told:7.0f} {pair.error:+7.1%}"


def _line(result: Result, engine: str) -> str:
    name = f"{result.case.name} {result.case.setting}"
    pairs = " |".join(_shown(pair) for pair in (result.cache, result.compute, result.total))
    mark = "" if result.held else "MISSED"
    if result.low_mib is not None:
        mark = f"range from {result.low_mib:.0f} {mark}"
    return f"{name:48} {pairs} | {engine} {mark}".rstrip()


def _summary(results: Sequence[Result]) -> Iterator[str]:
    exact = [result for result in results if result.low_mib is None]
    for name, pairs, limit in (
        ("KV and state", [result.cache for result in exact], f"{CACHE_SHARE:.0%} or {CACHE_MIB:.0f} MiB"),
        ("compute", [result.compute for result in exact], f"{COMPUTE_SHARE:.0%}, {COMPUTE_MEAN:.0%} in the mean"),
        ("without weights", [result.total for result in exact], f"{TOTAL_SHARE:.0%} or {TOTAL_MIB:.0f} MiB"),
    ):
        errors = [abs(pair.error) for pair in pairs] or [0.0]
        yield f"{name:16} mean {statistics.mean(errors):6.2%}   worst {max(errors):6.1%}   held to {limit}"
    yield f"cases {len(results)}, ranges {len(results) - len(exact)}, missed {sum(not one.held for one in results)}"


def main() -> int:
    """Print the comparison; 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--formula-only", action="store_true", help="do not ask the engine")
    asked = parser.parse_args()
    print(f"{'':48} {'KV and state: ours, told':>25} |{'compute: ours, told':>25} |{'without weights':>25} | engine")
    results, engine, seconds = [], "", []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(asked.folder):
            results.append(calculated(case))
            if not asked.formula_only:
                started = time.perf_counter()
                engine = _same(case, by_engine(case, Path(folder)))
                seconds.append(time.perf_counter() - started)
            print(_line(results[-1], engine), flush=True)
    print("\n".join(_summary(results)))
    if seconds:
        print(f"the engine took {statistics.median(seconds):.2f} s in the median, {max(seconds):.2f} s at most")
    return 0 if all_held(results) else 1


if __name__ == "__main__":
    sys.exit(main())
