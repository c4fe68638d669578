"""Whether two ways to the same weights lead to one model: what tells how to run them must be the same, too.

A GGUF file says all of itself. A folder's config, tokenizer and template lie beside its weights: where these are links
to another model's files, it is a model of its own.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator
from pathlib import Path

from weighbridge.hub.wanted import tells_of_weights
from weighbridge.library.model import Model


def is_one(first: Model, again: Model) -> bool:
    """Whether two models whose weights are the same files are one. Reads the small files beside them where they differ
    in nothing else; what cannot be read is not the same.
    """
    if first.format != again.format:
        return False
    if first.path == again.path or (_is_file(first) and _is_file(again)):
        return True
    one, other = dict(_telling(first)), dict(_telling(again))
    return one.keys() == other.keys() and all(_is_same(path, other[name]) for name, path in one.items())


def _is_file(model: Model) -> bool:
    return model.path in model.parts


def _telling(model: Model) -> Iterator[tuple[str, Path]]:
    """The files that tell how to run a model, by their paths in its folder."""
    weights = set(model.parts)
    for folder in dict.fromkeys((model.path, *(part.parent for part in model.parts))):
        for path in _files_in(folder):
            if path not in weights and tells_of_weights(path.name):
                yield os.path.relpath(path, model.path), path


def _files_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
