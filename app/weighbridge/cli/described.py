"""The machine that a command weighs against: this one, or one that is described by options or in a file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.paths import user_path
from weighbridge.base.small_files import read_small
from weighbridge.base.words import text
from weighbridge.cli.loading import positive

if TYPE_CHECKING:
    from weighbridge.choices.choice import Surroundings
    from weighbridge.hardware.bandwidth import Table
    from weighbridge.hardware.machine import Machine

GIB = 1 << 30


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """`--gpu`, `--gpus`, `--ram` and `--machine`."""
    group = parser.add_argument_group(text("another machine than this one"))
    group.add_argument("--gpu", metavar=text("NAME"), help=text("as if this card were in it, by its name"))
    group.add_argument("--gpus", type=positive, metavar="N", help=text("so many of that card; default: 1"))
    group.add_argument("--ram", type=_gib, metavar="GIB", help=text("as if it had so much memory"))
    group.add_argument("--machine", metavar=text("FILE"), help=text("a machine described in a JSON file"))


def is_described(arguments: argparse.Namespace) -> bool:
    """Whether another machine is meant."""
    return arguments.gpu is not None or arguments.ram is not None or arguments.machine is not None


def surroundings_asked(arguments: argparse.Namespace, here: Surroundings, table: Table) -> Surroundings:
    """`here`, or what is described in its place: with builds of all engines that can use its cards, nothing loaded.

    Raises Refused or BadFile where the description cannot be: see `hardware.described` and `hardware.machine_file`.
    """
    if arguments.gpus is not None and arguments.gpu is None:
        raise Refused("options.needs", one="--gpus", other="--gpu")
    if not is_described(arguments):
        return here
    if arguments.machine is not None and (arguments.gpu is not None or arguments.ram is not None):
        raise Refused("options.not_together", one="--machine", other="--gpu" if arguments.gpu is not None else "--ram")
    from weighbridge.choices.other_machine import OtherMachine, engines_there, in_place_of
    from weighbridge.hardware.described import card_called
    from weighbridge.hardware.machine_file import MOST_LETTERS, read_machine

    if arguments.machine is not None:
        told = _text(arguments.machine, MOST_LETTERS)
        return in_place_of(here, read_machine(told, here.machine, table, engines_there(here)))
    card = None if arguments.gpu is None else card_called(table, arguments.gpu)
    return OtherMachine(card, arguments.gpus or 1, arguments.ram).described(here)


def for_which_in_words(machine: Machine) -> str:
    """ "For 2 × NVIDIA GeForce RTX 4090 and 32.0 GiB of memory, with the CUDA build:" """
    from weighbridge.choices.other_machine import machine_in_words
    from weighbridge.running.devices import missing_build

    lacking = (missing_build(replace(device, seen_by=()), ()) for device in machine.devices)
    builds = " / ".join(dict.fromkeys(str(cause.values["build"]) for cause in lacking if cause is not None))
    if not builds:
        return text("For {machine}:", machine=machine_in_words(machine))
    return text("For {machine}, with the {build} build:", machine=machine_in_words(machine), build=builds)


def _text(name: str, limit: int) -> str:
    path = user_path(name)
    try:
        return read_small(path, limit)
    except OSError as error:
        raise BadFile("file.unreadable", name=path.name, reason=error.strerror or str(error)) from error
    except ValueError as error:
        raise BadFile("machine.unreadable", reason=str(error)) from error


def _gib(value: str) -> int:
    """A number of GiB in bytes, for argparse."""
    try:
        return int(float(value) * GIB)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(text("{value} is not a number", value=value)) from error
