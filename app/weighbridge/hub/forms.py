"""The forms that names and hashes of the Hub have; what has another is not taken. Pure."""

from __future__ import annotations

import re

REPO_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
"""Also of git's hash of a file."""

SHA256 = re.compile(r"[0-9a-f]{64}")


def matching(form: re.Pattern[str], value: object) -> str:
    """A hash or a name as it must be, for it may become a part of a path. Raises ValueError."""
    if not isinstance(value, str) or not form.fullmatch(value) or ".." in value:
        raise ValueError(form.pattern)
    return value
