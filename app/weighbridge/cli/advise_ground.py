"""What `advise` stands on: the machine that is meant, the engines and their builds, and the models of the library."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from functools import cache

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.choices.advice.ground import Ground, Shelf, ground_of, shelf_of
from weighbridge.choices.blueprints import Blueprints
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.speeds import Speedometer
from weighbridge.cli import surroundings as looked_at
from weighbridge.cli.at_endpoints import the_endpoints
from weighbridge.cli.described import is_described, surroundings_asked
from weighbridge.cli.loading import scanned_library, settings
from weighbridge.cli.outlook import past_speeds
from weighbridge.library.model import Model
from weighbridge.running.choose import default_load
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.paces import speed_tables
from weighbridge.running.parts import Parts
from weighbridge.running.whole import cards_of
from weighbridge_engines.api import Load


def ground_asked(arguments: argparse.Namespace) -> Ground:
    """The ground that the options describe, looked at once. Raises what `surroundings_asked` raises."""
    tables = speed_tables()
    around = surroundings_asked(arguments, looked_at.surroundings(arguments.engines()), tables.cards)
    elsewhere = is_described(arguments)
    past = () if elsewhere else past_speeds()
    shelf = None if arguments.no_library else _shelf(around, Speedometer(around, tables, past))
    return ground_of(around, shelf, settings().value.context, _attached(), elsewhere=elsewhere)


def _attached() -> dict[str, str]:
    """The endpoints of this user: their titles by their presets."""
    with suppress(WeighbridgeError), the_endpoints() as endpoints:
        return {one.preset_id: one.title for one in endpoints.all}
    return {}


def _shelf(around: Surroundings, speedometer: Speedometer) -> Shelf:
    """The library of this user, each model as `fit` would weigh it."""
    blueprints, parts = Blueprints(), Parts()
    on_cards = cards_of(lambda: around.machine, around.engines, blueprints.of)
    defaults = machine_defaults(settings().value.context, on_cards)
    defaults = replace(defaults, cores=around.machine.cpu.usable_cores or defaults.cores)

    library = scanned_library()

    @cache
    def read(model_id: str) -> Model:
        model = library.resolve(model_id)
        with suppress(BadFile):
            return replace(model, info=library.read_full(model))
        return model

    def weighed(model: Model, load: Load, engine_id: str) -> Choice:
        known = read(model.id)
        beside = parts.beside(load)
        choice = weigh(known, blueprints.of(known), load, around, engine_id=engine_id, beside=beside)
        return replace(choice, speeds=speedometer.of(choice))

    return shelf_of(library.models, weighed, lambda model: default_load(model, defaults))
