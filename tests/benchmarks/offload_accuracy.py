"""How near the calculated memory of each device comes to where llama.cpp puts things, over cases of partial offload.

    python -m tests.benchmarks.offload_accuracy FILE HEADERS

FILE holds the cases, HEADERS is the folder of the models' headers, NAME.gguf.head each. Printed for each case and
device: weights, KV cache with state, and compute buffer, calculated against told, in MiB. Exits with 1 where weights or
cache of a device are off by more than the larger of 1 % and 2 MiB; compute buffers are shown, and hold nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks import fit_accuracy

from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.estimates.estimate import HOST, Estimate, Place, PlaceKind, Term
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.plan import Plan
from weighbridge.formats.gguf import Header, read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource

MIB = 1 << 20
SHARE, LEAST_MIB = 0.01, 2.0
BATCH = 2048
TOLD_HOST = "Host"


@dataclass(frozen=True)
class Case:
    """One model under one setting, and what the engine told of each device, in MiB."""

    name: str
    setting: Mapping[str, Any]
    told: Mapping[str, Mapping[str, float]]

    @property
    def id(self) -> str:
        """The model and the setting's letter."""
        return f"{self.name}/{self.setting['id']}"

    @property
    def plan(self) -> Plan:
        """The setting as a plan: nothing is mapped from the file, and nothing reordered."""
        asked = self.setting
        split, experts, kind = asked["tensor_split"], asked["n_cpu_moe"], asked["cache_type"]
        return Plan(
            context=asked["n_ctx"],
            unified=False,
            key_type=kind,
            value_type=kind,
            batch=BATCH,
            micro_batch=asked["n_ubatch"],
            gpu_layers=asked["n_gpu_layers"],
            cpu_experts=asked["n_layer"] if experts == "all" else experts or 0,
            split=tuple(map(float, split.split(","))) if split else None,
            mapped=False,
        )

    @property
    def places(self) -> tuple[Place, ...]:
        """System memory, and the GPUs, of which nothing is known."""
        cards = (f"GPU{number}" for number in range(self.setting["gpus"]))
        return (
            Place(HOST, "", PlaceKind.HOST),
            *(Place(card, card, PlaceKind.DEDICATED) for card in cards),
        )


class Pair(fit_accuracy.Pair):
    """A calculated figure and the engine's for one device, in MiB."""

    @property
    def held(self) -> bool:
        """Whether they are no further apart than allowed."""
        return self.within(SHARE, LEAST_MIB)


@dataclass(frozen=True)
class Result:
    """One device of one case."""

    case: Case
    device: str
    weights: Pair
    cache: Pair
    compute: Pair

    @property
    def held(self) -> bool:
        """Whether weights and cache are near enough."""
        return self.weights.held and self.cache.held


def cases(file: Path) -> list[Case]:
    """All cases of a file."""
    told = json.loads(file.read_text(encoding="utf-8"))["cases"]
    return [Case(each["name"], each["setting"], each["devices"]) for each in told]


@cache
def digested(header: Path) -> Blueprint:
    """The digest of the model whose header this is."""
    read = read_header(BytesSource.start_of(header.read_bytes()), full=True)
    return blueprint(model_info(read, header.name.removesuffix(".gguf.head")), _file_bytes(read))


def results(case: Case, headers: Path) -> Iterator[Result]:
    """The calculated figures of a case, device by device."""
    figure = estimate(digested(headers / f"{case.name}.gguf.head"), case.plan, case.places)
    for place in case.places:
        device = TOLD_HOST if place.kind is PlaceKind.HOST else place.id
        told = case.told.get(device, {})
        yield Result(
            case,
            device,
            Pair(_mib(figure, place, Term.WEIGHTS), told.get("model", 0.0)),
            Pair(_mib(figure, place, Term.KV, Term.STATE), told.get("context", 0.0)),
            Pair(_mib(figure, place, Term.COMPUTE), told.get("compute", 0.0)),
        )


def _file_bytes(header: Header) -> int:
    ends = [tensor.offset + (tensor.size_bytes or 0) for tensor in header.tensors or ()]
    return (header.data_start or 0) + max(ends, default=0)


def _mib(figure: Estimate, place: Place, *terms: Term) -> float:
    amounts = [figure.share(place.id).terms.get(term, 0) for term in terms]
    return float("nan") if None in amounts else sum(amount or 0 for amount in amounts) / MIB


def _line(result: Result) -> str:
    pairs = " |".join(
        f"{pair.calculated:10.1f} {pair.told:10.1f}" for pair in (result.weights, result.cache, result.compute)
    )
    return f"{result.case.id:28} {result.device:5} {pairs} {'' if result.held else 'MISSED'}".rstrip()


def _summary(all_results: Sequence[Result]) -> Iterator[str]:
    for name, pairs in (
        ("weights", [result.weights for result in all_results]),
        ("KV and state", [result.cache for result in all_results]),
    ):
        worst = max((pair.off_mib for pair in pairs), default=0.0)
        yield f"{name:13} worst {worst:.3f} MiB   held to {SHARE:.0%} or {LEAST_MIB:.0f} MiB"
    compute = [abs(each.compute.calculated / each.compute.told - 1) for each in all_results if each.compute.told]
    yield f"{'compute':13} mean {statistics.mean(compute or [0.0]):.1%}   not held"
    count = len({result.case.id for result in all_results})
    yield f"cases {count}, devices {len(all_results)}, missed {sum(not result.held for result in all_results)}"


def main() -> int:
    """Print the comparison; 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("headers", type=Path, metavar="HEADERS")
    asked = parser.parse_args()
    print(f"{'ours and told, in MiB':34} {'weights':>21} |{'KV and state':>21} |{'compute':>21}")
    found = [result for case in cases(asked.file) for result in results(case, asked.headers)]
    print("\n".join(map(_line, found)))
    print("\n".join(_summary(found)))
    return 0 if found and all(result.held for result in found) else 1


if __name__ == "__main__":
    sys.exit(main())
