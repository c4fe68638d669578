"""The choices in a repository with what each says of itself, from one header a family and one config a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.exl_storage import STORAGE, storage_tensors
from weighbridge.formats.folder_info import brief_folder_info, whole_config, with_tensors
from weighbridge.formats.gguf_variants import FORMAT
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.recognise import recognise
from weighbridge.formats.variant import File, Hints, Reader, Variant
from weighbridge.hub.hits import Hit
from weighbridge.hub.offers import Offer, offers_among, shown
from weighbridge.hub.quant_families import (
    Family,
    Told,
    believable,
    derived,
    families,
    is_helper,
    labelled,
    models_of,
    to_read,
)
from weighbridge.hub.reading import Reading

MOST_TRIED = 3
"""Files of a family whose headers are read until one of them is sound."""

MOST_FAMILIES = 16
STORED_SHARE = 0.9
"""A table of tensors that accounts for less of the files is not that of all of them."""

Headers = Mapping[str, ModelInfo | BadFile]


def offers_seen(reading: Reading, hit: Hit) -> tuple[Offer, ...]:
    """The choices, the largest first, those with a problem last.

    Of GGUF files the header of one in each family is read, 8 KiB of it, 64 at most. Raises Cancelled.
    """
    files = [File(file.path, file.size_bytes) for file in reading.repository.files]
    named = recognise(files, Reader(json=reading.json), _hints(reading, hit, None))
    found = families(named)
    parameters = hit.parameters if len(models_of(found)) == 1 else None  # the Hub counts those of one file
    headers = dict(_headers(found, reading, parameters))
    hints = _hints(reading, hit, _of_all(parameters, named))
    variants = recognise(files, Reader(json=reading.json, header=headers.get), hints) if found else named

    def info_of(variant: Variant) -> ModelInfo | None:
        if variant.format != FORMAT:
            return folder_info(reading, variant)
        told = headers.get(variant.files[0].path)
        return labelled(told, variant) if isinstance(told, ModelInfo) else None

    return shown(offers_among(reading.repository, variants, info_of))


def folder_info(reading: Reading, variant: Variant) -> ModelInfo | None:
    """What the config of a folder says, and EXL3's own table of tensors; None where there is nothing to read."""

    def read(name: str) -> Mapping[str, Any] | None:
        path = f"{variant.name}/{name}" if variant.name else name
        return reading.json(path) if reading.file(path) is not None else None

    try:
        config = whole_config(read)
        if not config:
            return None
        info = brief_folder_info(variant, config)
        tensors = storage_tensors(read(STORAGE) or {}) if variant.format == "exl3" else ()
    except BadFile:
        return None
    stored = sum(tensor.size_bytes or 0 for tensor in tensors)
    return with_tensors(info, tensors) if stored > STORED_SHARE * (variant.size_bytes or 0) else info


def _headers(found: Sequence[Family], reading: Reading, parameters: int | None) -> Iterator[tuple[str, Any]]:
    """What each file says, or why it cannot be read, by its path; families of models first."""
    for family in sorted(found, key=is_helper)[:MOST_FAMILIES]:
        told, damaged = _told(family, reading)
        yield from damaged.items()
        if told is not None:
            alive = (variant for variant in family if variant.files[0].path not in damaged)
            yield from ((variant.files[0].path, derived(variant, told, parameters)) for variant in alive)


def _told(family: Family, reading: Reading) -> tuple[Told | None, dict[str, BadFile]]:
    """The first sound header of a family, and those that were found damaged before it."""
    damaged: dict[str, BadFile] = {}
    for file in to_read(family)[:MOST_TRIED]:
        answer = reading.begins(file.path)
        if isinstance(answer, ModelInfo):
            return Told(file, answer), damaged
        if answer is None:
            break
        damaged[file.path] = answer
    return None, damaged


def _hints(reading: Reading, hit: Hit, parameters: int | None) -> Hints:
    repository = reading.repository
    return Hints(repository.id, repository.revision, frozenset(repository.tags), hit.task or "", parameters)


def _of_all(parameters: int | None, variants: Sequence[Variant]) -> int | None:
    """`parameters`, where all of `variants` can have so many."""
    return parameters if all(believable(parameters, each.size_bytes) for each in variants) else None
