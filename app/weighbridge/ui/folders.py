"""Folders as a person reads them. No Qt here."""

from __future__ import annotations

from pathlib import Path


def short(folder: Path, home: Path) -> str:
    """ "~/models" for a folder below `home`."""
    return str(Path("~") / folder.relative_to(home)) if folder.is_relative_to(home) else str(folder)
