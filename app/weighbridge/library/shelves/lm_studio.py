"""LM Studio: OWNER/NAME/FILE below its models folder, which can be moved.

Where its home is, and that `downloadsFolder` in its settings moves the models, is as its own command line finds them
(github.com/lmstudio-ai/lms, `src/modelsFolder.ts`, and lmstudio-js, `findLMStudioHome.ts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.base.small_files import read_small
from weighbridge.library.shelves.named import named_path, noted_folder
from weighbridge.library.shelves.program import Program, Where

_POINTER = ".lmstudio-home-pointer"


def folders(where: Where) -> Sequence[Path]:
    """Its models folders: that of the settings, and the usual ones of its versions."""
    homes = [home for home in (where.told("LMSTUDIO_HOME"), _pointed(where)) if home is not None]
    homes += [where.home / ".lmstudio", where.home / ".cache" / "lm-studio"]
    settings = [home / "settings.json" for home in homes] + [where.config / "LM Studio" / "settings.json"]
    moved = [folder for path in settings if (folder := noted_folder(path, "downloadsFolder")) is not None]
    return (*moved, *(home / "models" for home in homes))


def _pointed(where: Where) -> Path | None:
    try:
        return named_path(read_small(where.home / _POINTER).strip(), where.home)
    except (OSError, ValueError):
        return None


LM_STUDIO = Program("lm_studio", "LM Studio", folders)
