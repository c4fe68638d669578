"""What `fit` weighs models on: the machine that is meant, its engines, what ran here, and how a load starts out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property

from weighbridge.base.database import Database
from weighbridge.base.paths import default_paths
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Choice, weigh
from weighbridge.choices.corrections import planned_load
from weighbridge.choices.family import siblings
from weighbridge.choices.speeds import Speedometer
from weighbridge.cli import surroundings as looked_at
from weighbridge.cli.described import is_described, surroundings_asked
from weighbridge.cli.loading import scanned_library, settings, tell_left_out
from weighbridge.cli.outlook import Outlook, Question, outlook, past_speeds
from weighbridge.cli.setting_options import with_told
from weighbridge.estimates.beside import Beside
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.speed.speeds import PROMPT
from weighbridge.formats.head import Head
from weighbridge.hardware.memory import detect_memory
from weighbridge.library.model import Model
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.choose import Asked, Defaults, batch_for, default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.observations import Observation, Observations
from weighbridge.running.paces import speed_tables
from weighbridge.running.presets import PresetLoads, Presets
from weighbridge.running.sizing import Sizing, Table
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge.running.whole import cards_of
from weighbridge_engines.api import Cause, Engine, Load


class Ground:
    """The ground that the options of the command describe, looked at once. `target`: the model here that is meant.

    Raises NotFound where it has no preset of the name that is asked for.
    """

    def __init__(self, arguments: argparse.Namespace, target: Model | None = None) -> None:
        self.tables = speed_tables()
        self.elsewhere = is_described(arguments)
        self.around = surroundings_asked(arguments, looked_at.surroundings(arguments.engines()), self.tables.cards)
        self.blueprints = Blueprints()
        self._asked, self._target = arguments, target
        wanted = {target.id: arguments.preset} if target is not None and arguments.preset is not None else {}
        self._presets = _preset_loads(self.around.engines, wanted)
        if target is not None:
            tell_left_out(self._presets, target)

    def load(self, model: Model) -> Load:
        """The load that `run` and `serve` would make, with what was asked for here."""
        asked = self._asked
        told = {
            "key_type": asked.kv,
            "value_type": asked.kv,
            "gpu_layers": asked.gpu_layers,
            "cpu_experts": asked.cpu_experts,
            "batch": asked.batch,
        }
        load = default_load(model, self._defaults)
        changed = replace(load, **{name: value for name, value in told.items() if value is not None})
        own = load.batch == batch_for(model, load, self._defaults)
        return replace(changed, batch=batch_for(model, changed, self._defaults)) if own and not asked.batch else changed

    def weighed(self, model: Model, beside: Beside, *, with_remedy: bool = False) -> Choice:
        """The model as it would be loaded."""
        blueprint, load = self.blueprints.of(model), self.load(model)
        engine_id = self._asked.engine
        return weigh(model, blueprint, load, self.around, engine_id=engine_id, beside=beside, with_remedy=with_remedy)

    def with_speeds(self, choice: Choice) -> Choice:
        """The same with its speeds."""
        depth, prompt = self._asked.depth, self._asked.prompt or PROMPT
        return replace(choice, speeds=self._speedometer.of(choice, depth=depth, prompt=prompt))

    def outlook(self, choice: Choice) -> Outlook:
        """Its speed, and changes where it needs some. Runs here tell nothing of another machine."""

        def smaller() -> list[tuple[Model, Blueprint | None]]:
            found = (recognise_path(one.path) for one in siblings(choice.model, scanned_library().models))
            return [(one, self.blueprints.of(one)) for one in found]

        question = Question(self._asked.depth, self._asked.prompt or PROMPT, self._asked.want)
        return outlook(choice, self.around, self.tables, self._past, question, smaller)

    def table(self, choice: Choice, heads: Sequence[Head] | None = None) -> Table | Cause:
        """The engine's own table for the load that was weighed, or why there is none. `heads` stand for the files of a
        model that is not here.
        """
        runner, model = choice.runner, choice.model
        unknown = runner is None or runner.engine_id not in self.around.engines or choice.fit is None
        if runner is None or unknown or heads == ():
            return Cause("sizing.no_engine", {"format": model.format})
        folder = default_paths().data / "sizing"
        sizing = Sizing(self.around.engines, folder, lambda: detect_memory().available_bytes)
        if heads is not None:
            return sizing.table_of_heads(runner.engine_id, heads, planned_load(choice))
        return sizing.table(runner.engine_id, model.parts, planned_load(choice))

    @cached_property
    def _defaults(self) -> Defaults:
        options = self._asked
        asked = Asked(context=options.context, threads=options.threads, slots=options.slots)
        on_cards = cards_of(lambda: self.around.machine, self.around.engines, self.blueprints.of)
        defaults = machine_defaults(settings().value.context, on_cards)
        cores = self.around.machine.cpu.usable_cores or defaults.cores
        in_preset = with_told(self._presets.in_load, options.set, self._target, self.around.engines)
        return replace(defaults, cores=cores, asked=asked, in_preset=in_preset)

    @cached_property
    def _past(self) -> tuple[SpeedObservation, ...]:
        return () if self.elsewhere else past_speeds()

    @cached_property
    def _speedometer(self) -> Speedometer:
        return Speedometer(self.around, self.tables, self._past)


def _preset_loads(engines: Mapping[str, Engine], wanted: Mapping[str, str]) -> PresetLoads:
    """With the presets there are; none where there is no database yet, and none is made for asking."""
    path = default_paths().database
    if not path.exists():
        return PresetLoads(None, engines, wanted)
    with closing(Database(path)) as database:
        return PresetLoads(Presets(database), engines, wanted)


def past_loads() -> tuple[Observation, ...]:
    """What earlier loads took; nothing where there is no database yet, and none is made for asking."""
    path = default_paths().database
    if not path.exists():
        return ()
    with closing(Database(path)) as database:
        return Observations(database).all()
