"""GPT4All: a folder of GGUF files, and another one of its Python package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.library.shelves.program import Program, Where


def folders(where: Where) -> Sequence[Path]:
    """Where the program (Qt's local data, organisation nomic.ai) and the Python package keep models."""
    return where.local_data / "nomic.ai" / "GPT4All", where.home / ".cache" / "gpt4all"


GPT4ALL = Program("gpt4all", "GPT4All", folders)
