"""Models that are here and models that might be got, weighed as things stand and as they would be loaded: one owner.

What is seen is weighed at once, with its speeds, as far as that holds nobody up; all else in slices between two
events: the rest of what is seen, then what each needs, then how fast it would be. One model, the chosen one, is looked
at closely.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from weighbridge.base.task import Task
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.corrections import planned_load
from weighbridge.choices.offered import HUB
from weighbridge.choices.other_machine import OtherMachine
from weighbridge.choices.speeds import Speedometer
from weighbridge.estimates.estimate import PlaceKind
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.formats.head import Head
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.paces import SpeedTables
from weighbridge.ui.background import Background
from weighbridge.ui.close_look import Closely, Look, look_closely
from weighbridge.ui.speed_view import SpeedView, row_basis, speed_view
from weighbridge.ui.standing import Stamp, Standing
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Load

AT_ONCE_S, SLICE_S, TELL_S = 0.02, 0.006, 0.5
"""How long what is seen is weighed at once, in time of the processor; how long models are weighed between two events;
how long what was done waits until it is shown.
"""
_PATIENCE_MS = 300
"""A close look waits so long for the controls to come to rest."""


@dataclass(frozen=True)
class WhatIf:
    """How models would be loaded, beside the context length, which is a setting. None: left to the engine."""

    key_type: str | None = None
    slots: int | None = None
    gpu_layers: int | None = None
    cpu_experts: int | None = None


class _Known(NamedTuple):
    """A weighing, and what it depended on; `paced` is what its speeds depended on, None where it has none yet."""

    stamp: Stamp
    model: Model
    choice: Choice
    paced: Stamp | None = None


class Weighing(QObject):
    """`weighed` tells of the ids of models whose figures changed, `looked` of a close look that is done, `outdated`
    that figures hold no more.
    """

    weighed = Signal(object)
    looked = Signal(object)
    outdated = Signal()

    def __init__(self, sources: Sources, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sources = sources
        self._background = background
        self._standing = Standing(sources)
        self._what_if = WhatIf()
        self._wanted_tps: float | None = None
        self._models: Sequence[Model] = ()
        self._known: dict[str, _Known] = {}
        self._in_sight: deque[Model] = deque()
        self._waiting: list[Model] = []
        self._unpaced: list[Model] = []
        self._untold: dict[str, None] = {}
        self._tell_at_s = 0.0
        self._stamp: Stamp = ()
        self._speed_stamp: Stamp = ()
        self._task: Task | None = None
        self._close: Model | None = None
        self._heads: tuple[Head, ...] = ()
        self._looked: tuple[Stamp, Stamp, Model, Closely] | None = None
        self._timer = self._make_timer(0, self._slice)
        self._rest = self._make_timer(_PATIENCE_MS, self._look)
        sources.speeds.changed.connect(self.outdated)

    @property
    def what_if(self) -> WhatIf:
        """The controls as they stand."""
        return self._what_if

    @property
    def other(self) -> OtherMachine | None:
        """The machine that is thought of; None: this one."""
        return self._standing.other

    @property
    def machine(self) -> Machine | None:
        """The machine that models are weighed for; None until it is known."""
        around = self._standing.around()
        return None if around is None else around.machine

    @property
    def sources(self) -> Sources:
        """What weighing asks."""
        return self._sources

    @property
    def tables(self) -> SpeedTables:
        """What ships with the program of cards and their speeds."""
        return self._sources.speeds.tables

    @property
    def wanted_tps(self) -> float | None:
        """How fast a model is to write at least; None: it does not matter."""
        return self._wanted_tps

    @property
    def has_cards(self) -> bool:
        """Whether an engine can put layers on a card of that machine."""
        around = self._standing.around()
        if around is None:
            return False
        engines = {sight.engine for device in around.machine.devices for sight in device.seen_by}
        return any(place.kind is PlaceKind.DEDICATED for each in engines for place in around.places(each))

    def meant(self) -> tuple[Surroundings, Speedometer] | None:
        """The machine that is meant, and what tells speeds there; None until it is known."""
        around = self._standing.around()
        return None if around is None else (around, self._standing.speedometer(around))

    def here(self) -> Surroundings | None:
        """This machine, whichever is meant; None while it is not known where models could lie."""
        return self._standing.here()

    @property
    def busy(self) -> bool:
        """Whether there is something left to weigh."""
        return bool(self._in_sight or self._waiting)

    @property
    def pacing(self) -> bool:
        """Whether there is something left to weigh, or of which the speed is to be reckoned."""
        return bool(self._in_sight or self._waiting or self._unpaced)

    def use(self, what_if: WhatIf) -> None:
        """Weigh everything so from now on; call `refresh` after it."""
        self._what_if = what_if

    def think_of(self, other: OtherMachine | None) -> None:
        """Weigh for another machine, or for this one; call `refresh` after it. Raises Refused where it cannot be."""
        self._standing.choose(other)

    def want(self, tps: float | None) -> None:
        """Look for what would make the chosen model so fast; call `look_closely` after it."""
        self._wanted_tps = tps

    def load_of(self, model: Model) -> Load:
        """How `model` is weighed and would be loaded: what the controls leave open is as its preset has it. They say
        nothing of what an endpoint serves.
        """
        if model.remote is not None:
            return self._sources.default_load(model)
        wanted = self._what_if
        told = {
            "key_type": wanted.key_type,
            "value_type": wanted.key_type,
            "slots": wanted.slots,
            "gpu_layers": wanted.gpu_layers,
            "cpu_experts": wanted.cpu_experts,
        }
        load = self._sources.default_load(model)
        changes: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        return replace(load, **changes)

    def choose_parts(self, model: Model) -> None:
        """What is loaded beside `model` has been chosen anew: its figures hold no more."""
        self._known.pop(model.id, None)
        self._models = ()  # so that all are looked at again
        if self._looked is not None and self._looked[2] is model:
            self._looked = None
        self.outdated.emit()

    def load_to_make(self, model: Model) -> Load:
        """The same with the parts named that a verdict of PARTIAL keeps in the memory of this machine, which loads."""
        here = self._standing.here()
        if self.other is not None and here is not None:
            choice: Choice | None = self._weighed(model, here)
        else:
            choice = self.choice(model)
        return self.load_of(model) if choice is None else planned_load(choice)

    def choice(self, model: Model) -> Choice | None:
        """The last weighing of `model`, a close one before others; None where there was none yet."""
        close = self.closely(model)
        if close is not None:
            return close.choice
        known = self._known.get(model.id)
        return None if known is None else known.choice

    def choices(self) -> dict[str, Choice]:
        """The last weighing of each model, by id, but for the close ones."""
        return {model_id: known.choice for model_id, known in self._known.items()}

    def closely(self, model: Model) -> Closely | None:
        """The last close look at `model`, where it still holds."""
        if self._looked is not None and self._looked[:2] == (self._stamp, self._speed_stamp):
            return self._looked[3] if self._looked[2] is model else None
        return None

    def speed_view(self, choice: Choice | None) -> SpeedView:
        """What is said of the speed of a model that was weighed."""
        around = self._standing.around()
        if around is None or choice is None:
            return SpeedView()
        meter = self._standing.speedometer(around)
        return speed_view(choice, meter, around.machine, is_other=self.other is not None)

    def speed_basis(self, choice: Choice) -> str:
        """What the speed in a row rests on."""
        around = self._standing.around()
        return "" if around is None else row_basis(choice, self._standing.speedometer(around), around.machine)

    def refresh(self, models: Sequence[Model], seen: Iterable[Model]) -> None:
        """Weigh what is out of date: `seen` now, as far as `AT_ONCE_S` goes, the others of `models` in slices. Where
        nothing is other than at the last call, nothing is looked at beside `seen`.
        """
        around = self._standing.around()
        if around is None:
            return
        asked = (models, (self._what_if, *self._standing.stamp(around)), self._standing.speed_stamp(around))
        is_other = self._is_other(*asked)
        self._models, self._stamp, self._speed_stamp = asked
        if is_other:
            self._waiting, self._unpaced = list(models), list(models)  # those that are of now are passed over
        self._in_sight = deque(seen)
        self._weigh_seen(around, AT_ONCE_S)
        if is_other or self.pacing or self._untold:  # what a page that was left had not come to goes on
            self._timer.start()

    def _weigh_seen(self, around: Surroundings, most_s: float) -> None:
        """What is in sight, from the top; it is told at once."""
        fresh, until_s = [], time.thread_time() + most_s
        while self._in_sight and time.thread_time() < until_s:
            model = self._in_sight.popleft()
            if self._weigh_anew(model, around) | self._pace(model, around):
                fresh.append(model.id)
        if fresh:
            self.weighed.emit(tuple(fresh))

    def _is_other(self, models: Sequence[Model], stamp: Stamp, speed_stamp: Stamp) -> bool:
        return models is not self._models or (stamp, speed_stamp) != (self._stamp, self._speed_stamp)

    def look_closely(self, model: Model | None, heads: tuple[Head, ...] = ()) -> None:
        """Look at `model` closely once things have come to rest; None: at none. `heads` are the headers of one that is
        not here.
        """
        self._close, self._heads = model, heads
        known = None if model is None else self.closely(model)
        if model is None or model.problem is not None or (known and known.wanted_tps == self._wanted_tps):
            self._rest.stop()
        else:
            self._rest.start()

    def quiet(self) -> None:
        """Nothing more is weighed until the next `refresh`."""
        self._timer.stop()
        self._rest.stop()
        if self._task is not None:
            self._task.cancel()

    def _forget_others(self) -> None:
        """What is neither listed nor offered any more; of the other kind, another page may still show it."""
        ids, of_hub = {model.id for model in self._models}, {model.source == HUB for model in self._models}
        kept = self._known.items()
        self._known = {key: known for key, known in kept if key in ids or (known.model.source == HUB) not in of_hub}

    def _make_timer(self, interval_ms: int, act: Callable[[], None]) -> QTimer:
        made = QTimer(self)
        made.setInterval(interval_ms)
        made.setSingleShot(True)
        made.timeout.connect(act)
        return made

    def _slice(self) -> None:
        """Some more models, or what was done: that is told in larger pieces, for each makes the table paint."""
        around, now_s = self._standing.around(), time.monotonic()
        if around is None:
            self._in_sight.clear()
            self._waiting, self._unpaced, self._models = [], [], ()
        if self._in_sight and around is not None:
            self._weigh_seen(around, SLICE_S)
        elif self._untold and (not self.pacing or now_s >= self._tell_at_s):
            done, self._untold = tuple(self._untold), {}
            self._tell_at_s = now_s + TELL_S
            self.weighed.emit(done)
        elif around is not None:
            self._work(around, now_s + SLICE_S)
        if self.pacing or self._untold:
            self._timer.start()  # a timer that repeats goes off several times within a late turn
        else:
            self._forget_others()

    def _work(self, around: Surroundings, until_s: float) -> None:
        """What models need before how fast they are."""
        while time.monotonic() < until_s:
            if self._waiting:
                model, do = self._waiting.pop(), self._weigh_anew
            elif self._unpaced:
                model, do = self._unpaced.pop(), self._pace
            else:
                return
            if do(model, around):
                self._untold[model.id] = None

    def _weighed(self, model: Model, around: Surroundings) -> Choice:
        sources, load = self._sources, self.load_of(model)
        beside = sources.parts.beside(load)
        return weigh(model, sources.blueprints.of(model), load, around.if_unused(model.id), beside=beside)

    def _weigh_anew(self, model: Model, around: Surroundings) -> bool:
        """Weigh `model`, unless its figures are those of now. Whether it was."""
        if not self._is_stale(model):
            return False
        self._known[model.id] = _Known(self._stamp, model, self._weighed(model, around))
        return True

    def _pace(self, model: Model, around: Surroundings) -> bool:
        """Reckon the speeds of `model`, which is weighed, unless they are those of now. Whether they were."""
        known = self._known.get(model.id)
        if known is None or self._is_paced(model):
            return False
        writing = self._standing.speedometer(around).of(known.choice).decode
        lean = Speeds(None if writing is None else replace(writing, legs=()))  # of thousands, nobody asks for reasons
        self._known[model.id] = known._replace(choice=replace(known.choice, speeds=lean), paced=self._speed_stamp)
        return True

    def _is_stale(self, model: Model) -> bool:
        known = self._known.get(model.id)
        return known is None or known.model is not model or known.stamp != self._stamp

    def _is_paced(self, model: Model) -> bool:
        known = self._known.get(model.id)
        return known is not None and known.stamp == self._stamp and known.paced == self._speed_stamp

    def _look(self) -> None:
        model, around = self._close, self._standing.around()
        if model is None or around is None:
            return
        if self._task is not None:
            self._task.cancel()
        is_other = self.other is not None
        runs = () if is_other else self._sources.speeds.runs
        load, around = self.load_of(model), around.if_unused(model.id)
        asked = Look(model, load, around, self._models, runs, self._wanted_tps, is_other, self._heads)
        seen = partial(self._seen, (self._stamp, self._speed_stamp), model)
        self._task = self._background.run(lambda task: look_closely(asked, self._sources, task), seen, _ignore)

    def _seen(self, stamps: tuple[Stamp, Stamp], model: Model, found: Closely) -> None:
        self._looked = *stamps, model, found
        self.looked.emit(model.id)


def _ignore(error: BaseException) -> None:
    """A look that was given up, or a file that has just gone: the next scan tells."""
    del error
