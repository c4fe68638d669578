"""What `uv pip list --outdated` says of one package. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from weighbridge.running.builds import Recipe

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def package_of(recipe: Recipe) -> str:
    """The package that the engine is, as indexes write its name: that of the first requirement."""
    found = _NAME.match(recipe.requirements[0])
    return re.sub(r"[-_.]+", "-", found[0] if found else "").lower()


def newer_in(lines: Sequence[str], package: str) -> str | None:
    """The newer version of `package` that is told; None: it is the newest. Raises ValueError where nothing is told."""
    told = next((line for line in lines if line.startswith("[")), None)
    if told is None:
        raise ValueError
    for one in json.loads(told):
        if isinstance(one, dict) and one.get("name") == package and isinstance(one.get("latest_version"), str):
            return str(one["latest_version"])
    return None
