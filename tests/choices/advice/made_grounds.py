"""Machines of the hardware table, engines and models to advise on."""

from __future__ import annotations

from dataclasses import replace

from tests.choices.made_surroundings import GIB, NOT_HERE, around, machine, model

from weighbridge.choices.advice.advise import advise
from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.advice.ground import Ground, Shelf
from weighbridge.choices.advice.prefill import prefilled
from weighbridge.choices.choice import weigh
from weighbridge.choices.other_machine import OtherMachine
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.machine import Bandwidth, Cpu
from weighbridge.running.builds import Build, BuildKind, System, offers, runs_on
from weighbridge.running.recipes import recipes_here
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

TABLE = load_table()
LINUX = System("linux-x86_64", "2.39")
ALL = tuple(one for one in catalogue().values() if one.id not in ("echo", "endpoint"))


def absent(*installed):
    """All engines of the program; only those of the ids are here."""
    return tuple(
        replace(one, missing=(lambda: None) if one.id in installed else (lambda: NOT_HERE), version=lambda: "1.0")
        for one in ALL
    )


def on_processor(name="AMD Ryzen 7 7700", system="Linux", gbs=None, installed=("llama_server",), **rest):
    """A machine without a card."""
    made = machine()
    bandwidth = None if gbs is None else Bandwidth(gbs, gbs, "a table")
    made = replace(made, cpu=Cpu(name, 8, 16, 16), system=system, bandwidth=bandwidth)
    return ground(around(machine=made, engines=absent(*installed)), elsewhere=False, **rest)


def with_cards(card, count=1, ram_gib=64, system="Linux", installed=(), **rest):
    """A machine with cards of the table, of which every engine sees those that it can use."""
    here = around(engines=absent(*installed))
    here = replace(here, machine=replace(here.machine, system=system))
    found = TABLE.card(card)
    assert found is not None, card
    there = OtherMachine(found, count, ram_gib * GIB).described(here)
    return ground(there, elsewhere=not installed, **rest)


def ground(surroundings, *, elsewhere, models=(), blueprints=None):
    """The ground over surroundings, with all builds that can be installed on Linux."""
    recipes = tuple(one for one in recipes_here() if runs_on(one, LINUX))
    builds = [Build(one.id, one.id, one.title, "", BuildKind.OURS, "", "1", in_use=True) for one in ALL]
    shelf = shelf_over(surroundings, models, blueprints or {}) if models else None
    return Ground(surroundings, offers(builds, recipes, LINUX), recipes, shelf, elsewhere)


def shelf_over(surroundings, models, blueprints):
    def weighed(one, load, engine_id):
        return weigh(one, blueprints.get(one.id), load, surroundings, engine_id=engine_id)

    return Shelf(tuple(models), weighed, lambda one: Load(str(one.path), alias=one.id, context=4096))


def advised(on, **changes):
    """Advice with the answers that the ground gives by itself, but for these."""
    return advise(answered(on, **changes), on)


def answered(on, **changes) -> Answers:
    return replace(prefilled(on, changes).answers, **changes)


def titled(points):
    return [point.what.values["engine"] for point in points]


def codes(reasons):
    return [reason.code for reason in reasons]


__all__ = ["model"]
