"""The models of the Library, weighed as things stand, and as they would be loaded: one owner for the whole window.

What is seen is weighed at once; all else in slices between two events, so that the window never stands still for it.
One model, the chosen one, is looked at closely: its whole header, earlier loads, the engine's own figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from weighbridge.base.task import Task
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.corrections import after_loads, after_table, planned_load
from weighbridge.estimates.estimate import Basis, PlaceKind
from weighbridge.estimates.fit import longest_context
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.devices import Told
from weighbridge.running.observations import Observation
from weighbridge.running.places import places_for
from weighbridge.running.sizing import Sizing, Table
from weighbridge.running.state import Running
from weighbridge.ui.background import Background
from weighbridge_engines.api import Engine, Load

SLICE_S, TELL_S = 0.006, 0.5
"""How long models are weighed between two events, and how long what was done waits until it is shown."""
_PATIENCE_MS = 300
"""A close look waits so long for the controls to come to rest."""
_FREE_STEP_BYTES = 100 << 20
"""Free memory that moves by less changes no figure that is shown."""

_Stamp = tuple[object, ...]


@dataclass(frozen=True)
class WhatIf:
    """How models would be loaded, beside the context length, which is a setting. None: left to the engine."""

    key_type: str | None = None
    slots: int | None = None
    gpu_layers: int | None = None
    cpu_experts: int | None = None


@dataclass(frozen=True)
class Closely:
    """A model looked at closely, and the longest context that fits."""

    choice: Choice
    longest: int | None = None


@dataclass(frozen=True)
class Sources:
    """What weighing asks. All may be called from the GUI thread but `past` and `sizing`, which wait.

    `told` is None while engines have not said yet which cards they use, `sizing` where no engine is to be asked.
    """

    blueprints: Blueprints
    engines: Mapping[str, Engine]
    machine: Callable[[], Machine | None]
    told: Callable[[], Sequence[Told] | None]
    running: Callable[[], tuple[Running, ...]]
    default_load: Callable[[Model], Load]
    context: Callable[[], int]
    past: Callable[[], tuple[Observation, ...]]
    sizing: Sizing | None = None


class Weighing(QObject):
    """`weighed` tells of the ids of models whose figures changed, `looked` of a close look that is done."""

    weighed = Signal(object)
    looked = Signal(object)

    def __init__(self, sources: Sources, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sources = sources
        self._background = background
        self._what_if = WhatIf()
        self._known: dict[str, tuple[_Stamp, Model, Choice]] = {}
        self._waiting: list[Model] = []
        self._untold: list[str] = []
        self._tell_at_s = 0.0
        self._stamp: _Stamp = ()
        self._task: Task | None = None
        self._close: Model | None = None
        self._looked: tuple[_Stamp, Model, Closely] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._slice)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_PATIENCE_MS)
        self._rest.timeout.connect(self._look)

    @property
    def what_if(self) -> WhatIf:
        """The controls as they stand."""
        return self._what_if

    @property
    def has_cards(self) -> bool:
        """Whether an installed engine can put layers on a card here."""
        machine = self._sources.machine()
        if machine is None:
            return False
        engines = self._sources.engines
        return any(place.kind is PlaceKind.DEDICATED for each in engines for place in places_for(machine, each))

    @property
    def busy(self) -> bool:
        """Whether there is something left to weigh."""
        return self._timer.isActive()

    def use(self, what_if: WhatIf) -> None:
        """Weigh everything so from now on; call `refresh` after it."""
        self._what_if = what_if

    def load_of(self, model: Model) -> Load:
        """How `model` is weighed and would be loaded."""
        wanted = self._what_if
        load = self._sources.default_load(model)
        return replace(
            load,
            key_type=wanted.key_type,
            value_type=wanted.key_type,
            slots=wanted.slots or load.slots,
            gpu_layers=wanted.gpu_layers,
            cpu_experts=wanted.cpu_experts,
        )

    def load_to_make(self, model: Model) -> Load:
        """The same with the parts named that a verdict of PARTIAL keeps in the system's memory."""
        choice = self.choice(model)
        return self.load_of(model) if choice is None else planned_load(choice)

    def choice(self, model: Model) -> Choice | None:
        """The last weighing of `model`, a close one before others; None where there was none yet."""
        close = self.closely(model)
        if close is not None:
            return close.choice
        known = self._known.get(model.id)
        return None if known is None else known[2]

    def closely(self, model: Model) -> Closely | None:
        """The last close look at `model`, where it still holds."""
        if self._looked is not None and self._looked[1] is model and self._looked[0] == self._stamp:
            return self._looked[2]
        return None

    def refresh(self, models: Sequence[Model], seen: Iterable[Model]) -> None:
        """Weigh what is out of date: `seen` now, the others of `models` in slices."""
        around = self._around()
        if around is None:
            return
        self._stamp = self._around_stamp()
        fresh = [model.id for model in seen if self._weigh_anew(model, around)]
        self._waiting = [model for model in models if self._is_stale(model)]
        if self._waiting:
            self._timer.start()
        if fresh:
            self.weighed.emit(tuple(fresh))

    def look_closely(self, model: Model | None) -> None:
        """Look at `model` closely once things have come to rest; None: at none."""
        self._close = model
        if model is None or model.problem is not None or self.closely(model) is not None:
            self._rest.stop()
        else:
            self._rest.start()

    def quiet(self) -> None:
        """Nothing more is weighed until the next `refresh`."""
        self._timer.stop()
        self._rest.stop()
        if self._task is not None:
            self._task.cancel()

    def _slice(self) -> None:
        """Some more models, or what was done: that is told in larger pieces, for each makes the table paint."""
        around, now_s = self._around(), time.monotonic()
        if around is None:
            self._waiting = []
        if self._untold and (not self._waiting or now_s >= self._tell_at_s):
            done, self._untold = tuple(self._untold), []
            self._tell_at_s = now_s + TELL_S
            self.weighed.emit(done)
        elif around is not None:
            self._weigh_some(around, now_s + SLICE_S)
        if not self._waiting and not self._untold:
            self._timer.stop()

    def _weigh_some(self, around: Surroundings, until_s: float) -> None:
        while self._waiting and time.monotonic() < until_s:
            model = self._waiting.pop()
            if self._weigh_anew(model, around):
                self._untold.append(model.id)

    def _weigh_anew(self, model: Model, around: Surroundings) -> bool:
        """Weigh `model`, unless its figures are those of now. Whether it was."""
        if not self._is_stale(model):
            return False
        choice = weigh(model, self._sources.blueprints.of(model), self.load_of(model), around.if_unused(model.id))
        self._known[model.id] = (self._stamp, model, choice)
        return True

    def _is_stale(self, model: Model) -> bool:
        known = self._known.get(model.id)
        return known is None or known[1] is not model or known[0] != self._stamp

    def _around_stamp(self) -> _Stamp:
        """All that a figure depends on beside the file, in steps that can be seen."""
        machine = self._sources.machine()
        running = tuple((one.model_id, one.state, bool(one.in_flight), one.pinned) for one in self._sources.running())
        free = None if machine is None else machine.memory.available_bytes
        cards = tuple(_steps(card.memory.available_bytes) for card in (machine.devices if machine else ()))
        told = len(self._sources.told() or ())
        return (self._what_if, self._sources.context(), _steps(free), cards, told, running)

    def _around(self) -> Surroundings | None:
        """None while it is not known where models could lie: a card may be about to be named."""
        machine, told = self._sources.machine(), self._sources.told()
        if machine is None or (told is None and machine.devices):
            return None
        return Surroundings(machine, self._sources.engines, told or (), self._sources.running())

    def _look(self) -> None:
        model, around = self._close, self._around()
        if model is None or around is None:
            return
        if self._task is not None:
            self._task.cancel()
        work = partial(self._closer, model, self.load_of(model), around.if_unused(model.id))
        self._task = self._background.run(work, partial(self._seen, self._stamp, model), _ignore)

    def _closer(self, model: Model, load: Load, around: Surroundings, task: Task) -> Closely:
        """On another thread."""
        choice = weigh(model, self._sources.blueprints.of(model), load, around, with_remedy=True)
        if choice.fit is None or choice.blueprint is None:
            return Closely(choice)
        longest = longest_context(choice.blueprint, choice.fit.plan, choice.places)
        choice = after_loads(choice, around, self._sources.past())
        return Closely(self._told_by_engine(choice, around, task), longest)

    def _told_by_engine(self, choice: Choice, around: Surroundings, task: Task) -> Choice:
        """With the engine's own figures, where it offers them for just these devices and nothing was measured."""
        sizing, runner = self._sources.sizing, choice.runner
        if sizing is None or runner is None or not runner.installed or choice.fit is None:
            return choice
        engine = around.engines.get(runner.engine_id)
        if engine is None or engine.size is None or choice.fit.estimate.basis is Basis.MEASURED:
            return choice
        table = sizing.table(runner.engine_id, choice.model.parts, planned_load(choice), task)
        exact = after_table(choice, around, table) if isinstance(table, Table) else None
        return choice if exact is None else replace(exact, last_off=choice.last_off)

    def _seen(self, stamp: _Stamp, model: Model, found: Closely) -> None:
        self._looked = stamp, model, found
        self.looked.emit(model.id)


def _steps(free_bytes: int | None) -> int | None:
    return None if free_bytes is None else free_bytes // _FREE_STEP_BYTES


def _ignore(error: BaseException) -> None:
    """A look that was given up, or a file that has just gone: the next scan tells."""
    del error
