"""A last look at a model's files before an engine gets them: engines have crashed on damaged headers, and worse."""

from __future__ import annotations

from weighbridge.formats.gguf import read_header
from weighbridge.formats.source import FileSource
from weighbridge.library.model import Model


def check_files(model: Model) -> None:
    """Read the whole header of each part: some 15 to 100 ms. Raises BadFile for damage, and for weights cut short."""
    if model.problem is not None:
        raise model.problem
    if model.format == "gguf":
        for part in model.parts:
            with FileSource(part) as source:
                read_header(source, full=True)
