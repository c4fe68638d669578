"""A last look at a model's files before an engine gets them: engines have crashed on damaged headers, and worse."""

from __future__ import annotations

from weighbridge.formats.gguf import read_header
from weighbridge.formats.source import FileSource
from weighbridge.library.model import Model


def check_files(model: Model) -> None:
    """Open each part, and read the whole of a GGUF header: some 15 to 100 ms.

    Raises BadFile for a file that is gone or none any more, for damage, and for weights cut short.
    """
    if model.problem is not None:
        raise model.problem
    for part in model.parts:
        with FileSource(part) as source:
            if model.format == "gguf":
                read_header(source, full=True)
