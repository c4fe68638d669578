"""Which safetensors files of a folder make up its model, and which of them are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.formats.place import Folder
from weighbridge.formats.variant import File

ENDING = ".safetensors"
INDEX = ".safetensors.index.json"
MAX_NAMED = 3
_SHARD = re.compile(r"^(?P<stem>.*?)-(?P<number>\d{4,6})-of-(?P<count>\d{4,6})\.safetensors$")
_SETS = ("model", "output")
"""How the names of weights begin that engines load; what lies beside such a set is another copy, or something else."""


def weights_of(folder: Folder) -> list[File]:
    """The files that hold the model: "model*", else "output*" (EXL2), else all; adapters left out."""
    files = [file for file in folder.ending(ENDING) if not file.name.startswith("adapter_")]
    for beginning in _SETS:
        chosen = [file for file in files if file.name.startswith(beginning)]
        if chosen:
            return chosen
    return files


@dataclass(frozen=True)
class _Missing:
    """How many files of a set of `count` are not here, and the names of the first of them."""

    names: tuple[str, ...] = ()
    missing: int = 0
    count: int = 0


def missing_shards(folder: Folder, weights: Sequence[File]) -> BadFile | None:
    """Which files of the set are not here, by their own names, else by the index beside them."""
    here = {file.name for file in weights}
    found = _missing_by_name(here)
    found = found if found.missing else _missing_by_index(folder, here)
    if not found.missing:
        return None
    named = ", ".join(map(printable, found.names))
    return BadFile("model.part_missing", missing=named, here=found.count - found.missing, count=found.count)


def _missing_by_name(here: Iterable[str]) -> _Missing:
    sets: dict[tuple[str, str, int], set[int]] = {}
    for name in here:
        found = _SHARD.match(name)
        if found is not None:
            key = (found["stem"], found["count"], len(found["number"]))
            sets.setdefault(key, set()).add(int(found["number"]))
    for (stem, written, width), present in sets.items():
        first, count = min(present | {1}), int(written)
        absent = (number for number in range(first, first + count) if number not in present)
        names = (f"{stem}-{number:0{width}}-of-{written}{ENDING}" for number in absent)
        if len(present) < count:
            return _Missing(tuple(islice(names, MAX_NAMED)), count - len(present), count)
    return _Missing()


def _missing_by_index(folder: Folder, here: set[str]) -> _Missing:
    """An index that names none of the files here is left over from what the model was converted from."""
    indices = folder.ending(INDEX)
    index = folder.json(indices[0].name) if indices and f"model{ENDING}" not in here else None
    told = _files_of(index or {})
    if here and not told & here:
        return _Missing()
    missing = sorted(told - here)
    return _Missing(tuple(missing[:MAX_NAMED]), len(missing), len(told))


def _files_of(index: Mapping[str, Any]) -> set[str]:
    weights = index.get("weight_map")
    values = weights.values() if isinstance(weights, Mapping) else ()
    return {value for value in values if isinstance(value, str) and "/" not in value}
