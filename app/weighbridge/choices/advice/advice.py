"""What is advised, as values: each point with its why and the one action that does it. The words are in `words`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from weighbridge.choices.choice import Choice
from weighbridge.hub.hits import Query
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Reason:
    """One thing to say: a code of `words`, and the values that its sentence needs. A value of None is unknown.

    By their names' ends: `_bytes`, `_gbs` (1e9 bytes a second), `_tps` (tokens a second); `tokens` and counts are bare.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Topic(StrEnum):
    """What a point is about: the first five have one point each, the others are settings of a load."""

    HARDWARE = "hardware"
    ENGINE = "engine"
    FORMAT = "format"
    QUANT = "quant"
    MODEL = "model"
    CONTEXT = "context"
    CACHE = "cache"
    SLOTS = "slots"
    LAYERS = "layers"
    SPLIT = "split"
    PREFIX = "prefix"
    BATCH = "batch"
    RESERVED = "reserved"
    FLEET = "fleet"


class ActionKind(StrEnum):
    """What is done."""

    INSTALL_BUILD = "install_build"
    USE_BUILD = "use_build"
    INSTALL = "install"
    FIND = "find"
    LOAD = "load"
    CHANGE = "change"
    ATTACH = "attach"
    RUN = "run"
    MEASURE = "measure"


@dataclass(frozen=True)
class Action:
    """One thing that a window does at a click, and a terminal shows as a command.

    INSTALL_BUILD, USE_BUILD: the build `build_id`, called `title`; `verified`: somebody has run it. INSTALL: by the
    command line `command`, what Weighbridge has no build of, or a build on a machine that is not this one. FIND:
    `query` on Discover. LOAD: the model `model_id`, as `load` says; `by` is the engine's title, where it is not the
    first one that is advised. CHANGE: the settings in `changes`, by the names of a `Load`'s fields and of what its
    `extra` may hold: of the next load of `model_id`, which is then `load`; with "" those of the program (`context`
    alone). ATTACH: an endpoint of the preset `preset`. RUN: the command line `command`, which Weighbridge does not run
    itself. MEASURE: how fast the memory is.
    """

    kind: ActionKind
    title: str = ""
    engine_id: str = ""
    build_id: str = ""
    verified: bool = True
    query: Query | None = None
    model_id: str = ""
    by: str = ""
    load: Load | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    command: str = ""


@dataclass(frozen=True)
class Point:
    """One piece of advice: what, why, what stands against it, and what does it (None: nothing is to be done)."""

    topic: Topic
    what: Reason
    why: tuple[Reason, ...] = ()
    against: tuple[Reason, ...] = ()
    action: Action | None = None


class Standing(StrEnum):
    """How an engine stands here: it can run now, it is to be installed or attached, or it cannot run here at all."""

    READY = "ready"
    TO_INSTALL = "to_install"
    TO_ATTACH = "to_attach"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Ranked:
    """One engine among those that could do: why it stands where it does, what stands against it, and how to get it, or
    a build of it that uses the cards. `action` is None where nothing is to be done, or nothing can be.
    """

    engine_id: str
    title: str
    standing: Standing
    why: tuple[Reason, ...] = ()
    against: tuple[Reason, ...] = ()
    action: Action | None = None

    @property
    def possible(self) -> bool:
        """Whether it could run here, once it is installed."""
        return self.standing is not Standing.IMPOSSIBLE


@dataclass(frozen=True)
class Advice:
    """All of it for one set of answers. A window shows `hardware`, `engine`, `format`, `quant` and `model` as blocks,
    `settings` as the lines of one, `warnings` as those of the last; `also` are engines to think of beside the first.

    `engine` and what follows from it are None where no engine could do. `model` is a model of the library that suits
    (`choice` has its figures), None where there is none: then `format` and `quant` lead to a search. `engines` are all
    that were thought of, the best first, with why not.
    """

    hardware: Point
    engine: Point | None
    format: Point | None
    quant: Point | None
    model: Point | None
    choice: Choice | None
    settings: tuple[Point, ...]
    warnings: tuple[Reason, ...]
    also: tuple[Point, ...]
    engines: tuple[Ranked, ...]
