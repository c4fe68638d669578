"""Quantisations of one model in one repository: the header of one of them tells what all of them are. Pure.

All hyper-parameters of a GGUF file stand in its header, and are the same for each quantisation. What differs is the
label, the size, in how many parts it lies, and the types of tensors, which only the whole header tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weighbridge.formats.architectures import Kind
from weighbridge.formats.companions import base_of
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.quant import without_quant
from weighbridge.formats.split import part_of_name
from weighbridge.formats.variant import File, Variant
from weighbridge.hub.offers import Offer

HELPERS = frozenset({Kind.ADAPTER, Kind.DRAFT, Kind.IMATRIX, Kind.PROJECTION})
"""What is no model of its own: a draft may be called as the model is, and have other layers."""

LEAST_BITS, MOST_BITS = 0.5, 40.0
"""Of one weight, in any file; a count of parameters by which it is another is not that of this file."""

_OF_ONE_FILE = ("general.file_type", "general.quantization_version", "quantize.", "split.")
"""Keys, and beginnings of keys, that do not hold for another quantisation."""

Family = tuple[Variant, ...]


@dataclass(frozen=True)
class Told:
    """What the header of one quantisation says, and of which file it was read."""

    file: File
    info: ModelInfo


def families(variants: Iterable[Variant]) -> tuple[Family, ...]:
    """The GGUF models among `variants`, those together that are the same one in other quantisations."""
    found: dict[tuple[str, str, str], list[Variant]] = {}
    for variant in variants:
        if variant.format == "gguf" and variant.files:
            found.setdefault(_key(variant), []).append(variant)
    return tuple(tuple(family) for family in found.values())


def to_read(family: Family) -> tuple[File, ...]:
    """The files whose header tells of the whole family, the best first: whole ones, then first parts, the smallest."""
    firsts = [(variant, variant.files[0]) for variant in family if variant.problem is None]
    sized = sorted(firsts, key=lambda pair: (len(pair[0].files) > 1, pair[0].size_bytes or 0, pair[1].path))
    return tuple(file for _, file in sized)


def derived(variant: Variant, told: Told, parameters: int | None) -> ModelInfo:
    """What `variant` would say of itself, by what another one `told`. `parameters` are those of the family."""
    known = believable(parameters, variant.size_bytes) or believable(told.info.parameters, variant.size_bytes)
    own = told.info
    if variant.files[0] != told.file:
        metadata = {key: value for key, value in own.metadata.items() if not key.startswith(_OF_ONE_FILE)}
        own = replace(own, metadata=metadata, split=_split(variant), quant=variant.label, tensors=None)
    return with_parameters(own, known, variant.size_bytes)


def labelled(info: ModelInfo, variant: Variant) -> ModelInfo:
    """`info` with the label that is believed of `variant`."""
    return replace(info, quant=variant.label, quant_guessed=variant.guessed)


def with_parameters(info: ModelInfo, parameters: int | None, size_bytes: int | None) -> ModelInfo:
    """`info` with a count of parameters, and the bits of one weight by it."""
    bits = size_bytes * 8 / parameters if parameters and size_bytes else None
    return replace(info, parameters=parameters, bits_per_weight=bits)


def believable(parameters: int | None, size_bytes: int | None) -> int | None:
    """`parameters`, where a file of `size_bytes` can have so many."""
    if not parameters or not size_bytes:
        return None
    return parameters if LEAST_BITS <= size_bytes * 8 / parameters <= MOST_BITS else None


def of_one_family(one: Variant, other: Variant) -> bool:
    """Whether both are the same model in other quantisations."""
    return one.format == other.format == "gguf" and _key(one) == _key(other)


def learned(offer: Offer, read: Offer, info: ModelInfo) -> Offer:
    """`offer` after `info`, the whole header of `read`, was read: it is its own, or counts its parameters."""
    if offer.variant.files == read.variant.files:
        return replace(offer, info=info)
    if offer.info is None or offer.info.full or not of_one_family(offer.variant, read.variant):
        return offer
    known = believable(info.parameters, offer.variant.size_bytes)
    return replace(offer, info=with_parameters(offer.info, known, offer.variant.size_bytes)) if known else offer


def models_of(found: Sequence[Family]) -> list[Family]:
    """Those of the families that are models, not what helps one."""
    return [family for family in found if not is_helper(family)]


def is_helper(family: Family) -> bool:
    """Whether it is no model of its own, but helps one."""
    return family[0].kind in HELPERS


def _key(variant: Variant) -> tuple[str, str, str]:
    """By folder and name, each without the quantisation; what helps a model stands alone."""
    alone = variant.name if variant.kind in HELPERS else ""
    return without_quant(variant.folder.rpartition("/")[2]).casefold(), base_of(variant.name), alone


def _split(variant: Variant) -> tuple[int, int] | None:
    part = part_of_name(variant.files[0].stem) if len(variant.files) > 1 else None
    return (part.number, part.count) if part else None
