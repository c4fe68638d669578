"""Small reads of what the system tells about itself; what cannot be read is empty."""

from __future__ import annotations

from pathlib import Path

MAX_BYTES = 4 << 20


def read_text(path: Path) -> str:
    """The text of a file of the system, or "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""
