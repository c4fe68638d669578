"""text-generation-webui: an installation that the user has shown, for it has no place of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weighbridge.library.shelves.program import Program


def within(folder: Path) -> Sequence[Path]:
    """The models of the installation at `folder`: all that lies beside them is the program, with thousands of files."""
    models = folder / "user_data" / "models"
    if os.path.isdir(models):  # noqa: PTH112 - never raises
        return (models,)
    marks = os.path.isfile(folder / "server.py") and os.path.isdir(folder / "modules")  # noqa: PTH112, PTH113
    return (folder / "models",) if marks and os.path.isdir(folder / "models") else ()  # noqa: PTH112


TEXTGEN = Program("textgen", "text-generation-webui", within=within)
