"""What the user, and time, have written on models: notes, when one was last used, what was taken off the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.formats.variant import Role


@dataclass(frozen=True)
class Mark:
    """What is written on one model. `used_s`: seconds since 1970, None where it never was.

    `off_list`: not to be listed, offered or served, though its files are there. `parts` are the files to load beside
    it, chosen by the user; None for a role: none at all. A role that is not there is chosen by name and fit.
    """

    note: str = ""
    used_s: float | None = None
    off_list: bool = False
    parts: Mapping[Role, Path | None] = field(default_factory=dict)
