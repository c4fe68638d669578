"""What was measured, as immutable values. Unknown is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.bench.plan import Fresh
from weighbridge.bench.workload import Workload
from weighbridge.hardware.machine import Machine
from weighbridge.running.state import Setting
from weighbridge_engines.api import HOST

MOST_CACHED = 0.1
"""A share of the prompt that may be known from before: the words around it, which a model's template always adds."""


@dataclass(frozen=True)
class Turn:
    """One answer to the prompt.

    `pieces` are the parts of the text as they came, each a token where there are as many as `output_tokens`. Of the
    `prompt_tokens`, `cached_tokens` were known from before. `ttft_ms` is until the first token, `answer_ms` until the
    first one that is no thinking, where a model thinks. `by_engine`: written tokens were counted and timed by the
    engine, `read_by_engine`: so was the reading of the prompt; else it is the wait for the first token. `finish` is why
    it ended. `busy` is the share of the processor that others used, `alone` whether no other model was at work.
    """

    number: int
    pieces: tuple[str, ...]
    output_tokens: int
    reasoning: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    decode_tps: float | None = None
    prompt_tps: float | None = None
    ttft_ms: float | None = None
    answer_ms: float | None = None
    by_engine: bool = False
    read_by_engine: bool = False
    finish: str | None = None
    busy: float | None = None
    alone: bool | None = None

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(self.pieces)

    @property
    def cached(self) -> bool | None:
        """Whether so much of the prompt was known that the wait for the first token says little."""
        if self.cached_tokens is None or not self.prompt_tokens:
            return None
        return self.cached_tokens > MOST_CACHED * self.prompt_tokens


@dataclass(frozen=True)
class Subject:
    """What was loaded. Of a model with experts, `active_parameters` are those of `parameters` that one token touches.
    `endpoint` is the server elsewhere that has it, by the name that people know it by: then nothing is at its path, and
    its size is not known.
    """

    model_id: str
    path: Path
    format: str
    quant: str | None
    size_bytes: int | None
    bits_per_weight: float | None = None
    parameters: int | None = None
    architecture: str | None = None
    active_parameters: int | None = None
    endpoint: str | None = None


@dataclass(frozen=True)
class Runtime:
    """What ran it."""

    engine_id: str
    title: str
    version: str | None = None
    build: str = ""


@dataclass(frozen=True)
class Held:
    """Memory of an engine's processes, in bytes. `peak_bytes` is the most that each ever held, as the system counts it,
    or the most that was seen of all; `peak_seen` tells which. `on_devices` is what the engine said that it put there.
    """

    resident_bytes: int | None = None
    peak_bytes: int | None = None
    peak_seen: bool = False
    swapped_bytes: int | None = None
    on_devices: Mapping[str, int] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int | None:
        """What it holds of the machine at the end: resident memory, and that of cards."""
        cards = sum(amount for device, amount in self.on_devices.items() if device != HOST)
        return None if self.resident_bytes is None else self.resident_bytes + cards


@dataclass(frozen=True)
class Column:
    """One model by one engine: what was found of it. `error` is why there is no more; `left_out`: it was not come to,
    or broken off, because all was stopped. `load_ms` is from its start until it was ready.
    """

    name: str
    subject: Subject
    runtime: Runtime | None = None
    threads: int | None = None
    settings: tuple[Setting, ...] = ()
    load_ms: float | None = None
    held: Held = Held()
    turns: tuple[Turn, ...] = ()
    error: WeighbridgeError | None = None
    left_out: bool = False

    def used(self, name: str) -> object:
        """What the engine uses of a setting: as it said, else as it was asked to."""
        for one in self.settings:
            if one.name == name:
                return one.requested if one.effective is None else one.effective
        return None


@dataclass(frozen=True)
class Comparison:
    """All of it. `begun_at` is in seconds since 1970, `version` that of this program. `not_interleaved`: it was wished
    for, and memory had no room for all at once.
    """

    workload: Workload
    columns: tuple[Column, ...]
    turns: int
    warm_up: bool
    interleaved: bool
    fresh: Fresh
    machine: Machine
    begun_at: float
    version: str
    seed: int | None = None
    not_interleaved: bool = False
    stopped: bool = False
