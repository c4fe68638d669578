"""llama.cpp's server as a program that the user has: CUDA, ROCm, Vulkan and other builds of `llama-server`.

All but the way it is started is shared with the wheel: one function makes the parameters, `llama_command` says them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import replace

from weighbridge_engines.api import Cause, Device, Engine, Load, no_devices
from weighbridge_engines.llama_command import KEY_VARIABLE, arguments
from weighbridge_engines.llama_parameters import values
from weighbridge_engines.llama_server import ENGINE
from weighbridge_engines.llama_settings import checked_for_program, words_for

NAME = "llama-server"
_VERSION = re.compile(r"^version: (?P<told>.+)$", re.MULTILINE)
_NUMBER = re.compile(r"build b?(?P<new>\d+)|^b?(?P<old>\d+) \(")
_HEAD = "Available devices:"
_DEVICE = re.compile(r"\s+(?P<id>\S+): (?P<name>.+) \((?P<total>\d+) MiB, (?P<free>\d+) MiB free\)")
_MIB = 1 << 20


_TRIAL = {"fit_params": True, "warmup": False, "load_mode": "LLAMA_LOAD_MODE_NONE", "verbosity": 5}
"""What makes the program print its table first: its fitting begins with a trial of the load as it is asked for."""


def program(path: str, version: str | None, known: Collection[str], build: str) -> Engine:
    """The engine over the program at `path`, which knows the options `known`."""

    def command(load: Load, port: int) -> list[str]:
        return [path, *arguments(values(load, port, ""), known), *words_for(load)]

    def size_command(load: Load) -> list[str]:
        alone = replace(load, projector=None, draft=None, adapters=())
        return [path, *arguments({**values(alone, 0, ""), **_TRIAL}, known), *words_for(alone)]

    return replace(
        ENGINE,
        build=build,
        program=path,
        install=path,
        missing=lambda: missing(path),
        version=lambda: version,
        devices=no_devices,
        listing=(path, "--list-devices"),
        read_listing=read_listing,
        command=command,
        check=checked_for_program,
        serve=None,
        size=None,
        size_command=size_command,
        bandwidth=None,
        key_variable=KEY_VARIABLE,
    )


def missing(path: str) -> Cause | None:
    """None, or that there is no such program."""
    return None if os.access(path, os.X_OK) else Cause("build.no_program", {"path": path})


def version_in(text: str) -> str | None:
    """llama.cpp's build number ("b10434") out of what `--version` prints; what stands there, where there is none.

    A build of a shallow clone counts its commits from 1, which is no number of a release.
    """
    told = _VERSION.search(text)
    if told is None:
        return None
    number = _NUMBER.search(told["told"])
    count = int((number["new"] or number["old"]) if number else 0)
    return f"b{count}" if count > 1 else told["told"].strip()[:80]


def read_listing(text: str) -> list[Device] | None:
    """The devices that `--list-devices` prints, and the processor, which it leaves out. Their memory is as told there.

    Whether a card has memory of its own is not told; a card that the machine's own probes know is known by name.
    """
    _, head, rest = text.partition(_HEAD)
    if not head:
        return None
    found = [_device(match) for line in rest.splitlines() if (match := _DEVICE.fullmatch(line.rstrip()))]
    return [Device("CPU", "CPU", "cpu"), *found]


def _device(match: re.Match[str]) -> Device:
    total, free = int(match["total"]) * _MIB, int(match["free"]) * _MIB
    return Device(match["id"], match["name"], "gpu", total or None, free if total else None)
