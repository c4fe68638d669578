"""Small reads of what the system tells about itself; what cannot be read is empty."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

MAX_BYTES = 4 << 20


def read_text(path: Path) -> str:
    """The text of a file of the system, or "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def read_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The texts of those files of `folder` that can be read, by name."""
    texts = {name: read_text(folder / name).strip() for name in names}
    return {name: text for name, text in texts.items() if text}
