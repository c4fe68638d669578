"""`weighbridge hardware`: what this machine has, and which engine can use it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.paths import default_paths
from weighbridge.base.words import text
from weighbridge.cli.json_words import cause_as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.hardware.machine import Machine
    from weighbridge.hardware.measured import Measurements
    from weighbridge.running.devices import EngineDevices, Told
    from weighbridge_engines.api import Cause


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("hardware", help=text("show what this machine has"))
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help=text("print JSON"))
    shape.add_argument(
        "--report",
        action="store_true",
        help=text("print a text to pass on, without names of people or devices' numbers"),
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help=text("measure the memory's bandwidth first and keep it; that of cards too, where an engine can"),
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Look at the machine, ask the installed engines, and print both."""
    from weighbridge.hardware.detect import detect
    from weighbridge.hardware.measured import Measurements
    from weighbridge.running.choose import PREFERRED
    from weighbridge.running.devices import EngineDevices, with_engines_here
    from weighbridge.running.installing import none_installed

    data = default_paths().data
    measurements = Measurements.within(data)
    engines = arguments.engines()
    devices = EngineDevices(engines, data)
    machine, told = with_engines_here(detect(), devices)
    if arguments.measure:
        problems = _measure(machine, devices, measurements)
        machine = replace(machine, problems=(*machine.problems, *problems))
    machine = measurements.apply(machine)
    if (absent := none_installed(engines.values(), PREFERRED)) is not None:
        machine = replace(machine, problems=(*machine.problems, absent))
    if arguments.json:
        print(json.dumps(_as_json(machine, told)))
    else:
        print(_as_text(machine, told, to_pass_on=arguments.report))
    return 0


def _measure(machine: Machine, devices: EngineDevices, measurements: Measurements) -> Sequence[Cause]:
    """Measure and keep; why engines could not measure."""
    from datetime import date

    from weighbridge.hardware.measured import measure

    gbs = measure(machine)
    if gbs is None:
        raise WeighbridgeError("hardware.not_measured")
    cards = devices.measured(machine)
    try:
        measurements.keep(machine, gbs, date.today(), cards.gbs)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WeighbridgeError("hardware.not_kept", gbs=round(gbs), path=measurements.file, reason=reason) from error
    return cards.problems


def _as_text(machine: Machine, told: Sequence[Told], to_pass_on: bool) -> str:
    from weighbridge.cli.hardware_words import head_of_report, in_words

    if not to_pass_on:
        return in_words(machine, told)
    from weighbridge.hardware.persons import cleaned_cause, cleaned_machine, names_here

    names = names_here()
    clean = [one if one.problem is None else replace(one, problem=cleaned_cause(one.problem, names)) for one in told]
    return f"{head_of_report()}\n\n{in_words(cleaned_machine(machine, names), clean)}"


def _as_json(machine: Machine, told: Sequence[Told]) -> dict[str, Any]:
    from weighbridge.running.devices import missing_build

    values = asdict(machine)
    values["problems"] = [cause_as_json(cause) for cause in machine.problems]
    for device, shown in zip(machine.devices, values["devices"], strict=True):
        shown["problems"] = [cause_as_json(cause) for cause in device.problems]
        missing = missing_build(device, told)
        shown["missing"] = missing and cause_as_json(missing)
    values["engines"] = [_told_as_json(one) for one in told]
    return values


def _told_as_json(told: Told) -> dict[str, Any]:
    return {
        "id": told.engine_id,
        "title": told.title,
        "version": told.version,
        "devices": None if told.devices is None else [asdict(device) for device in told.devices],
        "problem": told.problem and cause_as_json(told.problem),
    }
