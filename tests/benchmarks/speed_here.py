"""Calculated against measured speeds on this machine, before and after one run has taught it.

    python -m tests.benchmarks.speed_here MODEL.gguf ...

Each model is loaded by `llama_server` with 1 thread, then with 2, in a context of 8192, and writes TOKENS tokens after
prompts of 0, 2048 and 6144 tokens; the engine's own timings count. The memory's bandwidth is measured first, as the
window does it on request. The run that teaches is the first model's at depth 0 with the same threads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Event, Timings
from weighbridge.choices.blueprints import Blueprints
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.speed.experience import Run, experienced
from weighbridge.estimates.speed.speed import Speed
from weighbridge.estimates.speed.speeds import Speeds, speeds
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Bandwidth, Machine
from weighbridge.hardware.measured import measure
from weighbridge.library.index import Library
from weighbridge.library.model import Model
from weighbridge.running.choose import default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.paces import paces_for, speed_tables
from weighbridge.running.places import places_for
from weighbridge.running.plans import plan_of
from weighbridge.running.scales import no_scales
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

ENGINE, CONTEXT, TOKENS = "llama_server", 8192, 64
THREADS, DEPTHS = (1, 2), (0, 2048, 6144)


@dataclass(frozen=True)
class Result:
    """One answer: what the engine said, and what had been calculated for it."""

    model: str
    threads: int
    depth: int
    decode_tps: float
    prefill_tps: float | None
    calculated: Speeds


def main() -> None:
    """Measure and print."""
    machine = detect()
    gbs = measure(machine)
    assert gbs is not None, "the memory's bandwidth could not be measured"
    machine = replace(machine, bandwidth=Bandwidth(gbs, gbs, "", "today"))
    print(f"{machine.cpu.name}, {machine.cpu.usable_cores} cores, {gbs:.1f} GB/s measured")
    results = [result for file in sys.argv[1:] for result in _results(Path(file), machine)]
    print(f"{'model':34}{'threads':>8}{'depth':>7}{'measured':>10}{'before':>9}{'after':>9}{'prompt':>9}{'before':>9}")
    for result in results:
        teacher = next(one for one in results if one.threads == result.threads)
        print(_line(result, teacher))


def _results(file: Path, machine: Machine) -> Iterator[Result]:
    library = Library((file.parent,))
    model = next(one for one in library.scan() if one.path == file)
    library.read_full(model)
    model = next(one for one in library.models if one.path == file)
    blueprint = Blueprints().of(model)
    assert blueprint is not None
    for threads in THREADS:
        load = replace(default_load(model, machine_defaults(CONTEXT)), threads=threads, context=CONTEXT, batch=512)
        supervisor = Supervisor(catalogue(), machine_defaults(CONTEXT), no_scales())
        try:
            supervisor.load(model, load).result(120)
            for depth in DEPTHS:
                yield _answer(supervisor, model, blueprint, load, machine, depth)
        finally:
            supervisor.close()


def _answer(
    supervisor: Supervisor, model: Model, blueprint: Blueprint, load: Load, machine: Machine, depth: int
) -> Result:
    told: list[Timings] = []

    def take(event: Event) -> None:
        if isinstance(event, Timings):
            told.append(event)

    words = "ship " * depth or "Tell a story."
    body = {
        "messages": [{"role": "user", "content": words}],
        "max_tokens": TOKENS,
        "ignore_eos": True,
        "temperature": 0,
    }
    with supervisor.lease(model).result(120) as lease:
        ChatClient().stream(lease, {**body, "model": model.id}, take, Task())
    last = told[-1]
    assert last.decode_tps is not None
    before = (last.prompt_n or 0) + (last.cache_n or 0)
    places = places_for(machine, ENGINE)
    paces = paces_for(machine, ENGINE, places, load.threads, speed_tables())
    plan = plan_of(load, ENGINE)
    calculated = speeds(blueprint, plan, places, paces, depth=before + TOKENS // 2, prompt=max(1, last.prompt_n or 0))
    read = last.prompt_tps if (last.prompt_n or 0) >= TOKENS else None
    return Result(model.title, load.threads or 0, before, last.decode_tps, read, calculated)


def _line(result: Result, teacher: Result) -> str:
    speed = result.calculated.decode
    assert speed is not None and teacher.calculated.decode is not None
    after = experienced(speed, False, [Run(teacher.decode_tps, teacher.calculated.decode.mid_tps)])
    prompt = "-" if result.prefill_tps is None else f"{result.prefill_tps:.0f}"
    read = result.calculated.prefill
    return (
        f"{result.model[:33]:34}{result.threads:8}{result.depth:7}{result.decode_tps:10.1f}{_off(speed, result):>9}"
        f"{_off(after, result):>9}{prompt:>9}{'-' if read is None else f'{read.mid_tps:.0f}':>9}"
    )


def _off(speed: Speed, result: Result) -> str:
    return f"{speed.mid_tps:.1f} {speed.mid_tps / result.decode_tps - 1:+.0%}"


if __name__ == "__main__":
    main()
