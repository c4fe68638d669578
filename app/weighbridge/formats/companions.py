"""Files that help a model, told from models by their names, and the models that each of them is for.

Names are those that converters and llama.cpp's own search for such files use. Where a header tells what a file is, that
is believed; only drafts go by their names first, for their headers are those of the model that they help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.formats.architectures import Kind
from weighbridge.formats.quant import quant_of_name, without_quant
from weighbridge.formats.split import part_of_name
from weighbridge.formats.variant import Companion, Role

_DRAFT = re.compile(r"^(?:mtp|draft)[-_.]|(?:^|[-_.])(?:eagle3?|dflash|dspark)(?=$|[-_.])", re.IGNORECASE)
_PROJECTOR = re.compile(r"(?:^|[-_.])mmproj(?=$|[-_.])", re.IGNORECASE)
_IMATRIX = re.compile(r"(?:^|[-_.])imatrix(?=$|[-_.])", re.IGNORECASE)
_ADAPTER = re.compile(r"^lora[-_.]|[-_.]lora$", re.IGNORECASE)
_WORDS = re.compile(
    r"(?:^|[-_.])(?:mmproj|imatrix|mtp|draft|eagle3?|dflash|dspark|lora|model)(?=$|[-_.])", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[-_. ]+")
_DIGITS = re.compile(r"\d+")
_IMATRIX_ENDINGS = (".imatrix", ".dat", ".gguf_file")

_BY_KIND: Mapping[Kind, Role] = {
    Kind.ADAPTER: Role.ADAPTER,
    Kind.DRAFT: Role.DRAFT,
    Kind.IMATRIX: Role.IMATRIX,
    Kind.PROJECTION: Role.PROJECTOR,
}
KIND_OF_ROLE: Mapping[Role, Kind] = {role: kind for kind, role in _BY_KIND.items()}


def is_imatrix_file(name: str) -> bool:
    """Whether a file that is no GGUF file is an importance matrix by its name."""
    lowered = name.lower()
    return lowered.endswith(_IMATRIX_ENDINGS) and "imatrix" in lowered


def role_of(stem: str, told: Kind | None) -> Role | None:
    """What a GGUF file of the name `stem` is for a model, or None for a model. `told`: its kind by its header."""
    if _DRAFT.search(stem):
        return Role.DRAFT
    if told is not None:
        return _BY_KIND.get(told)
    if _PROJECTOR.search(stem):
        return Role.PROJECTOR
    if _ADAPTER.search(without_quant(stem)):
        return Role.ADAPTER
    return Role.IMATRIX if _IMATRIX.search(stem) and quant_of_name(stem) is None else None


@dataclass(frozen=True)
class Helped:
    """A model that companions are looked for: its folder, and its stem without numbers of parts."""

    folder: str
    stem: str


def companions_of(model: Helped, models: Sequence[Helped], helpers: Sequence[Companion]) -> tuple[Companion, ...]:
    """Those of `helpers` that are for `model`, one of `models`; of each role the nearest in bits first.

    A helper lies in the model's folder, above or below it, or in one beside it that holds helpers alone, and bears the
    model's name; or no name at all, where all models it could be for are the same one in other quantisations.
    """
    bits = _bits(model.stem)
    mine = [helper for helper in helpers if _is_for(helper, model, models)]
    return tuple(sorted(mine, key=lambda helper: (list(Role).index(helper.role), *_distance(helper, bits))))


def base_of(stem: str) -> str:
    """What a stem says beside its quantisation and its role, in one spelling, for comparing."""
    part = part_of_name(stem)
    bare = _WORDS.sub("-", without_quant(part.stem if part else stem))
    return _SEPARATORS.sub("-", bare).strip("-").casefold()


def _is_for(helper: Companion, model: Helped, models: Sequence[Helped]) -> bool:
    folder = helper.file.folder
    base, own = base_of(helper.file.stem), base_of(model.stem)
    beside = {base_of(other.stem) for other in models if other.folder == folder}
    named = bool(base and own) and (own.startswith(base) or base.startswith(own))
    if not _are_near(folder, model.folder):
        return named and not beside and _above(folder) == _above(model.folder)
    around = beside or {base_of(other.stem) for other in models if _are_near(folder, other.folder)}
    nameless = not base or helper.role is Role.IMATRIX
    return named or (nameless and around == {own})


def _are_near(one: str, other: str) -> bool:
    """The same folder, or one right inside the other."""
    return one == other or _above(one) == other or _above(other) == one


def _above(folder: str) -> str | None:
    return folder.rpartition("/")[0] if folder else None


def _bits(stem: str) -> int | None:
    found = _DIGITS.search(quant_of_name(stem) or "")
    return int(found[0]) if found else None


def _distance(helper: Companion, bits: int | None) -> tuple[int, str]:
    own = _bits(helper.file.stem)
    return (abs(own - bits) if own is not None and bits is not None else 0), helper.file.path
