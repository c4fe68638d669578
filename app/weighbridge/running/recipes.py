"""What can be installed, out of the data that Weighbridge ships, and what this system is for wheels."""

from __future__ import annotations

import platform
from functools import cache

from weighbridge.running.builds import Recipe, System, read_recipes
from weighbridge_resources import path

_TABLE = "engine_builds.toml"


@cache
def recipes_here() -> tuple[Recipe, ...]:
    """All entries of the table, which is read once."""
    return read_recipes(path(_TABLE).read_text(encoding="utf-8"))


def this_system() -> System:
    """The system that we run on."""
    library, version = platform.libc_ver()
    name = f"{platform.system()}-{platform.machine()}".lower()
    return System(name, version if library == "glibc" else None)
